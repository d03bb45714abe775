//! A generated case as the engine sees it.

use fabric_admission::facts::EnforcementMode;
use fabric_admission::manifest::{DocumentOrError, read_documents_of_file};
use fabric_admission::profile::built_in_bases::BASES;
use fabric_admission::profile::{FabricProfile, Profile};
use fabric_admission::review::{Decision, PodRequest, Stage, decide_pod};
use fabric_admission::snapshot::{Audience, Builder, Layer, Snapshot};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// The compiled-in profiles, read as the product reads them.
pub(crate) fn bases() -> &'static [FabricProfile] {
    static CELL: OnceLock<Vec<FabricProfile>> = OnceLock::new();
    CELL.get_or_init(|| {
        let base = |(name, text): &(&str, &str)| match read_documents_of_file(name, text.as_bytes()).pop() {
            Some(DocumentOrError::Document(document)) => serde_json::from_str(document.json.get()).unwrap(),
            other => panic!("{name}: {other:?}"),
        };
        BASES.iter().map(base).collect()
    })
}

/// A pod and everything a decision on it depends on.
pub(crate) struct World {
    /// The case as it was generated.
    pub(crate) case: Value,
    /// The pod.
    pub(crate) pod: Value,
    /// Facts.
    pub(crate) snapshot: Snapshot,
    /// Namespace of the pod.
    pub(crate) namespace: String,
    /// Point of admission.
    pub(crate) stage: Stage,
    /// Mode.
    pub(crate) mode: EnforcementMode,
    /// A profile by flag.
    pub(crate) profile: Option<Arc<Profile>>,
}

/// The example that a rule speaks about: its last pod, and what stands beside it.
pub(crate) fn of_rule(rule: &fabric_admission::rules::Rule) -> Value {
    let mut rest: Vec<Value> = crate::support::round_trip::documents(rule.files.bad.as_bytes())
        .into_iter()
        .map(|(_, d)| d)
        .collect();
    let pod = rest.iter().rposition(|d| d["kind"] == "Pod").map_or_else(|| json!({}), |at| rest.remove(at));
    let (profiles, objects): (Vec<Value>, Vec<Value>) =
        rest.into_iter().partition(|d| d["kind"] == "FabricProfile");
    let namespace = json!({"name": pod["metadata"]["namespace"].as_str().unwrap_or("default")});
    json!({
        "pod": pod, "profiles": profiles, "objects": objects, "namespace": namespace,
        "namespaceKnown": false, "audit": false, "mutate": false, "flag": false,
    })
}

impl World {
    /// Reads a case. Profiles and objects that the builder refuses are left out.
    pub(crate) fn new(case: &Value) -> Self {
        Self::build(case, false)
    }

    /// The same with the facts taken in the other way round.
    pub(crate) fn turned(case: &Value) -> Self {
        Self::build(case, true)
    }

    fn build(case: &Value, turned: bool) -> Self {
        let list = |key: &str| case[key].as_array().cloned().unwrap_or_default();
        let namespace = case["namespace"]["name"].as_str().unwrap_or("team").to_owned();
        let mut facts = list("profiles");
        facts.extend(list("objects"));
        if case["namespaceKnown"] == true {
            facts.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": case["namespace"]}));
        }
        if turned {
            facts.reverse();
        }
        let mut builder = Builder::new(bases().to_vec());
        for fact in facts {
            let group = fact["apiVersion"].as_str().unwrap_or_default();
            let group = group.split_once('/').map_or("", |(group, _)| group);
            let kind = fact["kind"].as_str().unwrap_or_default();
            // What is refused is not known; the rest is a snapshot like any other.
            drop(builder.add(Layer::Cluster, group, kind, &fact.to_string(), "default"));
        }
        let snapshot = builder.build();
        let profile = snapshot.profiles().next().filter(|_| case["flag"] == true).cloned();
        let mode = if case["audit"] == true { EnforcementMode::Audit } else { EnforcementMode::Enforce };
        let stage = if case["mutate"] == true { Stage::Mutate } else { Stage::Whole };
        Self { pod: case["pod"].clone(), case: case.clone(), snapshot, namespace, stage, mode, profile }
    }

    /// The decision; `None` where the pod cannot be read.
    pub(crate) fn decide(&self) -> Option<Decision> {
        self.decide_on(&self.pod)
    }

    /// The decision on another pod.
    pub(crate) fn decide_on(&self, pod: &Value) -> Option<Decision> {
        self.decide_as(pod, self.stage, self.mode)
    }

    /// The decision at another point or in another mode.
    pub(crate) fn decide_as(&self, pod: &Value, stage: Stage, mode: EnforcementMode) -> Option<Decision> {
        let json = pod.to_string();
        let profile = self.profile.as_ref();
        let request =
            PodRequest { stage, mode, profile, ..PodRequest::in_enforcing_namespace(&self.namespace) };
        // As the webhook decides for an API server that has shown its certificate.
        decide_pod(&json, request, &self.snapshot.seen_from(&self.namespace, Audience::Tenant)).ok()
    }

    /// The decision for a caller who has shown no certificate.
    pub(crate) fn decide_for_anyone(&self) -> Option<Decision> {
        let json = self.pod.to_string();
        let (stage, mode, profile) = (self.stage, self.mode, self.profile.as_ref());
        let request =
            PodRequest { stage, mode, profile, ..PodRequest::in_enforcing_namespace(&self.namespace) };
        decide_pod(&json, request, &self.snapshot.seen_from(&self.namespace, Audience::Anyone)).ok()
    }

    /// The pod with the patch applied, as RFC 6902 says: an `add` below a missing parent fails.
    pub(crate) fn patched(&self) -> Result<Value, String> {
        let mut pod = self.pod.clone();
        if let Some(decision) = self.decide() {
            let text = decision.patch.text();
            let patch: json_patch::Patch = serde_json::from_str(text).map_err(|e| e.to_string())?;
            json_patch::patch(&mut pod, &patch).map_err(|e| format!("{e}: {text}"))?;
        }
        Ok(pod)
    }
}
