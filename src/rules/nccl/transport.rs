//! NCCL_NET pinned to NCCL's own verbs transport.

use super::given::{Given, Spoken};

/// Whether the container itself pins the verbs transport.
pub(super) fn pins_verbs<'s>(spoken: &'s Spoken<'_>) -> Option<&'s Given<'s>> {
    let given = spoken.said("NCCL_NET")?;
    given.value.as_deref().is_some_and(|v| v.eq_ignore_ascii_case("IB")).then_some(given)
}
