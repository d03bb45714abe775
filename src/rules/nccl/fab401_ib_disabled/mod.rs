//! FAB401: NCCL_IB_DISABLE switches verbs off on a container that asks for RDMA.

use super::given::Place;
use super::transport::pins_verbs;
use crate::nccl::number::{is_open, leading_number};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule =
    Rule { id: "FAB401", severity: Severity::Error, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for spoken in context.spoken() {
        let index = spoken.index;
        let off = spoken.last("NCCL_IB_DISABLE").and_then(|g| Some((g, g.value.as_deref()?)));
        let Some((given, text)) = off else { continue };
        if is_open(text)
            || leading_number(text) == 0
            || !context.has_rdma(index)
            || pins_verbs(spoken).is_some()
        {
            continue;
        }
        // A plugin brings its own transport and does not ask this variable.
        let named = |name, builtin: &[&str]| match spoken.last(name).map(|g| g.value.as_deref()) {
            Some(Some(v)) => !v.is_empty() && !builtin.iter().any(|b| v.eq_ignore_ascii_case(b)),
            Some(None) => true,
            None => false,
        };
        if named("NCCL_NET", &["IB", "Socket"]) || named("NCCL_NET_PLUGIN", &["none"]) {
            continue;
        }
        // UCX, NVSHMEM and libfabric use verbs whatever NCCL does, and NCCL_NET=Socket is said on purpose.
        let verbs_elsewhere = spoken
            .own()
            .any(|g| ["UCX_", "NVSHMEM_", "FI_", "OMPI_"].iter().any(|prefix| g.name.starts_with(prefix)))
            || spoken
                .container
                .env()
                .iter()
                .filter_map(|e| e.name.as_deref())
                .any(|n| ["NIXL_", "MOONCAKE_", "MC_"].iter().any(|prefix| n.starts_with(prefix)));
        let on_purpose = spoken.value("NCCL_NET").is_some_and(|v| v.eq_ignore_ascii_case("Socket"));
        // What a script sets it may set on a branch that is never taken.
        let sure = matches!(given.place, Place::Env(_) | Place::Planned);
        let severity =
            if verbs_elsewhere || on_purpose || !sure { Severity::Warning } else { Severity::Error };
        findings.add_as(
            severity,
            spoken.path(given),
            format!("NCCL_IB_DISABLE={}{} with an RDMA device: NCCL runs over TCP, the NIC is reserved for nothing", printable(text, 20), spoken.place(given)),
            "drop NCCL_IB_DISABLE; its default is 0",
        );
    }
}
