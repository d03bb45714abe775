//! Values of a SriovNetworkNodePolicy that several rules read.

use crate::rules::object_context::ObjectContext;

/// Whether a SriovNetworkNodePolicy requests a bridge (api/v1/helper.go, `IsEmpty`: one without `ovs` does not count).
pub(super) fn requests_ovs_bridge(context: &ObjectContext<'_>) -> bool {
    context.whole_object().and_then(|v| v.pointer("/spec/bridge/ovs")).is_some_and(|ovs| !ovs.is_null())
}
