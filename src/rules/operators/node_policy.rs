//! What several rules read of a SriovNetworkNodePolicy.

use crate::rules::object::ObjectContext;

/// Whether a SriovNetworkNodePolicy asks for a bridge (api/v1/helper.go, `IsEmpty`: one without `ovs` is none).
pub(super) fn has_bridge(context: &ObjectContext<'_>) -> bool {
    context.value().and_then(|v| v.pointer("/spec/bridge/ovs")).is_some_and(|ovs| !ovs.is_null())
}
