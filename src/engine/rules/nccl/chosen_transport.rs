//! The transport that a container chooses for NCCL by name.

use crate::rules::variables_of_pod::{ContainerVariables, VariableSetting};

/// The container's own setting of NCCL_NET that pins the verbs transport; `None` where it does not.
pub(super) fn setting_that_pins_verbs<'s>(
    variables: &'s ContainerVariables<'_>,
) -> Option<&'s VariableSetting<'s>> {
    let given = variables.own_setting_that_counts("NCCL_NET")?;
    given.value.as_deref().is_some_and(|v| v.eq_ignore_ascii_case("IB")).then_some(given)
}

/// Whether a variable names a plugin, or may: neither nothing nor one of the words that NCCL itself knows.
pub(super) fn may_name_plugin(variables: &ContainerVariables<'_>, name: &str, builtin: &[&str]) -> bool {
    match variables.setting_that_counts(name).map(|given| given.value.as_deref()) {
        Some(Some(value)) => {
            !value.is_empty() && !builtin.iter().any(|word| value.eq_ignore_ascii_case(word))
        }
        Some(None) => true,
        None => false,
    }
}
