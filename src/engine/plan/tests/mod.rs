//! The edges of each kind of change, on pods of a few lines, as far as no golden case shows them.

mod add_rails_to_networks_annotation;
mod ipc_lock;
mod nccl_conf_and_small_files;
mod pod_with_plan;
mod rdma_resources_of_each_container;
mod shm;
mod why_pod_gets_nothing;

use super::{Plan, plan_profile_for_pod};
use crate::decision_limits::DecisionLimits;
use crate::demands::Subject;
use crate::profile::{FabricProfile, Profile};
use crate::resolve::Evidence;
use crate::snapshot::{Builder, Layer, Snapshot};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A pod, the `spec` of a profile, and further known objects.
struct Case {
    spec: Value,
    pod: Value,
    objects: Vec<Value>,
    /// Whether the list of networks is complete.
    listed: bool,
}

impl Case {
    /// One container `a` with one accelerator, one rail on network `net` of the pod's namespace.
    fn new() -> Self {
        Self {
            spec: json!({
                "transport": "roce", "attachment": "sriov", "acceleratorsPerNode": 1, "ipcLock": false,
                "rails": [{"network": "net", "resource": "example.com/vf"}],
            }),
            pod: json!({"metadata": {"annotations": {}}, "spec": {"containers": [gpu("a")]}}),
            objects: Vec::new(),
            listed: false,
        }
    }

    fn container(&mut self, index: usize) -> &mut Value {
        &mut self.pod["spec"]["containers"][index]
    }

    fn annotation(&mut self, key: &str, value: &str) {
        self.pod["metadata"]["annotations"][key] = value.into();
    }

    fn snapshot(&self) -> Snapshot {
        let mut builder = Builder::default();
        for object in &self.objects {
            let group = object["apiVersion"].as_str().unwrap().split_once('/').map_or("", |(group, _)| group);
            let kind = object["kind"].as_str().unwrap();
            builder.add(Layer::Input, group, kind, &object.to_string(), "default").unwrap();
        }
        builder.set_listed(crate::facts::FactKind::NetworkAttachmentDefinition, self.listed);
        builder.build()
    }

    fn profile(&self) -> Profile {
        let json = json!({
            "apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
            "metadata": {"name": "p"}, "spec": self.spec,
        });
        let profile: FabricProfile = serde_json::from_value(json).unwrap();
        Profile::checked_with_base(&profile, &[]).unwrap()
    }

    fn plan(&self) -> Plan {
        let (profile, snapshot, text) = (self.profile(), self.snapshot(), self.pod.to_string());
        let pod = serde_json::from_str(&text).unwrap();
        let subject = Subject::of(&pod, "default", &snapshot);
        plan_profile_for_pod(&subject, &profile, &Evidence::Flag)
    }

    /// The planned edits, without the mark.
    fn changes(&self) -> Vec<String> {
        lines(&self.plan())
    }

    /// The edits with this prefix.
    fn only(&self, start: &str) -> Vec<String> {
        self.changes().into_iter().filter(|line| line.starts_with(start)).collect()
    }
}

/// `CONTAINER SUMMARY` for an edit of a container, else the summary.
fn lines(plan: &Plan) -> Vec<String> {
    let changes = plan.changes.iter().filter(|c| !matches!(c.edit, super::Edit::Annotation { .. }));
    changes
        .map(|c| match c.edit.container() {
            Some(container) => format!("{container} {}", c.edit.summary()),
            None => c.edit.summary(),
        })
        .collect()
}

/// A container with one accelerator.
fn gpu(name: &str) -> Value {
    json!({"name": name, "resources": {"limits": {"nvidia.com/gpu": 1}}})
}

#[test]
fn the_common_pod() {
    assert_eq!(
        Case::new().changes(),
        [
            "networks annotation: net@rail0",
            "volume dshm: emptyDir in memory, sizeLimit 8Gi",
            "0 limits: example.com/vf = 1",
            "0 mount dshm at /dev/shm",
        ]
    );
}

#[test]
fn planning_asks_for_its_time_at_every_container() {
    let mut case = Case::new();
    case.pod["spec"]["containers"] = (0..50).map(|n| gpu(&format!("c{n}"))).collect();
    let (profile, snapshot, text) = (case.profile(), case.snapshot(), case.pod.to_string());
    let pod = serde_json::from_str(&text).unwrap();
    let asked = AtomicUsize::new(0);
    let over = || asked.fetch_add(1, Ordering::Relaxed) > usize::MAX / 2;
    let deadline = DecisionLimits::ends_when(&over);
    let subject = Subject { deadline: &deadline, ..Subject::of(&pod, "default", &snapshot) };
    assert_eq!(plan_profile_for_pod(&subject, &profile, &Evidence::Flag).withheld, None);
    assert!(asked.load(Ordering::Relaxed) >= 100, "{asked:?}");
}

/// A network of the pod's namespace.
fn nad(name: &str, resource: &str, cni: &str) -> Value {
    json!({
        "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": name, "namespace": "default", "annotations": {"k8s.v1.cni.cncf.io/resourceName": resource}},
        "spec": {"config": format!(r#"{{"cniVersion":"1.0.0","type":"{cni}"}}"#)},
    })
}
