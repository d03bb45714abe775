//! FAB707: one claim on devices for several pods.

use crate::rules::{Findings, Meta, Rule, Severity, Waiver, WorkloadContext};
use crate::text::printable;

/// FAB707.
pub(super) struct SharedClaim;

static SHARED_CLAIM: Meta = Meta {
    id: "FAB707",
    severity: Severity::Warning,
    summary: "several pods of a workload share one ResourceClaim",
    what: "A pod template from which several pods are made names a ResourceClaim (`resourceClaimName`) where each pod \
           would get one of its own by a `resourceClaimTemplateName`.",
    why: "A claim is bound to devices once: all pods get the same ones, and can run only where those are. The second pod \
          shares the accelerators and NICs of the first, or stays Pending with `cannot allocate all claims`.",
    fix: "Name a ResourceClaimTemplate in `resourceClaimTemplateName`. Where sharing is meant, ignore the rule on the \
          object and say why.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: cpus, namespace: default}
spec: {devices: {requests: [{name: cpus, exactly: {deviceClassName: dra.cpu, count: 16}}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 2
  parallelism: 2
  template:
    metadata:
      annotations: {fabric-admission.dev/profile: site}
    spec:
      restartPolicy: Never
      resourceClaims:
      - {name: cpus, resourceClaimName: cpus}
      containers:
      - name: trainer
        image: example.com/trainer:1
        resources: {limits: {nvidia.com/gpu: 1}, claims: [{name: cpus}]}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: cpus, namespace: default}
spec: {spec: {devices: {requests: [{name: cpus, exactly: {deviceClassName: dra.cpu, count: 16}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 2
  parallelism: 2
  template:
    metadata:
      annotations: {fabric-admission.dev/profile: site}
    spec:
      restartPolicy: Never
      resourceClaims:
      - {name: cpus, resourceClaimTemplateName: cpus}
      containers:
      - name: trainer
        image: example.com/trainer:1
        resources: {limits: {nvidia.com/gpu: 1}, claims: [{name: cpus}]}
"#,
    sources: &["kubernetes.io, Dynamic Resource Allocation: ResourceClaims and ResourceClaimTemplates"],
    since: "0.1.0",
    kinds: &[],
    also: &["DRA-002"],
    waiver: Waiver::Allowed,
};

impl Rule for SharedClaim {
    fn meta(&self) -> &'static Meta {
        &SHARED_CLAIM
    }
    fn workload(&self, context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
        for (template, _) in context.asked() {
            let Some(pods) = template.pods.filter(|pods| *pods > 1) else { continue };
            let claims = template.pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref());
            for (index, claim) in claims.unwrap_or_default().iter().enumerate() {
                let Some(name) = claim.resource_claim_name.as_deref().filter(|n| !n.is_empty()) else {
                    continue;
                };
                findings.add(
                    format!("{}/spec/resourceClaims/{index}/resourceClaimName", template.pointer),
                    format!(
                        "{pods} pods share ResourceClaim {}: all get the same devices, on one node",
                        printable(name, 100)
                    ),
                    "name a ResourceClaimTemplate in resourceClaimTemplateName",
                );
            }
        }
    }
}
