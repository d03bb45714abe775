//! The containers that profiles hold for.

use crate::pod::pod_fields::Container;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;

/// A container that a profile is for.
pub(super) struct ComparedContainer<'a> {
    pub(super) container: &'a Container<'a>,
    /// Its number, if it is an app container.
    pub(super) app: Option<usize>,
    /// Its number in its list.
    index: usize,
    /// Whether the webhook adds the profile's variables to it.
    pub(super) target: bool,
    /// Whether only a claim that is not known can be for its accelerators, while other containers request some.
    pub(super) only_unread: bool,
}

impl ComparedContainer<'_> {
    /// JSON pointer of the container.
    pub(super) fn path(&self) -> String {
        match self.app {
            Some(_) => pointers_in_pod::container(self.index),
            None => format!("/spec/initContainers/{}", self.index),
        }
    }
}

/// The containers that get the profile's variables, and those that compute: the list in an annotation says where the webhook
/// adds something, and a job can run in an init container or a native sidecar.
pub(super) fn compared_containers<'a>(
    context: &'a PodContext<'_>,
) -> impl Iterator<Item = ComparedContainer<'a>> {
    let (pod, demands) = (context.pod(), &context.subject.demands);
    let nobody = !demands.requests_any_accelerator();
    let apps = pod.containers().iter().enumerate().filter_map(move |(index, container)| {
        // A claim that cannot be read may be for accelerators, whatever the container's name.
        let unread = demands.has_unknown_claim(index);
        let target = context.is_target_or_requests_accelerators_without_plan(index);
        let computes = target || demands.of_app_container(index).any;
        let only_unread = !computes && !nobody;
        (computes || unread).then_some(ComparedContainer {
            container,
            app: Some(index),
            index,
            target,
            only_unread,
        })
    });
    let inits = pod.init_containers().iter().enumerate();
    let inits = inits.filter(move |(index, _)| {
        demands.of_init_container(*index).any || demands.init_has_unknown_claim(*index)
    });
    let inits = inits.map(move |(index, container)| ComparedContainer {
        container,
        app: None,
        index,
        target: false,
        only_unread: !demands.of_init_container(index).any,
    });
    apps.chain(inits)
}
