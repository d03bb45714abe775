//! What changes set, in a few words, for warnings.

use crate::plan::{Edit, GKE_DOMAIN, ULIMITS_ANNOTATION};
use crate::pod::which_containers_webhook_added::{MONITOR_CONTAINER, PREFLIGHT_CONTAINER};
use crate::text::Count;
use std::fmt::Write;

/// Kinds of things that changes set, in a few words.
pub(super) fn kinds_of_changes_in_words<'a>(edits: impl Iterator<Item = &'a Edit>) -> String {
    let mut kinds = [false; 9];
    let mut insert = |kind: usize| kinds.iter_mut().skip(kind).take(1).for_each(|found| *found = true);
    let (mut env, mut lines, mut files) = (0, 0, 0);
    for edit in edits {
        match edit {
            Edit::Networks { .. } => insert(0),
            Edit::Quantity { .. } => insert(1),
            Edit::Capability { .. } => insert(2),
            Edit::ShmVolume { .. } | Edit::ShmMount { .. } => insert(3),
            Edit::NodeSelector { .. } => insert(4),
            Edit::NodeRequirement { .. } => insert(5),
            Edit::Env { .. } => env += 1,
            Edit::File { variables, .. } if !variables.is_empty() => lines += variables.len(),
            Edit::File { .. } => files += 1,
            Edit::Annotation { key, .. } if key.starts_with(ULIMITS_ANNOTATION) => insert(6),
            Edit::Annotation { key, .. } if key.starts_with(GKE_DOMAIN) => insert(0),
            // These only carry other changes.
            Edit::InitContainer { name, .. } if *name == PREFLIGHT_CONTAINER => insert(7),
            Edit::InitContainer { name, .. } if *name == MONITOR_CONTAINER => insert(8),
            Edit::Annotation { .. }
            | Edit::FilesVolume { .. }
            | Edit::FileMount { .. }
            | Edit::InPodVolume { .. }
            | Edit::InitContainer { .. } => {}
        }
    }
    let names = [
        "networks",
        "RDMA resources",
        "IPC_LOCK",
        "/dev/shm",
        "node selector",
        "node affinity",
        "memlock",
        "preflight",
        "monitor",
    ];
    let mut text = String::with_capacity(128);
    for (name, _) in names.iter().zip(kinds).filter(|(_, found)| *found) {
        text.push_str(if text.is_empty() { "" } else { ", " });
        text.push_str(name);
    }
    for (n, noun, place) in
        [(env, "variable", ""), (lines, "variable", " in /etc/nccl.conf"), (files, "file", "")]
    {
        if n > 0 {
            text.push_str(if text.is_empty() { "" } else { ", " });
            // Writing into a String does not fail.
            let _ = write!(text, "{}{place}", Count(n, noun));
        }
    }
    if text.is_empty() { "file mounts".to_owned() } else { text }
}
