//! FAB337, FAB344, FAB345: what a SriovNetwork writes into its functions.

use crate::rules::object::ObjectContext;

pub(super) fn number(context: &ObjectContext<'_>, pointer: &str) -> Option<i64> {
    context.value()?.pointer(pointer)?.as_i64()
}
