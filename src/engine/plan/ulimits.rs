//! The memlock limit by annotation, if a profile says that the NRI plugin ulimit-adjuster runs on its nodes. It works
//! for any user and needs no capability, so Pod Security admits it.

use super::{Change, Edit, Target};
use crate::multus::annotation::is_label;
use crate::pod::{Container, PodView};
use crate::profile::{Memlock, Profile};
use std::collections::BTreeSet;

/// Annotation that the plugin reads, without the container's name. Newer versions of the plugin deprecate it and
/// still read it; older versions read only this one (containerd/nri plugins/ulimit-adjuster/adjuster.go).
pub(crate) const ULIMITS_ANNOTATION: &str = "ulimits.nri.containerd.io/container.";
/// The newer name, which wins where a pod has both.
const NEWER_ANNOTATION: &str = "ulimits.noderesource.dev/container.";
/// `RLIM_INFINITY` of Linux: the plugin takes only 64-bit numbers.
const UNLIMITED: &str = "[{type: RLIMIT_MEMLOCK, hard: 18446744073709551615, soft: 18446744073709551615}]";
/// The API server accepts 63 characters after the slash (k8s.io/apimachinery pkg/util/validation, IsQualifiedName).
const LONGEST_NAME: usize = 63 - "container.".len();

/// The annotations, and the targets whose limit is lifted: by ours or by the pod's own. Where the pod has an
/// annotation that says nothing of memlock, and where the name of the container is too long for a key, it is not.
pub(super) fn plan(
    pod: &PodView<'_>,
    profile: &Profile,
    targets: &[Target],
) -> (Vec<Change>, BTreeSet<usize>) {
    let mut lifted = BTreeSet::new();
    if profile.memlock != Some(Memlock::Nri) {
        return (Vec::new(), lifted);
    }
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for target in targets {
        let Some(container) = pod.containers().get(target.index) else { continue };
        let name = container.name();
        match own(pod, name) {
            Some(value) if lifts(value) => drop(lifted.insert(target.index)),
            None if name.len() <= LONGEST_NAME && is_label(name) => {
                lifted.insert(target.index);
                named.insert(name);
            }
            _ => {}
        }
    }
    let change = |name| Change {
        edit: Edit::Annotation {
            key: format!("{ULIMITS_ANNOTATION}{name}").into(),
            value: UNLIMITED.to_owned(),
            present: false,
        },
        reason: "RDMA pins memory beyond the runtime's memlock limit; the NRI plugin lifts this limit"
            .to_owned(),
    };
    (named.into_iter().map(change).collect(), lifted)
}

/// Whether the unpatched pod has the plugin set the limit of a container.
pub(super) fn is_set(pod: &PodView<'_>, container: &Container<'_>) -> bool {
    own(pod, container.name()).is_some_and(lifts)
}

fn own<'p>(pod: &'p PodView<'_>, name: &str) -> Option<&'p str> {
    let keys = [NEWER_ANNOTATION, ULIMITS_ANNOTATION];
    keys.iter().find_map(|key| pod.annotation(&format!("{key}{name}")))
}

/// Whether a list of limits has memlock, which the plugin accepts in any case and with or without its prefix. The
/// user decides on the amount.
fn lifts(value: &str) -> bool {
    value.to_ascii_lowercase().contains("memlock")
}
