//! FAB708: what Kueue does not count.

use crate::plan::{Edit, ResourceList};
use crate::rules::{Findings, Meta, Rule, Severity, Waiver, WorkloadContext};
use crate::text::printable;
use std::collections::BTreeSet;

/// FAB708.
pub(super) struct Kueue;

static KUEUE: Meta = Meta {
    id: "FAB708",
    severity: Severity::Info,
    summary: "Kueue admits a workload without the resources that its pods will get",
    what: "A workload that Kueue manages (label `kueue.x-k8s.io/queue-name`) and whose pods will get resources of their \
           profile: they are added to the pods, and not to the templates that Kueue looks at.",
    why: "The quota of the ClusterQueue does not count them. Where they run out before the accelerators do, an admitted \
          workload stays Pending.",
    fix: "Write them into the templates with `fabric-admission review -o yaml`, and let the ClusterQueue cover them; a \
          workload with a resource that no ClusterQueue covers is never admitted. Or name them in Kueue's \
          `excludeResourcePrefixes`.",
    bad: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: azure-nd
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels: {kueue.x-k8s.io/queue-name: team}
spec:
  template:
    metadata:
      annotations: {fabric-admission.dev/profile: site}
    spec:
      restartPolicy: Never
      containers:
      - name: trainer
        image: example.com/trainer:1
        resources: {limits: {nvidia.com/gpu: 1}}
",
    good: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: azure-nd
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels: {kueue.x-k8s.io/queue-name: team}
spec:
  template:
    metadata:
      annotations: {fabric-admission.dev/profile: site}
    spec:
      restartPolicy: Never
      containers:
      - name: trainer
        image: example.com/trainer:1
        resources: {limits: {nvidia.com/gpu: 1, rdma/ib: 1}}
",
    sources: &[
        "kubernetes-sigs/kueue issues 2266 and 7513",
        "kubernetes-sigs/kueue apis/config (Resources.ExcludeResourcePrefixes)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["RES-014", "MUT-014"],
    waiver: Waiver::Allowed,
};

/// kubernetes-sigs/kueue pkg/controller/constants.
const QUEUE_LABEL: &str = "kueue.x-k8s.io/queue-name";

impl Rule for Kueue {
    fn meta(&self) -> &'static Meta {
        &KUEUE
    }
    fn workload(&self, context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
        let queue = context.metadata.and_then(|m| m.labels.as_ref()?.get(QUEUE_LABEL));
        let Some(queue) = queue.filter(|queue| !queue.is_empty()) else { return };
        for (template, asked) in context.asked() {
            let added: BTreeSet<&str> = asked
                .plan
                .changes
                .iter()
                .filter_map(|change| match &change.edit {
                    Edit::Quantity { list: ResourceList::Limits, name, .. } => Some(name.as_str()),
                    _ => None,
                })
                .collect();
            let mut shown: Vec<&str> = added.iter().copied().take(3).collect();
            if shown.is_empty() {
                continue;
            }
            if added.len() > shown.len() {
                shown.push("…");
            }
            findings.add(
                format!("{}/spec/containers", template.pointer),
                format!(
                    "queue {} admits the pods without {}, which they will get: its quota does not count it",
                    printable(queue, 63),
                    printable(&shown.join(", "), 150)
                ),
                "write it into the template with review -o yaml and let the ClusterQueue cover it",
            );
        }
    }
}
