//! EFA on AWS: devices without a network.

use super::fields_with_origin::{DraftOrWithheld, Sourced, resource, unattached};
use super::groups_of_nodes::{EFA, Group};
use crate::profile::schema::Transport;

pub(super) fn fabric_of_efa_nodes(group: &Group<'_>, accelerators: u64) -> DraftOrWithheld {
    let Some(count) = group.resources.get(EFA) else {
        return super::nodes_without_nic_resource_or_claim::withheld_without_fabric_objects();
    };
    let from = format!("capacity of {}: {} {EFA}, {accelerators} accelerators", count.nodes(), count.units);
    let devices =
        resource(Sourced::new(EFA.to_owned(), "capacity of the nodes"), count.units, accelerators, from);
    let transport = Sourced::new(Transport::Efa, format!("resource {EFA} of the nodes"));
    let none = "EFA devices need no network attachment";
    let base = match count.units.checked_div(accelerators) {
        Some(1) => "aws-efa-1-per-gpu",
        Some(2) => "aws-efa-2-per-gpu",
        _ => "aws-efa",
    };
    DraftOrWithheld::Fabric(Box::new(unattached("efa", Some(base), transport, none, vec![devices])))
}
