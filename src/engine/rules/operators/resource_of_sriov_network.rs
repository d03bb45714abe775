//! The resource that a network of the SR-IOV operator names.

use crate::facts::ResourceFact;
use crate::rules::object_context::ObjectContext;

/// Known facts about the resource of a network.
pub(super) fn name_and_facts_of_resource<'c>(
    context: &'c ObjectContext<'_>,
) -> Option<(&'c str, &'c ResourceFact)> {
    let name = context.non_empty_text_at("/spec/resourceName")?;
    Some((name, context.snapshot.cluster_facts_for_audience().sriov_operator_resource(name)?))
}
