//! The mark of an injected pod: its profile and the fingerprint of the settings, to show later whether they have changed.

use super::checked_profile::Profile;

/// Annotation of a pod that was changed: `PROFILE@FINGERPRINT`. It is for people and for `why`; nothing is decided by it.
pub const INJECTED_ANNOTATION: &str = "fabric-admission.dev/injected";

/// The mark of a profile as it is.
#[must_use]
pub fn injected_mark_of(profile: &Profile) -> String {
    [&profile.name, "@", &profile.fingerprint].concat()
}
