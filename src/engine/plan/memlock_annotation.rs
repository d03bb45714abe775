//! The memlock limit by annotation, if a profile says that the NRI plugin ulimit-adjuster runs on its nodes. It works
//! for any user and needs no capability, so Pod Security admits it.

use super::{Change, Edit, Target};
use crate::multus::parse_networks_annotation::is_dns_label;
use crate::pod::PodView;
use crate::profile::{Memlock, Profile};
use std::collections::{BTreeMap, BTreeSet};

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
pub(super) fn plan_and_list_lifted_targets(
    pod: &PodView<'_>,
    profile: &Profile,
    targets: &[Target],
) -> (Vec<Change>, BTreeSet<usize>) {
    let mut lifted = BTreeSet::new();
    if profile.memlock != Some(Memlock::Nri) {
        return (Vec::new(), lifted);
    }
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut own = OwnMemlockAnnotations::default();
    for target in targets {
        let Some(container) = pod.containers().get(target.index) else { continue };
        let name = container.name();
        match own.has_memlock_annotation(pod, name) {
            Some(true) => drop(lifted.insert(target.index)),
            None if name.len() <= LONGEST_NAME && is_dns_label(name) => {
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
        reason: "RDMA pins memory beyond the runtime's memlock limit; the NRI plugin lifts this limit".into(),
    };
    (named.into_iter().map(change).collect(), lifted)
}

/// App containers whose limit the plugin sets, by the planned changes of the pod or by its own annotations.
pub(super) fn containers_with_lifted_memlock(pod: &PodView<'_>, planned: &[Change]) -> BTreeSet<usize> {
    let named = |change: &'_ Change| match &change.edit {
        Edit::Annotation { key, .. } => key.strip_prefix(ULIMITS_ANNOTATION).map(str::to_owned),
        _ => None,
    };
    let planned: BTreeSet<String> = planned.iter().filter_map(named).collect();
    let mut own = OwnMemlockAnnotations::default();
    let apps = pod.containers().iter().enumerate();
    apps.filter(|(_, c)| {
        planned.contains(c.name()) || own.has_memlock_annotation(pod, c.name()) == Some(true)
    })
    .map(|(index, _)| index)
    .collect()
}

/// The pod's own annotations, each read once, however many containers have its name.
#[derive(Default)]
struct OwnMemlockAnnotations<'p>(BTreeMap<&'p str, Option<bool>>);

impl<'p> OwnMemlockAnnotations<'p> {
    /// Whether the annotation of a container has memlock; `None` without an annotation.
    fn has_memlock_annotation(&mut self, pod: &'p PodView<'_>, name: &'p str) -> Option<bool> {
        let keys = [NEWER_ANNOTATION, ULIMITS_ANNOTATION];
        let value = || keys.iter().find_map(|key| pod.annotation(&format!("{key}{name}")));
        *self.0.entry(name).or_insert_with(|| value().map(has_memlock))
    }
}

/// Whether a list of limits has memlock, which the plugin accepts in any case and with or without its prefix. The
/// user decides on the amount.
fn has_memlock(value: &str) -> bool {
    let word = "memlock";
    let starts = |at: usize| value.as_bytes().get(at..at + word.len());
    memchr::memchr2_iter(b'm', b'M', value.as_bytes())
        .any(|at| starts(at).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes())))
}
