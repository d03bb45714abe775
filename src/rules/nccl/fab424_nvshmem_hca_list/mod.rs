//! FAB424: NVSHMEM_HCA_LIST that is not used.

use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB424", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    const MAPPING: &str = "NVSHMEM_ENABLE_NIC_PE_MAPPING";
    for spoken in context.spoken() {
        let listed =
            spoken.said("NVSHMEM_HCA_LIST").filter(|g| g.value.as_deref().is_none_or(|v| !v.is_empty()));
        let Some(given) = listed else { continue };
        let off = |v: &str| matches!(v.to_ascii_lowercase().as_str(), "0" | "n" | "no" | "false" | "off");
        let unused = spoken.lacks(MAPPING) || spoken.value(MAPPING).is_some_and(off);
        if unused {
            findings.add(
                spoken.path(given),
                format!("NVSHMEM_HCA_LIST{}: not used without {MAPPING}=1", spoken.place(given)),
                format!("set {MAPPING}=1, or drop the list"),
            );
        }
    }
}
