//! FAB805: profile that is not applied to its pod.

use crate::facts::PROFILE_ANNOTATION;
use crate::multus::NETWORKS_ANNOTATION;
use crate::plan::{INJECT_ANNOTATION, MAX_CONTAINERS, OtherFabric, UserFabric, WhyNothingPlanned};
use crate::resolve::{Evidence, Resolution};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::{count_with_noun, escaped_and_cut};

pub(super) static RULE: Rule = Rule {
    id: "FAB805",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "leaving the profile out is usually intended"), (Severity::Info, HAS_FABRIC)],
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Why a finding on a pod with devices of its own is only information.
const HAS_FABRIC: &str = "the pod already has RDMA devices";

/// What to do about a claim that is not known.
const CREATE: &str = "Create the claim or its template before the pod. In a review, add the object to the inputs or to --cluster.";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.if_accelerated.applies
        && let Some(claim) = &context.subject.demands.fabric_claims().unread
    {
        let message = format!(
            "no profile is applied: the ResourceClaim or ResourceClaimTemplate of claim {:?} is not known, so the claim could be for accelerators",
            escaped_and_cut(&claim.claim, 63)
        );
        findings.add(pointers_in_pod::claim(claim.index), message, CREATE);
        return;
    }
    if let Resolution::Outside { profile, evidence, reason } = context.resolution {
        let name = &profile.name;
        let whose = match evidence {
            Evidence::Network(network) => {
                format!("the pod has network {}, which", escaped_and_cut(network, 80))
            }
            Evidence::Resource(resource) => {
                format!("the pod requests {}, which", escaped_and_cut(resource, 80))
            }
            _ => return,
        };
        findings.add_with_severity(
            Severity::Info,
            "",
            format!("{whose} only profile {name:?} has, but the profile is not applied: {reason}"),
            format!(
                "To apply the profile, annotate the pod with {PROFILE_ANNOTATION}: {name}. If this is intended, ignore the finding."
            ),
        );
        return;
    }
    let Some((profile, _)) = context.resolution.profile() else { return };
    let name = &profile.name;
    if let Some(other) = context.plan.user_fabric.as_ref().and_then(UserFabric::other_fabric) {
        return report_pod_keeps_its_fabric(name, other, findings);
    }
    let Some(withheld) = &context.plan.withheld else { return };
    let annotation = |key: &str| pointers_in_pod::annotation(key);
    let (path, why, fix) = match withheld {
        WhyNothingPlanned::HostNetwork => (
            "/spec/hostNetwork".to_owned(),
            "the pod uses hostNetwork, so no CNI plugin attaches networks".to_owned(),
            "Remove hostNetwork to get the profile's rails.".to_owned(),
        ),
        WhyNothingPlanned::OwnNetwork => (
            "/spec".to_owned(),
            "the profile uses the node's network namespace, but the pod does not".to_owned(),
            "Set hostNetwork: true and dnsPolicy: ClusterFirstWithHostNet, or use another profile."
                .to_owned(),
        ),
        WhyNothingPlanned::ProviderNetworks(key) => (
            annotation(key),
            format!("annotation {key} requests networks of a cloud provider"),
            "Remove the annotation to get the profile's networks.".to_owned(),
        ),
        WhyNothingPlanned::OptedOut => (
            annotation(INJECT_ANNOTATION),
            "the pod opts out by annotation".to_owned(),
            format!("Remove annotation {INJECT_ANNOTATION}. If this is intended, ignore the finding."),
        ),
        WhyNothingPlanned::ReviewOnly => (
            String::new(),
            "the profile is only for review (inject: review)".to_owned(),
            "Ask the platform team to set inject: full in the profile.".to_owned(),
        ),
        WhyNothingPlanned::Windows => (
            "/spec/os".to_owned(),
            "the pod runs on Windows".to_owned(),
            "Ignore this finding: profiles apply only to Linux pods.".to_owned(),
        ),
        WhyNothingPlanned::UnreadClaim(claim) => (
            pointers_in_pod::claim(claim.index),
            format!(
                "the ResourceClaim or ResourceClaimTemplate of claim {:?} is not known, so the claim could be for NICs",
                escaped_and_cut(&claim.claim, 63)
            ),
            CREATE.to_owned(),
        ),
        WhyNothingPlanned::UnknownNetworks(networks) => (
            annotation(NETWORKS_ANNOTATION),
            format!(
                "the known objects do not show whether {} of the pod can serve as rails",
                count_with_noun(*networks, "network")
            ),
            "Create the networks first, or request one device for each network. In a review, add the networks' manifests."
                .to_owned(),
        ),
        WhyNothingPlanned::NodesTooSmall { resource, wanted } => (
            annotation(NETWORKS_ANNOTATION),
            format!("the pod's networks and the rails together need {wanted} units of {resource}, more than any node has"),
            "Remove the pod's own networks, or list one network for each rail.".to_owned(),
        ),
        WhyNothingPlanned::Conflict(resource) => (
            annotation(INJECT_ANNOTATION),
            format!("NCCL cannot use {} and the profile's fabric in one pod", escaped_and_cut(resource, 80)),
            format!("Remove annotation {INJECT_ANNOTATION}: \"full\", or remove {}.", escaped_and_cut(resource, 80)),
        ),
        WhyNothingPlanned::NotServed => (
            "/spec/containers".to_owned(),
            "AWS Neuron devices do not use NCCL".to_owned(),
            "Ignore this finding: the Neuron runtime has its own collectives.".to_owned(),
        ),
        WhyNothingPlanned::NoTarget => (
            "/spec/containers".to_owned(),
            "no app container requests accelerators".to_owned(),
            "Request accelerators in the container that trains. If this is intended, ignore the finding.".to_owned(),
        ),
        WhyNothingPlanned::ManyContainers => (
            "/spec/containers".to_owned(),
            format!("the pod has more than {MAX_CONTAINERS} containers"),
            "Use several pods with fewer containers each.".to_owned(),
        ),
        WhyNothingPlanned::ManyTargets { targets, most } => (
            "/spec/containers".to_owned(),
            format!("{targets} containers request accelerators, but this profile applies to at most {most}"),
            "Use several pods with fewer containers each.".to_owned(),
        ),
        WhyNothingPlanned::ManyResources => (
            "/spec/containers".to_owned(),
            "with the profile, a container would list more than 64 resources".to_owned(),
            "Name fewer networks, or use resources that several networks share.".to_owned(),
        ),
        WhyNothingPlanned::NoRoom => (
            "/metadata/annotations".to_owned(),
            "with the profile's networks, the pod's annotations would exceed 256 KiB, the API server's limit".to_owned(),
            "Shorten the pod's own annotations.".to_owned(),
        ),
        // FAB101, FAB201, FAB801, FAB810, FAB814 and FAB820 report these; a mirror pod belongs to the node, not the API server.
        WhyNothingPlanned::Unreadable
        | WhyNothingPlanned::OverLimit
        | WhyNothingPlanned::UnreadQuantity
        | WhyNothingPlanned::MissingNetworks
        | WhyNothingPlanned::UnknownRails(_)
        | WhyNothingPlanned::WrongContainers(_)
        | WhyNothingPlanned::Mirror => {
            return;
        }
    };
    let warned = matches!(
        withheld,
        WhyNothingPlanned::NoRoom
            | WhyNothingPlanned::ManyContainers
            | WhyNothingPlanned::ManyTargets { .. }
            | WhyNothingPlanned::ManyResources
            | WhyNothingPlanned::OwnNetwork
            | WhyNothingPlanned::UnreadClaim(_)
            | WhyNothingPlanned::UnknownNetworks(_)
            | WhyNothingPlanned::NodesTooSmall { .. }
            | WhyNothingPlanned::Conflict(_)
    );
    let severity = if warned { Severity::Warning } else { Severity::Info };
    findings.add_with_severity(severity, path, format!("profile {name:?} is not applied: {why}"), fix);
}

/// Reports that a pod keeps the fabric that it has.
fn report_pod_keeps_its_fabric(profile: &str, other: &OtherFabric, findings: &mut FindingsOfRule<'_>) {
    let networks = || pointers_in_pod::annotation(NETWORKS_ANNOTATION);
    let full = format!(
        "If this is intended, ignore the finding. To get the profile's networks too, annotate the pod with {INJECT_ANNOTATION}: \"full\"."
    );
    let has = |what: String| {
        format!(
            "the pod already requests RDMA devices ({what}), so profile {profile:?} adds no networks, resources or variables"
        )
    };
    let findings = &mut findings.with_reason_for_lower_severity(HAS_FABRIC);
    match other {
        OtherFabric::Unit(resource) => findings.add_with_severity(
            Severity::Info,
            "/spec/containers",
            has(escaped_and_cut(resource, 80)),
            full,
        ),
        OtherFabric::Claim(claim) => findings.add_with_severity(
            Severity::Info,
            pointers_in_pod::claim(claim.index),
            has(format!("claim {:?}, DeviceClass {}", escaped_and_cut(&claim.claim, 63), escaped_and_cut(&claim.class, 80))),
            full,
        ),
        OtherFabric::UnknownClaim(claim) => findings.add_with_severity(
            Severity::Warning,
            pointers_in_pod::claim(claim.index),
            format!(
                "the devices of claim {:?} (class {}) may be NICs, so profile {profile:?} adds no networks, resources or variables",
                escaped_and_cut(&claim.claim, 63),
                escaped_and_cut(&claim.class, 80)
            ),
            "If the devices are not NICs, ask the platform team to set unknownClaims: ignore in the profile.",
        ),
        OtherFabric::Child(network, resource) => findings.add_with_severity(
            Severity::Info,
            networks(),
            has(format!("{} of network {network}", escaped_and_cut(resource, 80))),
            full,
        ),
        OtherFabric::Networks(attachments, resource) => findings.add_with_severity(
            Severity::Info,
            networks(),
            has(format!("{attachments} networks that use {}", escaped_and_cut(resource, 80))),
            full,
        ),
    }
}
