//! FAB605: number of attachments to OCI's network rdma-vf differs from the number of requested VFs.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB605", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Network and resource, as Oracle's quick start for OKE names both.
const NETWORK: (&str, &str) = ("default", "rdma-vf");

const RESOURCE: &str = "nvidia.com/rdma-vf";

/// Ports of the largest shapes (BM.GPU.H100.8, BM.GPU.B300.8).
const MOST: i64 = 16;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(Ok(networks)) = context.final_networks else { return };
    let is_it = |namespace: &str, name: &str| (namespace, name) == NETWORK;
    let named = networks.items.iter();
    let named = named.filter(|i| is_it(i.namespace.as_deref().unwrap_or(context.subject.namespace), &i.name));
    let attachments = i64::try_from(named.count()).unwrap_or(i64::MAX);
    if attachments == 0 || context.pod().host_network() {
        return;
    }
    let mut add = |message: String, fix: String| findings.add(networks_annotation(), message, fix);
    if attachments > MOST {
        add(
            format!(
                "network default/rdma-vf is attached {attachments} times, but no OCI shape has more than {MOST} ports"
            ),
            format!("Name the network at most {MOST} times."),
        );
    }
    let known = context.devices().needs.iter().any(|need| need.resource.matches(RESOURCE));
    if known {
        return;
    }
    let apps = context.app_containers_in_time();
    let own =
        apps.map(|(index, container)| context.overlay.final_units_in_limits(index, container, RESOURCE));
    let units = own.fold(0_i64, i64::saturating_add);
    // Other rules check networks of the profile.
    let profile = context.resolution.profile().map(|(p, _)| p);
    let of_profile =
        profile.and_then(|p| p.resource_of_network(NETWORK.0, NETWORK.1, context.subject.namespace));
    if units > 0 && units != attachments && of_profile.is_none() {
        add(
            format!(
                "network default/rdma-vf is attached {attachments} times, but the pod requests {units} of {RESOURCE}: each attachment takes one unit"
            ),
            format!("Set {RESOURCE}: {attachments}, or set the number of attachments to {units}."),
        );
    }
}
