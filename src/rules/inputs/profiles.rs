//! FAB8xx: profiles and inputs.

use crate::facts::PROFILE_ANNOTATION;
use crate::multus::NETWORKS_ANNOTATION;
use crate::plan::{Brought, INJECT_ANNOTATION, MAX_CONTAINERS, OtherFabric, Withheld};
use crate::profile::schema::OnMissing;
use crate::resolve::{Evidence, Resolution};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{printable, token};

/// FAB802.
pub(super) struct NotInjected;

static NOT_INJECTED: Meta = Meta {
    id: "FAB802",
    severity: Severity::Error,
    summary: "the final pod has none of its profile's networks and resources",
    what: "In the validating webhook, a pod whose profile has rails or resources and that carries none of them. Offline \
           reviews never say this: there the plan is part of what is judged.",
    why: "The mutating webhook did not run: it was down and failed open, or another webhook made the pod a GPU pod after \
          it was called. Admitted like this, NCCL runs over TCP without an error.",
    fix: "Create the pod again once the webhook serves. To run a pod without the fabric, annotate it with \
          `fabric-admission.dev/inject: \"false\"`.",
    bad: "",
    good: "",
    sources: &["kubernetes.io, Dynamic Admission Control: failurePolicy, reinvocation"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for NotInjected {
    fn meta(&self) -> &'static Meta {
        &NOT_INJECTED
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if !context.not_injected {
            return;
        }
        let Some((profile, _)) = context.resolution.profile() else { return };
        let message =
            format!("nothing of profile {} is on the pod: the mutating webhook did not run", profile.name);
        let fix = format!(
            "create the pod again, or annotate it {INJECT_ANNOTATION}: \"false\" to run without the fabric"
        );
        match profile.on_missing {
            OnMissing::Deny => findings.add("", message, fix),
            OnMissing::Warn => findings.add_as(Severity::Warning, "", message, fix),
        }
    }
}

/// FAB803.
pub(super) struct NoProfile;

static NO_PROFILE: Meta = Meta {
    id: "FAB803",
    severity: Severity::Warning,
    summary: "no profile resolved for a pod that asks for accelerators",
    what: "A pod asks for accelerators, and neither `--profile`, its annotation, its own resources and networks, nor its \
           namespace's annotation names a profile.",
    why: "Nothing is injected: if the pod spans nodes with RDMA, NCCL runs over TCP unless the manifest has everything \
          already.",
    fix: "Name a profile with annotation `fabric-admission.dev/profile` on the pod or the namespace, or `--profile` in a \
          review.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
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
  base: ethernet-tcp
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    sources: &["docs/design.md, Resolution"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for NoProfile {
    fn meta(&self) -> &'static Meta {
        &NO_PROFILE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Resolution::NotApplicable { candidates, known } = context.resolution else { return };
        let list = match known - candidates.len() {
            _ if context.snapshot.profiles().next().is_none() => "no FabricProfile is known".to_owned(),
            _ if candidates.is_empty() => "no profile admits this namespace".to_owned(),
            0 => format!("candidates: {}", candidates.join(", ")),
            more => format!("candidates: {}, {more} more", candidates.join(", ")),
        };
        findings.add(
            "",
            format!("no profile for this pod, nothing is injected; {list}"),
            format!("annotate the pod or namespace with {PROFILE_ANNOTATION}, or review with --profile"),
        );
    }
}

/// FAB804.
pub(super) struct Refused;

static REFUSED: Meta = Meta {
    id: "FAB804",
    severity: Severity::Error,
    summary: "a profile is named that does not exist or does not admit the namespace",
    what: "The annotation `fabric-admission.dev/profile` of the pod, or of its namespace, names a profile that is not \
           there, or whose `namespaces` selector does not match. Compiled-in bases are used through a FabricProfile, not \
           by annotation.",
    why: "The pod asks for a fabric that it cannot have; injecting another one, or none, would be a guess.",
    fix: "Name a profile that admits the namespace, or drop the annotation.",
    bad: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: sight}
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
  base: ethernet-tcp
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    sources: &["docs/design.md, Resolution"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Isolation,
};

impl Rule for Refused {
    fn meta(&self) -> &'static Meta {
        &REFUSED
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Resolution::Refused { by, reason, fix, .. } = context.resolution else { return };
        match by {
            Evidence::NamespaceAnnotation => {
                findings.add(
                    "",
                    format!("annotation {PROFILE_ANNOTATION} of namespace {}: {reason}", context.namespace),
                    fix,
                );
            }
            _ => findings.add(format!("/metadata/annotations/{}", token(PROFILE_ANNOTATION)), reason, fix),
        }
    }
}

/// FAB805.
pub(super) struct LeftAlone;

static LEFT_ALONE: Meta = Meta {
    id: "FAB805",
    severity: Severity::Warning,
    summary: "a pod with a profile is not changed, or gets no networks and units",
    what: "The pod has a profile, and something about it keeps the plan empty: hostNetwork, networks of a cloud \
           provider, AWS Neuron devices, annotation `fabric-admission.dev/inject: \"false\"`, a profile for review only, Windows; or \
           the pod uses resources or networks of a profile whose `when` it does not meet: information. Information, too, \
           where the pod has a fabric of its own, which an RDMA or EFA resource, a claim on NICs or a macvlan network \
           beside an RDMA resource shows: it gets no networks, units or variables. A warning where a claim is for \
           devices of an unknown driver, a claim or network is not at hand, a quantity is a placeholder, no node has \
           room for the pod's own networks beside the rails, `fabric-admission.dev/inject: full` asks for two fabrics \
           that cannot share a pod, \
           its annotations leave no room for ours, it has more than 1,000 containers, or the profile's NICs are in the node's network namespace \
           (`attachment: host-network`) and the pod has its own. The rules still run.",
    why: "Injecting would do nothing (no CNI plugin is called for hostNetwork pods), keep the pod from starting (more \
          devices than a node has), or compete with whoever serves the pod.",
    fix: "Nothing, where that is meant.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec: {transport: roce, attachment: host-network}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec: {transport: roce, attachment: host-network}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &["docs/design.md, Mutations"],
    since: "0.1.0",
    kinds: &[],
    also: &["DRA-012"],
    waiver: Waiver::Allowed,
};

impl Rule for LeftAlone {
    fn meta(&self) -> &'static Meta {
        &LEFT_ALONE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if let Resolution::Outside {
            profile,
            evidence: evidence @ (Evidence::Resource(_) | Evidence::Network(_)),
            reason,
        } = context.resolution
        {
            let name = &profile.name;
            findings.add_as(
                Severity::Info,
                "",
                format!("profile {name} ({}) is not applied: {reason}", evidence.words()),
                format!(
                    "nothing where that is meant, else annotate the pod with {PROFILE_ANNOTATION}: {name}"
                ),
            );
            return;
        }
        let Some((profile, _)) = context.resolution.profile() else { return };
        let name = &profile.name;
        if let Some(other) = context.plan.brought.as_ref().and_then(Brought::other_fabric) {
            return other_fabric(name, other, findings);
        }
        let Some(withheld) = &context.plan.withheld else { return };
        let annotation = |key: &str| format!("/metadata/annotations/{}", token(key));
        let (path, why, fix) = match withheld {
            Withheld::HostNetwork => (
                "/spec/hostNetwork".to_owned(),
                "a hostNetwork pod gets no networks".to_owned(),
                "drop hostNetwork to get the profile's rails".to_owned(),
            ),
            Withheld::OwnNetwork => (
                "/spec".to_owned(),
                "its NICs are in the node's network namespace, and the pod has one of its own".to_owned(),
                "set hostNetwork: true and dnsPolicy: ClusterFirstWithHostNet, or use another profile"
                    .to_owned(),
            ),
            Withheld::ProviderNetworks(key) => (
                annotation(key),
                format!("annotation {key} asks a cloud provider for networks"),
                format!("drop it to get networks by {NETWORKS_ANNOTATION}"),
            ),
            Withheld::OptedOut => (
                annotation(INJECT_ANNOTATION),
                "the pod opts out".to_owned(),
                format!("drop annotation {INJECT_ANNOTATION}"),
            ),
            Withheld::ReviewOnly => (
                String::new(),
                "the profile is for review only".to_owned(),
                "set inject in the profile".to_owned(),
            ),
            Withheld::Windows => (
                "/spec/os".to_owned(),
                "a Windows pod".to_owned(),
                "none: RDMA fabrics are Linux only here".to_owned(),
            ),
            Withheld::Placeholder { path, resource } => (
                path.clone(),
                format!("the quantity of {} is a placeholder", printable(resource, 80)),
                "Write the number before the manifest is applied.".to_owned(),
            ),
            Withheld::UnreadClaim(claim) => (
                format!("/spec/resourceClaims/{}", claim.index),
                format!(
                    "claim {} is not at hand, or has no template, and may be for NICs",
                    printable(&claim.claim, 63)
                ),
                "Create the ResourceClaimTemplate before the pod; in a review add it to the inputs or --cluster."
                    .to_owned(),
            ),
            Withheld::UnknownNetworks(networks) => (
                annotation(NETWORKS_ANNOTATION),
                format!(
                    "{networks} networks that are not known may be the pod's rails, and no container requests \
                     units for them"
                ),
                "Create the networks before the pod, or request their resource; in a review add them to the \
                 inputs or --cluster."
                    .to_owned(),
            ),
            Withheld::NodesTooSmall { resource, wanted, most } => (
                annotation(NETWORKS_ANNOTATION),
                match context.tenant_view {
                    true => format!("no node has {wanted} units of {resource}"),
                    false => format!(
                        "its networks and the profile's rails need {wanted} units of {resource}, and the largest node \
                         has {most}"
                    ),
                },
                format!("Remove the pod's own networks over {resource}, or replace the rails by them."),
            ),
            Withheld::Conflict(resource) => (
                annotation(INJECT_ANNOTATION),
                format!("NCCL cannot use {} and this fabric in one pod", printable(resource, 80)),
                format!("Remove annotation {INJECT_ANNOTATION}: \"full\", or the other resource."),
            ),
            Withheld::NotServed => (
                "/spec/containers".to_owned(),
                "AWS Neuron devices do not use NCCL".to_owned(),
                "None: the Neuron runtime brings its own collectives.".to_owned(),
            ),
            Withheld::ManyContainers => (
                "/spec/containers".to_owned(),
                format!("more than {MAX_CONTAINERS} containers"),
                "give the job more pods of fewer containers".to_owned(),
            ),
            Withheld::ManyResources => (
                "/spec/containers".to_owned(),
                "a container would list more than 64 resources".to_owned(),
                "name fewer networks, or use resources that several networks share".to_owned(),
            ),
            Withheld::NoRoom => (
                "/metadata/annotations".to_owned(),
                "with its networks the annotations would pass the API server's 256 KiB".to_owned(),
                "make the pod's own annotations smaller".to_owned(),
            ),
            // Told by FAB101, FAB801, FAB810 and FAB814; a mirror pod is the node's, not the API server's.
            Withheld::Unreadable
            | Withheld::MissingNetworks
            | Withheld::UnknownRails(_)
            | Withheld::WrongContainers(_)
            | Withheld::Mirror => {
                return;
            }
        };
        let warned = matches!(
            withheld,
            Withheld::NoRoom
                | Withheld::ManyContainers
                | Withheld::ManyResources
                | Withheld::OwnNetwork
                | Withheld::Placeholder { .. }
                | Withheld::UnreadClaim(_)
                | Withheld::UnknownNetworks(_)
                | Withheld::NodesTooSmall { .. }
                | Withheld::Conflict(_)
        );
        let severity = if warned { Severity::Warning } else { Severity::Info };
        findings.add_as(severity, path, format!("profile {name} is not applied: {why}"), fix);
    }
}

/// Reports that a pod keeps the fabric that it has.
fn other_fabric(profile: &str, other: &OtherFabric, findings: &mut Findings<'_>) {
    let claims = |index: &usize| format!("/spec/resourceClaims/{index}");
    let networks = || format!("/metadata/annotations/{}", token(NETWORKS_ANNOTATION));
    let full = format!(
        "None if intended. To add the profile's networks as well, set {INJECT_ANNOTATION}: \"full\"."
    );
    let has =
        format!("the pod has its own fabric, so profile {profile} adds no networks, units or variables");
    match other {
        OtherFabric::Unit(resource) => findings.add_as(
            Severity::Info,
            "/spec/containers",
            format!("{}: {has}", printable(resource, 80)),
            full,
        ),
        OtherFabric::Claim(claim) => findings.add_as(
            Severity::Info,
            claims(&claim.index),
            format!("claim {} on NICs ({}): {has}", printable(&claim.claim, 63), printable(&claim.class, 80)),
            full,
        ),
        OtherFabric::UnknownClaim(claim) => findings.add_as(
            Severity::Warning,
            claims(&claim.index),
            format!(
                "claim {}: devices of class {} may be NICs, so profile {profile} adds no networks, units or variables",
                printable(&claim.claim, 63),
                printable(&claim.class, 80)
            ),
            format!("If they are not NICs, ask the platform team to set unknownClaims: ignore in profile {profile}."),
        ),
        OtherFabric::Child(network, resource) => findings.add_as(
            Severity::Info,
            networks(),
            format!("network {network} beside {}: {has}", printable(resource, 80)),
            full,
        ),
        OtherFabric::Networks(attachments, resource) => findings.add_as(
            Severity::Info,
            networks(),
            format!("{attachments} attachments over {}: {has}", printable(resource, 80)),
            full,
        ),
    }
}
