//! FAB136: nv-ipam pool that is too small or that the network cannot use.

use super::attachments_with_facts::attachments_of_pod;
use super::ipam_of_network_object::{IpamText, fact_of_network_object};
use crate::multus::LinkLayer;
use crate::multus::ipam::NvIpamPoolName;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NETWORKS_WITH_IPAM;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::{escaped_and_cut, nearest_if_probably_meant};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "FAB136",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, "the pool may be created or changed before the pods start"),
        (Severity::Info, "the pool may be created before the pods start"),
    ],
    files: files!(),
    kinds: NETWORKS_WITH_IPAM,
    reach: PodsChecked::AnyWarns,
    pod: Some(check_pod),
    object: Some(check_object),
    ..Rule::DEFAULT
};

fn check_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(fact) = fact_of_network_object(context) else { return };
    let Some(pool) = fact.addressing.ipam.as_ref().and_then(|i| i.pool.as_ref()) else { return };
    let facts = context.snapshot.cluster_facts_for_audience();
    let Some(ipam) = IpamText::read(context) else { return };
    let name = escaped_and_cut(&pool.name, 100);
    let (kind, other_kind) = if pool.cidr { ("CIDRPool", "IPPool") } else { ("IPPool", "CIDRPool") };
    let [known, other] = [pool.cidr, !pool.cidr].map(|cidr| facts.has_address_pool(cidr, &pool.name));
    if let Some(found) = facts.address_pool(pool) {
        let link = context.snapshot.network_class_by_all_facts(fact).link;
        if found.cidr && !found.routed && link == Some(LinkLayer::Ethernet) {
            ipam.report(
                findings,
                Severity::Warning,
                "/poolName",
                format!("CIDRPool {name} sets neither gatewayIndex nor routes: pods on different nodes cannot reach each other"),
                "In the CIDRPool, set gatewayIndex, and list the subnets of the other nodes in routes.",
            );
        }
    } else if !known && other {
        let fix = format!("Write \"poolType\": \"{}\".", other_kind.to_ascii_lowercase());
        let message = format!(
            "poolName {name} is the name of a known {other_kind}, but no known {kind} has this name: pods stay in ContainerCreating"
        );
        ipam.report(findings, Severity::Warning, "/poolName", message, fix);
    } else if !known && [true, false].into_iter().any(|cidr| facts.address_pool_names(cidr).next().is_some())
    {
        let fix = match nearest_if_probably_meant(
            &pool.name,
            context.deadline.take_names_within_budgets(&pool.name, facts.address_pool_names(pool.cidr)),
        ) {
            Some(near) => format!("Did you mean {near}?"),
            None => "Write the name of a pool that exists, or create this pool.".to_owned(),
        };
        let message = format!("poolName is {name}, but no known {kind} has this name");
        ipam.report(findings, Severity::Info, "/poolName", message, fix);
    }
}

/// A pool, and the networks that take addresses from it, by namespace and name.
type Takers<'a> = (&'a NvIpamPoolName, Vec<(&'a str, &'a str)>);

fn check_pod(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let snapshot = context.subject.snapshot;
    let mut pools: BTreeMap<&str, Takers<'_>> = BTreeMap::new();
    for attachment in attachments_of_pod(context) {
        let pool = attachment.fact.and_then(|f| f.addressing.ipam.as_ref()?.pool.as_ref());
        // A network in the pod's own namespace is skipped: the pod's author may have named any pool of the cluster in
        // it.
        if let Some(pool) =
            pool.filter(|p| !p.cidr && snapshot.may_use_interface_facts_of_networks_in(attachment.namespace))
        {
            let network = (attachment.namespace, &*attachment.item.name);
            pools.entry(&pool.name).or_insert((pool, Vec::new())).1.push(network);
        }
    }
    for (name, (pool, mut networks)) in pools {
        let profile = context.profile_if_networks_are_its_rails(networks.iter().copied());
        // A tenant may learn only that the rails of the profile do not work together. If repeated attachments to one
        // rail counted, a tenant could find out perNodeBlockSize.
        let for_tenant = snapshot.is_not_for_operator();
        if for_tenant {
            if profile.is_none() {
                continue;
            }
            networks.sort_unstable();
            networks.dedup();
        }
        let count = u64::try_from(networks.len()).unwrap_or(u64::MAX);
        let per_node = snapshot.cluster_facts_for_audience().address_pool(pool).and_then(|p| p.per_node);
        let Some(per_node) = per_node.filter(|n| *n < count && *n > 0) else { continue };
        let message = match for_tenant {
            true => format!(
                "{count} networks of the pod take addresses from one IPPool, whose perNodeBlockSize is too small: the pod cannot start"
            ),
            false => format!(
                "{count} networks of the pod take addresses from IPPool {}, whose perNodeBlockSize is only {per_node}: the pod cannot start",
                escaped_and_cut(name, 100)
            ),
        };
        let fix = match profile {
            Some(profile) => {
                format!(
                    "Ask the platform team for a larger perNodeBlockSize in the networks of profile \"{}\".",
                    profile.name
                )
            }
            None => {
                "Raise perNodeBlockSize to the number of addresses that all pods of one node need.".to_owned()
            }
        };
        findings.add(networks_annotation(), message, fix);
    }
}
