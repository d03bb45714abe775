//! Pods in the node's network namespace, under a profile that reaches its NICs there: no CNI plugin is called for
//! them, and interfaces have the node's names.

use crate::profile::EnvEntry;

/// Whether a variable names interfaces, by its own name or by its value. A pod's names (`eth0`, `rail0`) are not the
/// node's, and NCCL stops where none matches: `no socket interface found`.
pub(super) fn name_or_value_has_interface(entry: &EnvEntry) -> bool {
    let of_pod = |name: &str| {
        ["eth", "net", "rail"].iter().any(|stem| {
            let number = name.strip_prefix(stem);
            number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    let value = entry.value.trim_start_matches(['=', '^']);
    entry.name.ends_with("SOCKET_IFNAME")
        || entry.name.ends_with("_if_include")
        || entry.name.ends_with("_if_exclude")
        || value.split(',').any(of_pod)
}
