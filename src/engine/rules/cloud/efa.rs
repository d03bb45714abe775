//! AWS EFA, whose NCCL plugin takes the place of NCCL's own transport.

use crate::plan::pod_with_plan::Variable;
use crate::pod::pod_fields::Container;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;

/// Resource of the EFA device plugin.
pub(super) const EFA: &str = "vpc.amazonaws.com/efa";

/// App containers that hold EFA devices.
pub(super) fn containers_with_efa<'a>(
    context: &PodContext<'a>,
) -> impl Iterator<Item = (usize, &'a Container<'a>)> {
    let overlay = context.overlay;
    let containers = context.app_containers_in_time();
    containers.filter(move |(index, container)| overlay.final_units_in_limits(*index, container, EFA) > 0)
}

/// The path of a variable: its entry in `env`, or the container if the plan or a file sets the variable.
pub(super) fn variable_path(index: usize, container: &Container<'_>, name: &str) -> String {
    match container.last_entry_of_variable(name) {
        Some((at, _)) => pointers_in_pod::in_container(index, format_args!("env/{at}")),
        None => pointers_in_pod::container(index),
    }
}

/// Literal value of a variable.
pub(super) fn own_or_planned_value<'a>(
    context: &PodContext<'a>,
    index: usize,
    container: &'a Container<'a>,
    name: &str,
) -> Option<&'a str> {
    match context.overlay.variable(index, container, name)? {
        Variable::Value(value) => Some(value),
        Variable::Unknown => None,
    }
}
