//! Variables of a profile that do not reach the ranks, in words.

use crate::plan::{NCCL_CONF_PATH, VariablesLeftOut};
use crate::profile::Profile;
use crate::text::names_in_sentence;

/// The variables, by name as far as a warning has room.
pub(super) fn first_names_in_words(left: &VariablesLeftOut) -> String {
    match left.names.as_slice() {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        few => names_in_sentence(few),
    }
}

pub(super) fn why_no_file_in_words(left: &VariablesLeftOut) -> String {
    left.file.as_ref().map_or(String::new(), |r| format!(", and {NCCL_CONF_PATH} {}", r.words()))
}

/// The variables as a line to copy, each behind a prefix such as `-x `.
pub(super) fn assignments_to_copy(profile: &Profile, left: &VariablesLeftOut, prefix: &str) -> String {
    let entries = profile.env.iter().filter(|e| left.names.iter().any(|name| **name == *e.name));
    entries.map(|e| format!("{prefix}{}={}", e.name, e.value)).take(8).collect::<Vec<_>>().join(" ")
}
