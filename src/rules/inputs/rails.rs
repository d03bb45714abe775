//! FAB810: the part of its profile's rails that a pod asks for.

use crate::plan::{RAILS_ANNOTATION, Withheld};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{nearest, printable, token};

/// Names that a finding lists at most.
const MAX_NAMES: usize = 8;

/// FAB810.
pub(super) struct Rails;

static RAILS: Meta = Meta {
    id: "FAB810",
    severity: Severity::Error,
    summary: "an unknown subset of the rails, or one without the bootstrap interface",
    what: "Annotation `fabric-admission.dev/rails` of the pod names a subset that its profile does not have. As a \
           warning: the profile sets a variable such as `NCCL_SOCKET_IFNAME` to the interface of a rail that the pod \
           does not get.",
    why: "Which rails were meant is not known, so nothing is injected. With a variable that names an interface that is \
          not there, NCCL stops with `no socket interface found`; it is not set, and NCCL chooses an interface itself.",
    fix: "Name a subset of the profile, or drop the annotation to get all rails. For the warning, set the variable to an \
          interface that the pod has, or let the profile's bootstrap interface be one that every subset has.",
    bad: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: roce-sriov
  subsets:
  - {name: numa0, interfaces: [rail0, rail1, rail2, rail3]}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site, fabric-admission.dev/rails: numa2}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    good: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: roce-sriov
  subsets:
  - {name: numa0, interfaces: [rail0, rail1, rail2, rail3]}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site, fabric-admission.dev/rails: numa0}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    sources: &[
        "docs/design.md, Mutations",
        "NVIDIA/nccl src/misc/socket.cc (ncclFindInterfaces), src/bootstrap.cc (bootstrapNetInit)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for Rails {
    fn meta(&self) -> &'static Meta {
        &RAILS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, _)) = context.resolution.profile() else { return };
        if let Some(Withheld::UnknownRails(name)) = &context.plan.withheld {
            let known = || profile.subsets.iter().map(|s| s.name.as_str());
            let shown = printable(name, 63);
            let list: Vec<&str> = known().take(MAX_NAMES).collect();
            let left = profile.subsets.len() - list.len();
            let more = if left > 0 { format!(", {left} more") } else { String::new() };
            let (has, fix) = match nearest(name, known()) {
                _ if list.is_empty() => ("none".to_owned(), format!("drop annotation {RAILS_ANNOTATION}")),
                Some(near) => (list.join(", "), format!("did you mean {near:?}?")),
                None => (list.join(", "), format!("name one of them, or drop annotation {RAILS_ANNOTATION}")),
            };
            findings.add(
                format!("/metadata/annotations/{}", token(RAILS_ANNOTATION)),
                format!("profile {} has no subset {shown:?}; it has {has}{more}", profile.name),
                fix,
            );
        }
        for without in &context.plan.without_interface {
            let (name, interface) = (&without.name, &without.interface);
            findings.add_as(
                Severity::Warning,
                format!("/spec/containers/{}", without.container),
                format!(
                    "{name}={interface} of profile {} is not set: the pod gets no {interface}",
                    profile.name
                ),
                format!("set {name} to an interface of the pod, such as eth0"),
            );
        }
    }
}
