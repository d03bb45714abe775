//! NCCL_NET pinned to NCCL's own verbs transport.

use crate::rules::variables::{ContainerVariables, Given};

/// Whether the container itself pins the verbs transport.
pub(super) fn pins_verbs<'s>(variables: &'s ContainerVariables<'_>) -> Option<&'s Given<'s>> {
    let given = variables.said("NCCL_NET")?;
    given.value.as_deref().is_some_and(|v| v.eq_ignore_ascii_case("IB")).then_some(given)
}
