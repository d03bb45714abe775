//! FAB505: /dev/shm with a sizeLimit above the memory limit of its containers.

use crate::plan::SHM_PATH;
use crate::pod::{Bytes, Quantity};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB505",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the node's memory may be enough")],
    quiet: true,
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for volume in context.shm_volumes() {
        let (index, size) = match (volume.volume, volume.planned) {
            (Some((index, v)), _) => {
                let Some(empty_dir) = v.empty_dir.as_ref().filter(|_| v.host_path.is_none()) else {
                    continue;
                };
                if empty_dir.medium.as_deref() != Some("Memory") {
                    continue;
                }
                // FAB501 reports a text that is not a quantity; zero means no limit.
                let text = empty_dir.size_limit.as_ref();
                let size = match text.map(|t| Quantity::parse(&t.0).map(Quantity::units_rounded_up)) {
                    Some(Err(_)) => continue,
                    Some(Ok(size)) => Some(size).filter(|n| *n > 0),
                    None => None,
                };
                (index, size)
            }
            (None, Some((index, size))) => (index, Some(size)),
            (None, None) => continue,
        };
        let path = || format!("/spec/volumes/{index}/emptyDir");
        match (size, volume.limit) {
            (Some(size), Some(limit)) if size > limit => findings.add(
                path(),
                format!(
                    "{SHM_PATH} has sizeLimit {}, but the memory limit is {}: the kernel kills the container before the volume is full",
                    Bytes(size),
                    Bytes(limit)
                ),
                format!("Set sizeLimit: {}, or add {} to the memory limit.", Bytes(limit / 2), Bytes(size)),
            ),
            (None, None) => findings.add_with_severity(
                Severity::Info,
                path(),
                format!("{SHM_PATH} has no sizeLimit, and the containers that mount it have no memory limit: the volume can use up the node's memory"),
                "Set sizeLimit, for example 8Gi per accelerator.",
            ),
            _ => {}
        }
    }
}
