//! FAB107: misspelt or misplaced network annotation that no program reads.

use crate::multus::{NETWORKS_ANNOTATION, NODE_SELECTOR_ANNOTATION, RESOURCE_ANNOTATION};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck, CelCondition};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB107",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let annotations = context.pod().metadata.as_ref().and_then(|m| m.annotations.as_ref());
    for (key, _) in annotations.into_iter().flat_map(|a| a.iter()) {
        let Some((message, fix)) = problem_and_fix_of_key(key, context.subject.networks.is_some()) else {
            continue;
        };
        if findings.must_stop_reporting() {
            break;
        }
        let shown = escaped_and_cut(key, 100);
        findings.add(pointers_in_pod::annotation(key), format!("annotation {shown} {message}"), fix);
    }
}

fn cel() -> Cel {
    let odd = "k in ['k8s.v1.cni.cncf.io/resourceName', 'k8s.v1.cni.cncf.io/nodeSelector', 'mellanox.infiniband.app'] ||\n\
                   k == 'networks' && !variables.hasNetworks || k == 'guid' && variables.hasNetworks ||\n\
                   k != 'k8s.v1.cni.cncf.io/networks' &&\n\
                   k.matches('^(.*[.])?cni[.]cncf[.]io/(?i:networks?|nets|network-attachments)$')";
    let check = CelCheck {
        severity: Severity::Warning,
        wrong: CelCondition::Annotations(odd.into()),
        message: "a network annotation of the pod is misspelt or misplaced, and has no effect: Multus reads a pod's networks only from annotation k8s.v1.cni.cncf.io/networks",
    };
    let has = "'k8s.v1.cni.cncf.io/networks' in variables.annotations";
    let beyond = Some("more than 1,000 annotations");
    Cel { variables: vec![("hasNetworks", has.into())], checks: vec![check], beyond }
}

/// What is wrong with a key, and what to do.
fn problem_and_fix_of_key(key: &str, has_networks: bool) -> Option<(&'static str, &'static str)> {
    const WRITE: &str = "Write the key as k8s.v1.cni.cncf.io/networks.";
    match key {
        NETWORKS_ANNOTATION => None,
        // Programs other than Multus may use the key `networks`, so it counts only without the networks annotation.
        "networks" if !has_networks => Some(("has no effect: Multus does not read this key", WRITE)),
        RESOURCE_ANNOTATION | NODE_SELECTOR_ANNOTATION => Some((
            "has no effect on a pod: Multus reads this annotation from the NetworkAttachmentDefinition",
            "Set the annotation on the NetworkAttachmentDefinition, and request the resource in the container's limits.",
        )),
        "mellanox.infiniband.app" => Some((
            "has no effect on a pod: ib-kubernetes writes this key into cni-args of the networks annotation",
            "Remove the annotation. ib-kubernetes sets this key when the pod is scheduled.",
        )),
        "guid" if has_networks => Some((
            "has no effect on a pod: a GUID belongs inside the networks annotation",
            "Write \"infiniband-guid\" in the networks annotation, or let ib-kubernetes set the GUID.",
        )),
        _ => {
            let (domain, name) = key.rsplit_once('/')?;
            let multus = domain == "cni.cncf.io" || domain.ends_with(".cni.cncf.io");
            let network = ["network", "networks", "nets", "network-attachments"];
            let meant = network.iter().any(|n| n.eq_ignore_ascii_case(name));
            (multus && meant).then_some(("has no effect: Multus does not read this key", WRITE))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_multus_and_its_neighbours_write_themselves() {
        for key in [
            NETWORKS_ANNOTATION,
            "k8s.v1.cni.cncf.io/network-status",
            "k8s.v1.cni.cncf.io/networks-status",
            "v1.multus-cni.io/default-network",
            "networking.gke.io/interfaces",
            "k8s.volcengine.com/pod-networks",
            "example.com/networks",
        ] {
            assert_eq!(problem_and_fix_of_key(key, false), None, "{key}");
        }
        assert_eq!(problem_and_fix_of_key("networks", true), None);
        assert_eq!(problem_and_fix_of_key("guid", false), None);
    }

    #[test]
    fn knows_what_was_meant() {
        for key in [
            "networks",
            "k8s.v1.cni.cncf.io/network",
            "k8s.v1.cni.cncf.io/Networks",
            "kubernetes.v1.cni.cncf.io/networks",
            "v1.cni.cncf.io/networks",
            "cni.cncf.io/networks",
        ] {
            assert!(problem_and_fix_of_key(key, false).is_some(), "{key}");
        }
        assert!(
            problem_and_fix_of_key("guid", true).is_some()
                && problem_and_fix_of_key("k8s.cni.cncf.io/networks", true).is_some()
        );
    }
}
