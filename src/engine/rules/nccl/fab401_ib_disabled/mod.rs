//! FAB401: NCCL_IB_DISABLE on a container that requests RDMA.

use super::chosen_transport::{may_name_plugin, setting_that_pins_verbs};
use super::other_rdma_users::other_user_of_device_in_words;
use crate::nccl::numbers_as_nccl_reads::{has_unknown_part, leading_number};
use crate::pod::pod_fields::Container;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::WhereVariableIsSet;
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB401",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, OTHER_LIBRARY), (Severity::Warning, BRANCH)],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const OTHER_LIBRARY: &str = "another library or program may use the device";
const BRANCH: &str = "the command may not run the line that sets the variable";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        let index = variables.index;
        let off =
            variables.setting_that_counts("NCCL_IB_DISABLE").and_then(|g| Some((g, g.value.as_deref()?)));
        let Some((given, text)) = off else { continue };
        if has_unknown_part(text)
            || leading_number(text) == 0
            || !context.has_verbs_device(index)
            || setting_that_pins_verbs(variables).is_some()
        {
            continue;
        }
        // A plugin brings its own transport and does not read this variable.
        if may_name_plugin(variables, "NCCL_NET", &["IB", "Socket"])
            || may_name_plugin(variables, "NCCL_NET_PLUGIN", &["none"])
        {
            continue;
        }
        let on_purpose =
            variables.value_that_counts("NCCL_NET").is_some_and(|v| v.eq_ignore_ascii_case("Socket"));
        // A script may set it on a branch that never runs.
        let sure = matches!(given.place, WhereVariableIsSet::Env(_) | WhereVariableIsSet::Planned);
        let (severity, because, rest) = match other_user_of_device_in_words(context, variables) {
            Some(user) => (Severity::Warning, OTHER_LIBRARY, format!(", but {user} may use the device")),
            None if on_purpose => {
                (Severity::Warning, OTHER_LIBRARY, ", as NCCL_NET=Socket also requests".to_owned())
            }
            None if !sure => {
                (Severity::Warning, BRANCH, " if the command runs the line that sets the variable".to_owned())
            }
            None if runs_nccl_tests(variables.container) => {
                (Severity::Error, "", ", and the NIC is reserved but idle".to_owned())
            }
            None => (
                Severity::Warning,
                OTHER_LIBRARY,
                "; the NIC is idle unless another library uses the NIC".to_owned(),
            ),
        };
        let (value, place) = (escaped_and_cut(text, 20), variables.place_in_words(given));
        findings.with_reason_for_lower_severity(because).add_with_severity(
            severity,
            variables.pointer_of_setting(given),
            format!("NCCL_IB_DISABLE={value}{place}, but the container has an RDMA device: NCCL runs over TCP{rest}"),
            "Remove NCCL_IB_DISABLE; its default is 0.",
        );
    }
}

/// Programs of nccl-tests and rccl-tests (NVIDIA/nccl-tests src/Makefile).
const NCCL_TESTS: [&str; 10] = [
    "all_gather_perf",
    "all_reduce_perf",
    "alltoall_perf",
    "broadcast_perf",
    "gather_perf",
    "hypercube_perf",
    "reduce_perf",
    "reduce_scatter_perf",
    "scatter_perf",
    "sendrecv_perf",
];

/// Whether the container runs nothing but NCCL. No pod shows the libraries of its scripts: each may use NIXL, NVSHMEM or
/// GPUDirect Storage without a variable.
fn runs_nccl_tests(container: &Container<'_>) -> bool {
    let program = container.command.as_ref().and_then(|words| words.iter().next());
    let name = program.and_then(|path| path.rsplit('/').next());
    name.is_some_and(|name| NCCL_TESTS.contains(&name))
}
