//! FAB245, FAB246, FAB250: claims on devices (DRA) as the pod writes them.

use crate::demands::claimed::look_up;
use crate::facts::DriverKind;
use crate::facts::device_class::{driver_of, is_accelerator, is_function};
use crate::pod::gang::multi_node;
use crate::pod::view::PodClaim;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;
use std::collections::BTreeSet;

/// FAB245.
pub(super) struct ClaimNames;

macro_rules! claiming {
    ($metadata:literal, $claim:literal, $used:literal, $limits:literal $(, $rest:literal)?) => {
        concat!(
            "apiVersion: v1
kind: Pod
metadata:
  name: trainer
",
            $metadata,
            "spec:
  resourceClaims:
  - ",
            $claim,
            "
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {claims: [{name: ",
            $used,
            "}]",
            $limits,
            "}
"
            $(, $rest)?
        )
    };
}

macro_rules! template {
    ($class:literal) => {
        concat!(
            "apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: devices, namespace: default}
spec: {spec: {devices: {requests: [{name: device, exactly: {deviceClassName: ",
            $class,
            "}}]}}}
---
"
        )
    };
}

static CLAIM_NAMES: Meta = Meta {
    id: "FAB245",
    severity: Severity::Error,
    summary: "claim that a container uses and the pod does not have",
    what: "Compares `resources.claims[].name` of the containers with `spec.resourceClaims`. As a warning: a claim of the \
           pod that no container uses, and a `request` that the claim does not have. A claim on NICs of DRANET is not \
           reported: it reaches every container of the pod.",
    why: "The API server refuses the pod (`must be one of the claims in pod.spec.resourceClaims`). A claim that nobody \
          uses takes its devices from others, and no container gets them.",
    fix: "Write one name in both places.",
    bad: concat!(
        template!("gpu.nvidia.com"),
        claiming!(
            "",
            "{name: gpus, resourceClaimTemplateName: devices}",
            "gpu",
            ", limits: {nvidia.com/mig-1g.10gb: 1}"
        )
    ),
    good: concat!(
        template!("gpu.nvidia.com"),
        claiming!("", "{name: gpus, resourceClaimTemplateName: devices}", "gpus", "")
    ),
    sources: &["kubernetes/kubernetes pkg/apis/core/validation/validation.go (validateResourceClaimNames)"],
    since: "0.1.0",
    kinds: &[],
    also: &["DRA-001"],
    waiver: Waiver::Api,
};

impl Rule for ClaimNames {
    fn meta(&self) -> &'static Meta {
        &CLAIM_NAMES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
        let names: BTreeSet<&str> = claims.iter().filter_map(|c| c.name.as_deref()).collect();
        let mut used: BTreeSet<&str> = BTreeSet::new();
        let mut requests: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (holder, container) in pod.holders() {
            let own = container.resources.as_ref().and_then(|r| r.claims.as_deref()).unwrap_or_default();
            for (index, entry) in own.iter().enumerate() {
                let Some(name) = entry.name.as_deref() else { continue };
                if !names.contains(name) {
                    findings.add(
                        format!("{}/resources/claims/{index}/name", holder.path()),
                        format!(
                            "{} uses claim {:?}, which spec.resourceClaims does not have",
                            printable(container.name(), 63),
                            printable(name, 63)
                        ),
                        "write the name of an entry of spec.resourceClaims",
                    );
                }
                used.insert(name);
                requests.extend(entry.request.as_deref().map(|request| (name, request)));
            }
        }
        for (index, claim) in claims.iter().enumerate() {
            let Some(name) = claim.name.as_deref() else { continue };
            let path = || format!("/spec/resourceClaims/{index}");
            if !used.contains(name) {
                if reaches_every_container(claim, context) {
                    continue;
                }
                findings.add_as(
                    Severity::Warning,
                    path(),
                    format!(
                        "no container uses claim {:?}: its devices are taken and reach nobody",
                        printable(name, 63)
                    ),
                    "name it in resources.claims of the container that needs it, or drop it",
                );
                continue;
            }
            let Some(known) = look_up(claim, context.namespace, context.snapshot) else { continue };
            let first = |request: &str| request.split('/').next().unwrap_or_default().to_owned();
            let has = |request: &str| known.requests.iter().any(|r| r.name == first(request));
            for (_, request) in requests.range((name, "")..).take_while(|(of, _)| *of == name) {
                if !has(request) {
                    findings.add_as(
                        Severity::Warning,
                        path(),
                        format!(
                            "claim {:?} has no request {:?}, which a container names",
                            printable(name, 63),
                            printable(request, 63)
                        ),
                        "name a request of the claim, or none to get all of it",
                    );
                }
            }
        }
    }
}

/// Whether a claim is for NICs that DRANET moves into the pod's network namespace: they reach every container, whether
/// one names the claim or not. dra-driver-sriov hands its devices to the containers that name them.
fn reaches_every_container(claim: &PodClaim<'_>, context: &PodContext<'_>) -> bool {
    let Some(known) = look_up(claim, context.namespace, context.snapshot) else { return false };
    let moved = |class: &str| {
        let class_fact = context.snapshot.device_class(class);
        let kind = context.snapshot.settings().harmless_drivers.kind(driver_of(class, class_fact));
        kind == DriverKind::Nic && !is_function(class, class_fact)
    };
    let mut asks = known.requests.iter().flat_map(|request| &request.options).peekable();
    asks.peek().is_some() && asks.all(|ask| moved(&ask.class))
}

/// FAB246.
pub(super) struct SharedClaim;

static SHARED_CLAIM: Meta = Meta {
    id: "FAB246",
    severity: Severity::Warning,
    summary: "one claim for all pods of a gang",
    what: "A pod that is one of several (by the labels of its controller) uses a claim by `resourceClaimName`, which all \
           its peers share, and not by a template.",
    why: "A claim is allocated once: every pod that names it gets the same devices, and has to run on the node that has \
          them. The others stay Pending, or train on the same accelerators.",
    fix: "Use `resourceClaimTemplateName`, so that each pod gets a claim of its own.",
    bad: concat!(
        template!("gpu.nvidia.com"),
        claiming!(
            "  labels: {jobset.sigs.k8s.io/jobset-name: llm}\n",
            "{name: gpus, resourceClaimName: devices}",
            "gpus",
            ", limits: {nvidia.com/mig-1g.10gb: 1}"
        )
    ),
    good: concat!(
        template!("gpu.nvidia.com"),
        claiming!(
            "  labels: {jobset.sigs.k8s.io/jobset-name: llm}\n",
            "{name: gpus, resourceClaimTemplateName: devices}",
            "gpus",
            ""
        )
    ),
    sources: &["kubernetes/enhancements keps/sig-node/4381-dra-structured-parameters (shared claims)"],
    since: "0.1.0",
    kinds: &[],
    also: &["DRA-002"],
    waiver: Waiver::Allowed,
};

impl Rule for SharedClaim {
    fn meta(&self) -> &'static Meta {
        &SHARED_CLAIM
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
        let shared =
            claims.iter().enumerate().filter_map(|(i, c)| Some((i, c.resource_claim_name.as_deref()?)));
        let mut shared = shared.filter(|(_, name)| !name.is_empty()).peekable();
        if shared.peek().is_none() {
            return;
        }
        let Some(gang) = multi_node(pod).filter(|gang| gang.several) else { return };
        for (index, name) in shared {
            findings.add(
                format!("/spec/resourceClaims/{index}/resourceClaimName"),
                format!(
                    "claim {} is one for all pods ({}): they get the same devices of one node",
                    printable(name, 63),
                    gang.words
                ),
                "use resourceClaimTemplateName, so that each pod gets its own",
            );
        }
    }
}

/// FAB250.
pub(super) struct Twice;

static TWICE: Meta = Meta {
    id: "FAB250",
    severity: Severity::Warning,
    summary: "accelerators by resource and by claim in one container",
    what: "A container asks `nvidia.com/gpu` or `amd.com/gpu` and uses a claim whose devices are whole accelerators of \
           the same vendor.",
    why: "The device plugin and the DRA driver allocate on their own: the container gets both, or two pods get one \
          device, since neither knows what the other gave away.",
    fix: "Ask accelerators in one of the two ways.",
    bad: concat!(
        template!("gpu.nvidia.com"),
        claiming!(
            "",
            "{name: gpus, resourceClaimTemplateName: devices}",
            "gpus",
            ", limits: {nvidia.com/gpu: 1}",
            "    volumeMounts: [{name: dshm, mountPath: /dev/shm}]\n  volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]\n"
        )
    ),
    good: concat!(
        template!("gpu.nvidia.com"),
        claiming!("", "{name: gpus, resourceClaimTemplateName: devices}", "gpus", "")
    ),
    sources: &["NVIDIA/k8s-dra-driver-gpu README.md (beside the device plugin)"],
    since: "0.1.0",
    kinds: &[],
    also: &["DRA-006"],
    waiver: Waiver::Allowed,
};

/// Resources of device plugins, and the word that classes of the same vendor's DRA driver have in their names.
const BOTH: [(&str, &str); 2] = [("nvidia.com/gpu", "nvidia"), ("amd.com/gpu", "amd")];

impl Rule for Twice {
    fn meta(&self) -> &'static Meta {
        &TWICE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
        if claims.is_empty() {
            return;
        }
        for (vendor_resource, vendor) in BOTH {
            // A resource behind which a DeviceClass stands is served by the driver itself.
            if context.snapshot.facts().class_behind(vendor_resource).is_some() {
                continue;
            }
            let brings = |claim: &&PodClaim<'_>| {
                let known = look_up(claim, context.namespace, context.snapshot);
                let requests = known.map(|k| k.requests.as_slice()).unwrap_or_default();
                requests.iter().flat_map(|r| &r.options).any(|ask| {
                    let class = context.snapshot.device_class(&ask.class);
                    let driver = class.and_then(|c| c.driver.as_deref()).unwrap_or(&ask.class);
                    is_accelerator(&ask.class, class) && driver.contains(vendor)
                })
            };
            let bringing: BTreeSet<&str> =
                claims.iter().filter(brings).filter_map(|c| c.name.as_deref()).collect();
            if bringing.is_empty() {
                continue;
            }
            for (holder, container) in pod.holders().filter(|(_, c)| c.units(vendor_resource) > Some(0)) {
                let own = container.resources.as_ref().and_then(|r| r.claims.as_deref()).unwrap_or_default();
                if let Some(name) =
                    own.iter().filter_map(|c| c.name.as_deref()).find(|n| bringing.contains(n))
                {
                    findings.add(
                        format!("{}/resources", holder.path()),
                        format!(
                            "{} asks {vendor_resource} and claim {}: accelerators twice",
                            printable(container.name(), 63),
                            printable(name, 63)
                        ),
                        "keep one of the two",
                    );
                }
            }
        }
    }
}
