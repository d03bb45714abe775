//! The namespace of the SR-IOV operator.

use crate::rules::object_context::ObjectContext;

/// The namespace of an object, and the operator's, where both are known and differ. The operator's is that of the
/// SriovNetworkNodeStates it makes.
pub(super) fn own_and_operator_namespace_if_differing<'c>(
    context: &'c ObjectContext<'_>,
) -> Option<(&'c str, &'c str)> {
    let own = context.non_empty_text_at("/metadata/namespace")?;
    let operator = context.snapshot.cluster_facts_for_audience().namespace_of_sriov_operator()?;
    (own != operator).then_some((own, operator))
}
