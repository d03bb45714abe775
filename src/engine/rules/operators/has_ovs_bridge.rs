//! Values of a SriovNetworkNodePolicy that several rules read.

use crate::rules::object_context::ObjectContext;

/// Whether a SriovNetworkNodePolicy requests a bridge (api/v1/helper.go, `IsEmpty`: one without `ovs` does not count).
pub(super) fn has_bridge(context: &ObjectContext<'_>) -> bool {
    context.value().and_then(|v| v.pointer("/spec/bridge/ovs")).is_some_and(|ovs| !ovs.is_null())
}
