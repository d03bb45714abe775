//! Whether the nodes that the pod can run on have the units that the pod would request. Each resource is looked at alone: of
//! two resources, different nodes may have enough.

use super::count_attachments::Attachments;
use crate::demands::Subject;
use crate::plan::WhyNothingPlanned;
use crate::pod::Container;
use crate::profile::Rail;
use std::collections::{BTreeMap, BTreeSet};

/// Checks, for each resource, that some node which the pod can run on has units for all rails, and for those of the pod's
/// own attachments that stand in for a rail. Nodes whose number of units is not known, or is 0 while a device plugin restarts, count as having enough.
///
/// # Errors
/// [`WhyNothingPlanned::NodesTooSmall`] with the numbers.
pub(super) fn check_each_resource_fits_some_node(
    subject: &Subject<'_>,
    rails: &[Rail],
    attachments: &Attachments<'_>,
) -> Result<(), WhyNothingPlanned> {
    let view = subject.snapshot.all_nodes();
    if view.is_empty() {
        return Ok(());
    }
    let mut wanted: BTreeMap<&str, i64> = BTreeMap::new();
    for resource in rails.iter().filter_map(|rail| rail.resource.as_deref()) {
        *wanted.entry(resource).or_default() += 1;
    }
    for resource in attachments.resources_of_stand_ins() {
        *wanted.entry(resource).or_default() += 1;
    }
    let mut landing = subject.landing().clone();
    // A node without the pod's accelerators has room for nothing.
    let accelerators = &subject.snapshot.settings().accelerators;
    let names = subject.pod.containers().iter().flat_map(Container::resource_names);
    let names: BTreeSet<&str> = names.filter(|name| accelerators.contains(name)).collect();
    for name in names {
        match view.classes().classes_offering(name) {
            Some(offering) => offering.keep_in_set(&mut landing),
            None => landing.clear(),
        }
    }
    for (resource, wanted) in wanted {
        let Some(most) = view.most_units(&landing, resource).filter(|most| *most > 0) else { continue };
        if i64::try_from(most).unwrap_or(i64::MAX) < wanted {
            return Err(WhyNothingPlanned::NodesTooSmall { resource: resource.to_owned(), wanted });
        }
    }
    Ok(())
}
