//! FAB505: /dev/shm larger than the memory it is charged to.

use super::shm_volumes::mounted;
use crate::plan::SHM_PATH;
use crate::pod::{Bytes, Quantity};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB505", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for volume in mounted(context) {
        let (path, size) = match (volume.volume, volume.planned) {
            (Some((index, v)), _) => {
                let Some(empty_dir) = v.empty_dir.as_ref().filter(|_| v.host_path.is_none()) else {
                    continue;
                };
                if empty_dir.medium.as_deref() != Some("Memory") {
                    continue;
                }
                // A text that is no quantity FAB501 tells; zero is no limit.
                let text = empty_dir.size_limit.as_ref();
                let size = match text.map(|t| Quantity::parse(&t.0).map(Quantity::units)) {
                    Some(Err(_)) => continue,
                    Some(Ok(size)) => Some(size).filter(|n| *n > 0),
                    None => None,
                };
                (format!("/spec/volumes/{index}/emptyDir"), size)
            }
            (None, Some((index, size))) => (format!("/spec/volumes/{index}/emptyDir"), Some(size)),
            (None, None) => continue,
        };
        match (size, volume.limit) {
            (Some(size), Some(limit)) if size > limit => findings.add(
                path,
                format!(
                    "{SHM_PATH} of {} is more than the memory limit of {}: the container is killed before it is full",
                    Bytes(size),
                    Bytes(limit)
                ),
                format!("raise the memory limit by {}, or lower sizeLimit", Bytes(size)),
            ),
            (None, None) => findings.add_as(
                Severity::Info,
                path,
                format!("{SHM_PATH} has no sizeLimit and its containers no memory limit: it may take the node's memory"),
                "set sizeLimit, such as 8Gi an accelerator",
            ),
            _ => {}
        }
    }
}
