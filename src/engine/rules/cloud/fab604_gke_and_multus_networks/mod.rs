//! FAB604: annotations for GKE networks and for Multus networks on one pod.

use crate::plan::Edit;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB604", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

const INTERFACES: &str = "networking.gke.io/interfaces";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let planned =
        |c: &crate::plan::Change| matches!(&c.edit, Edit::Annotation { key, .. } if key == INTERFACES);
    let gke = context.pod().annotation(INTERFACES).is_some() || context.plan.changes.iter().any(planned);
    if !gke || context.pod().host_network() {
        return;
    }
    if matches!(context.final_networks, Some(Ok(networks)) if !networks.items.is_empty()) {
        findings.add(
            networks_annotation(),
            "GKE attaches only the networks of annotation networking.gke.io/interfaces, and ignores k8s.v1.cni.cncf.io/networks",
            "Remove annotation k8s.v1.cni.cncf.io/networks.",
        );
    }
}
