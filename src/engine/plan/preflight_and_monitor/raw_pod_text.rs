//! Whole fields of a pod as they stand in its text: a copy keeps fields that are newer than the read model.

use crate::pod::pod_fields::{PodView, TextOfPod};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A container.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RawContainer<'a> {
    #[serde(borrow)]
    pub(super) image: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) image_pull_policy: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) security_context: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) env: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) env_from: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) volume_mounts: Option<Vec<&'a RawValue>>,
    pub(super) ports: Option<Vec<Option<RawPort>>>,
}

impl RawContainer<'_> {
    /// Length of the fields that preflight copies (bytes).
    pub(super) fn copied_bytes(&self) -> usize {
        let length = |value: &RawValue| value.get().len();
        let single = [self.image, self.image_pull_policy, self.security_context, self.env_from];
        let listed = [&self.env, &self.volume_mounts].into_iter().flatten().flatten();
        single.into_iter().flatten().chain(listed.copied()).map(length).sum()
    }
}

/// A port.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RawPort {
    container_port: Option<serde_json::Number>,
}

/// The containers of a pod.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RawSpec<'a> {
    #[serde(borrow)]
    containers: Option<Vec<Option<RawContainer<'a>>>>,
    #[serde(borrow)]
    init_containers: Option<Vec<Option<RawContainer<'a>>>>,
}

#[derive(Deserialize)]
struct RawPod<'a> {
    #[serde(borrow)]
    spec: RawSpec<'a>,
}

#[derive(Deserialize)]
struct RawReview<'a> {
    #[serde(borrow)]
    request: RawRequest<'a>,
}

#[derive(Deserialize)]
struct RawRequest<'a> {
    #[serde(borrow)]
    object: RawPod<'a>,
}

impl<'a> RawSpec<'a> {
    /// Reads the text of a pod again; `None` if it is not known, or if serde_json refuses what our reader accepts.
    pub(super) fn of(pod: &PodView<'a>) -> Option<Self> {
        match pod.source {
            TextOfPod::Unknown => None,
            TextOfPod::Pod(text) => crate::json::reader::read::<RawPod<'a>>(text).ok().map(|pod| pod.spec),
            TextOfPod::Review(text) => {
                crate::json::reader::read::<RawReview<'a>>(text).ok().map(|review| review.request.object.spec)
            }
        }
    }

    /// An app container.
    pub(super) fn container(&self, index: usize) -> Option<&RawContainer<'a>> {
        self.containers.as_ref()?.get(index)?.as_ref()
    }

    /// JSON pointer of a container that declares a port. `is_ours`: whether an init container is ours.
    pub(super) fn pointer_of_container_with_port(
        &self,
        port: u16,
        is_ours: impl Fn(usize) -> bool,
    ) -> Option<String> {
        let has = |container: &Option<RawContainer<'a>>| {
            let ports = container.as_ref().and_then(|c| c.ports.as_deref()).unwrap_or_default();
            let number = |p: &Option<RawPort>| p.as_ref()?.container_port.as_ref()?.as_u64();
            ports.iter().any(|p| number(p) == Some(u64::from(port)))
        };
        let apps = self.containers.as_deref().unwrap_or_default();
        let inits = self.init_containers.as_deref().unwrap_or_default();
        let of_app = apps.iter().position(has).map(|index| format!("/spec/containers/{index}"));
        let of_init = || {
            let found = inits.iter().enumerate().find(|(index, c)| !is_ours(*index) && has(c));
            found.map(|(index, _)| format!("/spec/initContainers/{index}"))
        };
        of_app.or_else(of_init)
    }
}

/// The entries of a list that are not null.
pub(super) fn entries<'l>(list: Option<&'l Vec<&RawValue>>) -> impl Iterator<Item = (usize, &'l str)> {
    let all = list.into_iter().flatten().map(|value| value.get()).enumerate();
    all.filter(|(_, text)| *text != "null")
}
