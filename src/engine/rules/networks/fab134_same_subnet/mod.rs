//! FAB134: several Ethernet interfaces of a pod in one subnet.

use super::attached::{Attached, attached};
use crate::multus::LinkLayer;
use crate::multus::subnet::Subnet;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths::annotation_path;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Reach, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB134",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let mut found: Vec<(Subnet, Attached<'_>)> = Vec::new();
    for attachment in attached(context) {
        for subnet in subnets(context, &attachment) {
            found.push((*subnet, attachment));
        }
    }
    // Networks of addresses hold one another or are apart. In this order a network comes right after one that holds
    // it, or after others that the same one holds.
    found.sort_by_key(|(subnet, a)| (*subnet, a.place));
    let mut widest: Option<&(Subnet, Attached<'_>)> = None;
    for next in &found {
        match widest {
            Some((subnet, first)) if subnet.overlaps(&next.0) && first.place != next.1.place => {
                findings.add(
                    annotation_path(),
                    format!(
                        "items {} ({}) and {} ({}) are in one subnet ({subnet}): Linux sends through one of the two",
                        first.place,
                        first.describe(),
                        next.1.place,
                        next.1.describe()
                    ),
                    "Give each rail its own subnet, or chain sbr after each.",
                );
                return;
            }
            Some((subnet, _)) if subnet.overlaps(&next.0) => {}
            _ => widest = Some(next),
        }
    }
}

/// Subnets from which an attachment may get its address; none where that does not matter.
fn subnets<'a>(context: &'a PodContext<'_>, attachment: &Attached<'a>) -> &'a [Subnet] {
    let Some(fact) = attachment.fact.filter(|f| !f.addressing.keeps_apart) else { return &[] };
    let Some(ipam) = fact.addressing.ipam.as_deref() else { return &[] };
    // On InfiniBand addresses are looked up once, and RDMA goes by LID and GID.
    if context.subject.snapshot.class_of(fact).link != Some(LinkLayer::Ethernet) {
        return &[];
    }
    match &ipam.pool {
        Some(pool) => context
            .subject
            .snapshot
            .facts()
            .address_pool(pool)
            .map(|p| p.subnets.as_slice())
            .unwrap_or_default(),
        None => &ipam.subnets,
    }
}
