//! NICs that pods get by a claim (DRA). The webhook adds no networks to such pods; the profile has their settings.

use super::fabric::{Outcome, Sourced, hca, unattached, withheld};
use super::groups::Group;
use super::sources::Sources;
use crate::multus::LinkLayer;
use crate::profile::schema::Transport;
use std::collections::BTreeSet;

pub(super) fn outcome(group: &Group<'_>, _sources: &Sources) -> Outcome {
    let Some((driver, count)) = group.claims.iter().max_by_key(|(_, count)| count.units) else {
        return super::plain::nothing();
    };
    let all = group.nodes.iter().filter_map(|node| node.claimable.get(driver));
    let links: BTreeSet<LinkLayer> = all.clone().flat_map(|devices| devices.links.iter().copied()).collect();
    let slice = all.clone().map(|devices| devices.slice.as_str()).next().unwrap_or_default();
    let mut links = links.into_iter();
    let link = match (links.next(), links.next()) {
        (Some(link), None) => link,
        (None, _) => {
            return withheld(
                format!(
                    "ResourceSlice {slice} of driver {driver} has {} RDMA devices, without their link layer",
                    count.units
                ),
                "Are these NICs RoCE or InfiniBand? Write a profile with transport: roce or infiniband, and attachment: \
                 none.",
            );
        }
        _ => {
            return withheld(
                format!("driver {driver} publishes RDMA devices of both link layers"),
                "Which devices are for training? Select them in the claims, and write the transport into a profile with \
                 attachment: none.",
            );
        }
    };
    let (suffix, transport) = match link {
        LinkLayer::Ethernet => ("roce", Transport::Roce),
        LinkLayer::InfiniBand => ("ib", Transport::Infiniband),
    };
    let from = format!(
        "ResourceSlice {slice}: {} RDMA devices of driver {driver} on {}",
        count.units,
        count.nodes()
    );
    let attachment = format!("pods claim devices of driver {driver}");
    let mut fabric = unattached(suffix, None, Sourced::new(transport, from), &attachment, Vec::new());
    fabric.questions.push(hca(None));
    Outcome::Fabric(Box::new(fabric))
}
