//! Volumes, mounts and containers by name. A pod may have thousands of volumes and mounts, so that one search per mount would take
//! seconds.

use super::place_index::FEW;
use super::pod_fields::{Container, DownwardApi, PodView, Volume, VolumeMount};

impl<'a> PodView<'a> {
    /// The volume with a name. If two have the same name, which the API server refuses, the first counts.
    #[must_use]
    pub fn volume(&self, name: &str) -> Option<&Volume<'a>> {
        self.volumes().get(self.volume_index(name)?)
    }

    /// The index of that volume.
    pub(crate) fn volume_index(&self, name: &str) -> Option<usize> {
        let volumes = self.volumes();
        let name_of = |place: usize| volumes.get(place).and_then(|v| v.name.as_deref());
        if volumes.len() < FEW {
            return volumes.iter().position(|v| v.name.as_deref() == Some(name));
        }
        self.spec.as_ref()?.by_name.places(volumes.len(), name_of, name).next()
    }

    /// The container with a name, of the app containers at first; the first of them if several have it.
    #[must_use]
    pub fn container_named(&self, name: &str) -> Option<&Container<'a>> {
        let (apps, inits) = (self.containers(), self.init_containers());
        let length = apps.len() + inits.len();
        if length < FEW {
            return apps.iter().chain(inits).find(|c| c.name() == name);
        }
        let at = |place: usize| apps.get(place).or_else(|| inits.get(place.checked_sub(apps.len())?));
        let name_of = |place: usize| at(place).map(Container::name);
        at(self.spec.as_ref()?.by_container.places(length, name_of, name).next()?)
    }
}

impl<'a> Container<'a> {
    /// The mount at a path, without regard to trailing slashes.
    #[must_use]
    pub fn mount_at(&self, path: &str) -> Option<(usize, &VolumeMount<'a>)> {
        let mut mounts = self.volume_mounts().iter().enumerate();
        mounts.find(|(_, m)| m.mount_path.as_deref().is_some_and(|p| is_with_slashes(p, path)))
    }

    /// Its image, and the paths of its mounts.
    pub(crate) fn image_and_mount_paths(&self) -> impl Iterator<Item = &str> {
        let paths = self.volume_mounts().iter().filter_map(|mount| mount.mount_path.as_deref());
        self.image.as_deref().into_iter().chain(paths)
    }

    /// Whether a raw block device has a path, without regard to trailing slashes. No mount may have the same path
    /// (k8s.io/kubernetes pkg/apis/core/validation, ValidateVolumeMounts).
    #[must_use]
    pub fn has_device_at(&self, path: &str) -> bool {
        let devices = self.volume_devices.as_deref().unwrap_or_default();
        devices.iter().any(|d| d.device_path.as_deref().is_some_and(|p| is_with_slashes(p, path)))
    }
}

/// Whether a text is a path, perhaps with slashes behind it. Only a text that begins with the path is read to its end.
fn is_with_slashes(text: &str, path: &str) -> bool {
    text.strip_prefix(path).is_some_and(|rest| rest.bytes().all(|byte| byte == b'/'))
}

/// Most items of a downward-API volume that are read. Ours have at most nine: the files of a profile and `nccl.conf`.
const MAX_ITEMS: usize = 64;

impl DownwardApi<'_> {
    /// The path in the volume of the first item that shows a field.
    #[must_use]
    pub fn path_showing_field(&self, field: &str) -> Option<&str> {
        let items = self.items.as_deref()?;
        let items = items.get(..MAX_ITEMS).unwrap_or(items);
        let field_of =
            |place: usize| items.get(place).and_then(|i| i.field_ref.as_ref()?.field_path.as_deref());
        let place = match items.len() < FEW {
            true => (0..items.len()).find(|place| field_of(*place) == Some(field))?,
            false => self.by_field.places(items.len(), field_of, field).next()?,
        };
        items.get(place)?.path.as_deref().filter(|path| !path.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_container_of_a_name_counts_among_few_and_many() {
        for others in [0, 40] {
            let others: String = (0..others).map(|i| format!(r#"{{"name":"c{i}"}},"#)).collect();
            let json = format!(
                r#"{{"spec":{{"containers":[{others}{{"name":"a","image":"1"}},{{"name":"a","image":"2"}}],
                    "initContainers":[{{"name":"a","image":"3"}},{{"name":"b","image":"4"}}]}}}}"#
            );
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            let image = |name| pod.container_named(name).and_then(|c| c.image.as_deref());
            assert_eq!([image("a"), image("b"), image("z")], [Some("1"), Some("4"), None], "{json}");
        }
    }

    #[test]
    fn the_first_of_a_name_counts_among_few_and_many() {
        for others in [0, 40] {
            let mut names: Vec<String> = (0..others).map(|i| format!("v{i}")).collect();
            names.extend(["b", "a", "b"].map(str::to_owned));
            let listed: Vec<String> = names
                .iter()
                .enumerate()
                .map(|(i, n)| format!(r#"{{"name":"{n}","emptyDir":{{"medium":"{i}"}}}}"#))
                .collect();
            let json = format!(r#"{{"spec":{{"volumes":[null,{}]}}}}"#, listed.join(","));
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            let medium = |name| {
                let volume = pod.volume(name)?;
                volume.empty_dir.as_ref()?.medium.as_deref().map(str::to_owned)
            };
            assert_eq!(medium("b"), Some(others.to_string()));
            assert_eq!(medium("a"), Some((others + 1).to_string()));
            assert_eq!(medium("c"), None);
        }
    }
}
