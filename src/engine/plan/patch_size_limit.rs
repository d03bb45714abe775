//! How large a patch may become: what a profile adds to each target, times the targets.

use crate::profile::Profile;
use crate::profile::schema::{EnvPolicy, Inject};
use std::collections::BTreeSet;

/// Most bytes that the variables and resources of a profile take in all targets together. The API server sends the pod
/// to etcd, which refuses objects of more than 1.5 MiB (etcd `--max-request-bytes`), and the patch is in memory as
/// changes, as operations and as the answer.
const MAX_BYTES_OF_ALL_TARGETS: usize = 512 << 10;
/// A container's mounts, and the names of its fields (bytes).
const CONTAINER: usize = 400;
/// JSON around a variable or a quantity (bytes).
const AROUND: usize = 64;
/// What the reason of a variable for some versions of NCCL says of the version (bytes).
const VERSION: usize = 48;
/// Targets that a pod may always have. A node has 16 accelerators or fewer, and a pod seldom more than one target.
pub(super) const TARGETS_ALWAYS_ALLOWED: usize = 16;

/// Most containers with accelerators of a pod that gets a profile.
pub(super) fn most_targets(profile: &Profile) -> usize {
    let variables =
        profile.env.iter().filter(|e| e.policy != EnvPolicy::Forbid && profile.inject == Inject::Full);
    let variables = variables.map(|e| {
        // Such a reason is written for each container; all share any other.
        let reason = e.from.or(e.before).map_or(0, |_| e.reason.len() + VERSION);
        e.name.len() + e.value.len() + reason + AROUND
    });
    let of_rails = profile.rails.iter().filter_map(|rail| rail.resource.as_deref());
    let names: BTreeSet<&str> = of_rails.chain(profile.resources.iter().map(|r| r.name.as_str())).collect();
    // In limits and in requests.
    let resources = names.into_iter().map(|name| 2 * (name.len() + AROUND));
    let each = CONTAINER + variables.sum::<usize>() + resources.sum::<usize>();
    (MAX_BYTES_OF_ALL_TARGETS / each).max(TARGETS_ALWAYS_ALLOWED)
}
