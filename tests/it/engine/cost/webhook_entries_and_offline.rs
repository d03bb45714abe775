//! The ways that an object takes to a decision: the entries of the webhook, and the offline review.

use super::objects_to_grow::Sample;
use crate::support::generated_world::bases;
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::admission_response;
use fabric_admission::review::decide_webhook_request::{WebhookEntry, decide_body_for_anyone};
use fabric_admission::rules::does_any_object_rule_run_on_kind;
use fabric_admission::snapshot::{Builder, Layer, Snapshot};
use serde_json::{Value, json};

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Mutate,
    Validate,
    Audit,
    Workload,
    Object,
    /// As a fact of a Snapshot, which `review` makes of every input.
    Fact,
}

impl Way {
    pub(super) const ALL: [(&'static str, Self); 6] = [
        ("mutate", Self::Mutate),
        ("validate", Self::Validate),
        ("audit", Self::Audit),
        ("validate_workload", Self::Workload),
        ("validate_object", Self::Object),
        ("facts", Self::Fact),
    ];

    /// Whether objects of a sample's kind are decided on here.
    pub(super) fn takes(self, sample: &Sample) -> bool {
        let (group, kind) = sample.kind();
        let pod = (group, kind) == ("", "Pod");
        match self {
            Self::Mutate | Self::Validate => pod,
            Self::Audit => pod || makes_pods(sample.object()),
            Self::Workload => !pod && makes_pods(sample.object()),
            Self::Object => does_any_object_rule_run_on_kind(group, kind),
            Self::Fact => Builder::takes(group, kind),
        }
    }

    fn entry(self) -> WebhookEntry {
        match self {
            Self::Mutate => WebhookEntry::Mutate,
            Self::Validate => WebhookEntry::Validate,
            Self::Audit => WebhookEntry::Audit,
            Self::Workload => WebhookEntry::Workload(EnforcementMode::Enforce),
            Self::Object | Self::Fact => WebhookEntry::Object(EnforcementMode::Enforce),
        }
    }

    /// Bytes to decide on. An update compares the object with one whose spec differs.
    pub(super) fn input(self, sample: &Sample, object: &Value, update: bool) -> Vec<u8> {
        if self == Self::Fact {
            return object.to_string().into_bytes();
        }
        let (group, kind) = sample.kind();
        let mut old = Value::Null;
        if update {
            old = object.clone();
            old["spec"]["another"] = true.into();
        }
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or("team");
        let request = json!({
            "uid": "u", "kind": {"group": group, "version": "v1", "kind": kind}, "namespace": namespace,
            "operation": if update { "UPDATE" } else { "CREATE" }, "object": object, "oldObject": old,
        });
        json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request})
            .to_string()
            .into_bytes()
    }

    /// Decides, and writes the answer.
    pub(super) fn run(self, sample: &Sample, input: &[u8], snapshot: &Snapshot) {
        if self == Self::Fact {
            let (group, kind) = sample.kind();
            let mut builder = Builder::new(bases().to_vec());
            let text = std::str::from_utf8(input).unwrap();
            // A refusal is an outcome as well.
            drop(builder.add(Layer::Input, group, kind, text, "team"));
            drop(builder.build());
            return;
        }
        if let Ok(answer) = decide_body_for_anyone(input, self.entry(), snapshot) {
            drop(admission_response::render(&answer));
        }
    }
}

fn makes_pods(object: &Value) -> bool {
    let text = object.to_string();
    text.contains("\"containers\"") || object["kind"] == "TrainJob"
}

/// What is known when a sample comes: the other documents of its file, and two profiles.
pub(super) fn snapshot(sample: &Sample) -> Snapshot {
    let mut builder = Builder::new(bases().to_vec());
    let api = "fabric-admission.dev/v1alpha1";
    for (name, base) in [("p0", "roce-sriov"), ("p1", "infiniband-sriov")] {
        let profile = json!({"apiVersion": api, "kind": "FabricProfile", "metadata": {"name": name}, "spec": {"base": base}});
        builder.add(Layer::Live, "fabric-admission.dev", "FabricProfile", &profile.to_string(), "").unwrap();
    }
    for other in sample.others() {
        let (group, kind) = super::objects_to_grow::kind(other);
        // What is refused is not known.
        drop(builder.add(Layer::Live, group, kind, &other.to_string(), "team"));
    }
    builder.build()
}

/// The object of a sample; a pod of a file without profiles names one.
pub(super) fn object(sample: &Sample) -> Value {
    let mut object = sample.object().clone();
    let profiled = sample.others().any(|other| other["kind"] == "FabricProfile");
    if object["kind"] == "Pod" && !profiled {
        object["metadata"]["annotations"]["fabric-admission.dev/profile"] = "p0".into();
    }
    object
}
