//! Whether a variable of a profile is for the version of NCCL in a container, and where that version is known from.

use crate::nccl::version_of_image::NcclVersion;
use crate::pod::pod_fields::Container;
use crate::profile::schema::EnvPolicy;
use crate::profile::{EnvEntry, Profile};

/// Whether a variable is for the NCCL of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applies {
    Yes,
    No,
    /// It applies to some versions, and the container's version is not known.
    Unknown,
}

/// The version of NCCL in a container, and its source.
pub(super) fn known_nccl_version_and_source(
    container: &Container<'_>,
    profile: &Profile,
) -> Option<(NcclVersion, &'static str)> {
    let named = container.nccl_version_of_image().map(|v| (v, "from the image's name"));
    named.or_else(|| profile.nccl_version.map(|v| (v, "from the profile")))
}

/// Whether a variable is for the NCCL of a container: by the name of its image, else by the profile.
pub(super) fn applies_to_nccl_of_container(
    entry: &EnvEntry,
    container: &Container<'_>,
    profile: &Profile,
) -> Applies {
    within(entry, || known_nccl_version_and_source(container, profile).map(|(version, _)| version))
}

/// Whether a container is checked for a variable. Whoever writes the pod chooses the image's name, so what a profile
/// requires or forbids goes by the profile's own version first.
pub(crate) fn is_checked_by_nccl_version(
    entry: &EnvEntry,
    container: &Container<'_>,
    profile: &Profile,
) -> bool {
    let stated = profile.nccl_version.filter(|_| entry.policy != EnvPolicy::Default);
    within(entry, || {
        stated.or_else(|| known_nccl_version_and_source(container, profile).map(|(version, _)| version))
    }) == Applies::Yes
}

fn within(entry: &EnvEntry, version: impl FnOnce() -> Option<NcclVersion>) -> Applies {
    if entry.from.is_none() && entry.before.is_none() {
        return Applies::Yes;
    }
    let Some(version) = version() else { return Applies::Unknown };
    let within =
        entry.from.is_none_or(|from| version >= from) && entry.before.is_none_or(|before| version < before);
    if within { Applies::Yes } else { Applies::No }
}
