//! FAB805: profile that is not applied to its pod.

use crate::fabric::{Evidence, Resolution};
use crate::multus::NETWORKS_ANNOTATION;
use crate::plan::{INJECT_ANNOTATION, MAX_CONTAINERS, Withheld};
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::snapshot::PROFILE_ANNOTATION;

pub(super) static RULE: Rule =
    Rule { id: "FAB805", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
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
            format!("Ignore this if intended; else annotate the pod with {PROFILE_ANNOTATION}: {name}"),
        );
        return;
    }
    let Some((profile, _)) = context.resolution.profile() else { return };
    let Some(withheld) = &context.plan.withheld else { return };
    let name = &profile.name;
    let annotation = |key: &str| paths::annotation(key);
    let (path, why, fix) = match withheld {
        Withheld::HostNetwork => (
            "/spec/hostNetwork".to_owned(),
            "the pod uses hostNetwork, where no CNI plugin runs".to_owned(),
            "Remove hostNetwork to get the profile's rails.".to_owned(),
        ),
        Withheld::OwnNetwork => (
            "/spec".to_owned(),
            "its NICs are in the node's network namespace, and the pod has its own".to_owned(),
            "Set hostNetwork: true and dnsPolicy: ClusterFirstWithHostNet, or use another profile."
                .to_owned(),
        ),
        Withheld::ProviderNetworks(key) => (
            annotation(key),
            format!("annotation {key} requests networks of a cloud provider"),
            format!("Remove it to get networks by {NETWORKS_ANNOTATION}."),
        ),
        Withheld::OptedOut => (
            annotation(INJECT_ANNOTATION),
            "the pod opts out".to_owned(),
            format!("Remove annotation {INJECT_ANNOTATION}, or ignore this if intended."),
        ),
        Withheld::ReviewOnly => (
            String::new(),
            "the profile is for review only".to_owned(),
            "Ask the platform team to set inject in the profile.".to_owned(),
        ),
        Withheld::Windows => (
            "/spec/os".to_owned(),
            "the pod runs on Windows".to_owned(),
            "Ignore this: profiles apply only to Linux pods.".to_owned(),
        ),
        Withheld::NetworkClaim => (
            "/spec/resourceClaims".to_owned(),
            "a claim of the pod gives it network devices".to_owned(),
            "Remove the claim to get the profile's rails.".to_owned(),
        ),
        Withheld::ManyContainers => (
            "/spec/containers".to_owned(),
            format!("the pod has more than {MAX_CONTAINERS} containers"),
            "Use more pods with fewer containers.".to_owned(),
        ),
        Withheld::ManyResources => (
            "/spec/containers".to_owned(),
            "a container would list more than 64 resources".to_owned(),
            "Name fewer networks, or use resources that several networks share.".to_owned(),
        ),
        Withheld::NoRoom => (
            "/metadata/annotations".to_owned(),
            "with its networks the annotations would exceed the API server's 256 KiB".to_owned(),
            "Shorten the pod's own annotations.".to_owned(),
        ),
        // FAB101, FAB801, FAB810 and FAB814 report these; a mirror pod belongs to the node, not the API server.
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
        Withheld::NoRoom | Withheld::ManyContainers | Withheld::ManyResources | Withheld::OwnNetwork
    );
    let severity = if warned { Severity::Warning } else { Severity::Info };
    findings.add_as(severity, path, format!("profile {name} is not applied: {why}"), fix);
}
