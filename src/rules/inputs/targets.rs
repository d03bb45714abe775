//! FAB814: the containers that a pod names for its profile.

use crate::plan::{CONTAINERS_ANNOTATION, Withheld, WrongContainers};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{printable, token};

/// FAB814.
pub(super) struct Containers;

static CONTAINERS: Meta = Meta {
    id: "FAB814",
    severity: Severity::Error,
    summary: "annotation fabric-admission.dev/containers names no container that the profile can be for",
    what: "Reads annotation `fabric-admission.dev/containers`, a comma list of containers that get the profile's \
           resources, variables and shared memory. Each must be one of `spec.containers`, named once, and no mesh's \
           proxy; the pod must ask for accelerators.",
    why: "Which container was meant is not known, so nothing is injected; devices on the wrong container are lost to the \
          one that trains.",
    fix: "Name containers of `spec.containers`, or drop the annotation: the containers that ask for accelerators are then \
          taken.",
    bad: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec: {base: roce-sriov}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site, fabric-admission.dev/containers: trianer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    good: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec: {base: roce-sriov}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site, fabric-admission.dev/containers: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    sources: &["docs/design.md, Mutations", "k8snetworkplumbingwg/network-resources-injector#99, #56"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for Containers {
    fn meta(&self) -> &'static Meta {
        &CONTAINERS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some(Withheld::WrongContainers(wrong)) = &context.plan.withheld else { return };
        let shown = |name: &str| format!("\"{}\"", printable(name, 63));
        let drop = || format!("name one of spec.containers, or drop annotation {CONTAINERS_ANNOTATION}");
        let (message, fix) = match wrong {
            WrongContainers::Empty => ("an item of the list is empty".to_owned(), drop()),
            WrongContainers::Unknown(name, near) => {
                let fix = near.as_deref().map(|near| format!("did you mean {}?", shown(near)));
                (format!("no container is named {}", shown(name)), fix.unwrap_or_else(drop))
            }
            WrongContainers::Init(name) => {
                (format!("{} is among initContainers, which a profile is never for", shown(name)), drop())
            }
            WrongContainers::Proxy(name) => {
                (format!("{} is the proxy of a mesh and gets no devices", shown(name)), drop())
            }
            WrongContainers::Twice(name) => {
                (format!("{} is named twice", shown(name)), "name each container once".to_owned())
            }
            WrongContainers::NoAccelerators => (
                "no container of the pod asks for accelerators".to_owned(),
                format!("ask for them, or drop annotation {CONTAINERS_ANNOTATION}"),
            ),
        };
        let path = format!("/metadata/annotations/{}", token(CONTAINERS_ANNOTATION));
        findings.add(path, format!("annotation {CONTAINERS_ANNOTATION}: {message}"), fix);
    }
}
