//! Variables of a profile that do not reach the ranks, in words.

use crate::plan::{NCCL_CONF_PATH, VariablesLeftOut};
use crate::profile::Profile;
use crate::text::listed;

/// The variables, by name as far as a warning has room.
pub(super) fn names(left: &VariablesLeftOut) -> String {
    match left.names.as_slice() {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        few => listed(few),
    }
}

pub(super) fn no_file(left: &VariablesLeftOut) -> String {
    left.file.as_ref().map_or(String::new(), |r| format!(", and {NCCL_CONF_PATH} {}", r.words()))
}

/// The variables as a line to copy, each behind a prefix such as `-x `.
pub(super) fn assignments(profile: &Profile, left: &VariablesLeftOut, prefix: &str) -> String {
    let entries = profile.env.iter().filter(|e| left.names.iter().any(|name| **name == *e.name));
    entries.map(|e| format!("{prefix}{}={}", e.name, e.value)).take(8).collect::<Vec<_>>().join(" ")
}
