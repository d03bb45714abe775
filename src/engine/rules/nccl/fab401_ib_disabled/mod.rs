//! FAB401: NCCL_IB_DISABLE on a container that requests RDMA.

use super::transport::pins_verbs;
use crate::nccl::number::{is_open, leading_number};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::rules::variables::Place;
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB401",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "another library may use the device, or the setting may never be reached")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for variables in context.variables() {
        let index = variables.index;
        let off = variables.last("NCCL_IB_DISABLE").and_then(|g| Some((g, g.value.as_deref()?)));
        let Some((given, text)) = off else { continue };
        if is_open(text)
            || leading_number(text) == 0
            || !context.has_rdma(index)
            || pins_verbs(variables).is_some()
        {
            continue;
        }
        // A plugin brings its own transport and does not read this variable.
        let named = |name, builtin: &[&str]| match variables.last(name).map(|g| g.value.as_deref()) {
            Some(Some(v)) => !v.is_empty() && !builtin.iter().any(|b| v.eq_ignore_ascii_case(b)),
            Some(None) => true,
            None => false,
        };
        if named("NCCL_NET", &["IB", "Socket"]) || named("NCCL_NET_PLUGIN", &["none"]) {
            continue;
        }
        // UCX, NVSHMEM and libfabric use verbs whatever NCCL does, and NCCL_NET=Socket is intentional.
        let verbs_elsewhere = variables
            .own()
            .any(|g| ["UCX_", "NVSHMEM_", "FI_", "OMPI_"].iter().any(|prefix| g.name.starts_with(prefix)))
            || variables
                .container
                .env()
                .iter()
                .filter_map(|e| e.name.as_deref())
                .any(|n| ["NIXL_", "MOONCAKE_", "MC_"].iter().any(|prefix| n.starts_with(prefix)));
        let on_purpose = variables.value("NCCL_NET").is_some_and(|v| v.eq_ignore_ascii_case("Socket"));
        // A script may set it on a branch that never runs.
        let sure = matches!(given.place, Place::Env(_) | Place::Planned);
        let severity =
            if verbs_elsewhere || on_purpose || !sure { Severity::Warning } else { Severity::Error };
        findings.add_as(
            severity,
            variables.path(given),
            format!("NCCL_IB_DISABLE={}{} with an RDMA device: NCCL runs over TCP, and the NIC stays reserved and idle", printable(text, 20), variables.place(given)),
            "Remove NCCL_IB_DISABLE; its default is 0.",
        );
    }
}
