//! A short print of a profile, by which a pod can tell later whether its profile is still the one it was made with.

use super::resolved::Profile;

/// Annotation of a pod that was changed: `PROFILE@PRINT`. It is for people and for `why`; nothing is decided by it.
pub const INJECTED_ANNOTATION: &str = "fabric-admission.dev/injected";

/// The mark of a profile as it is.
#[must_use]
pub fn mark(profile: &Profile) -> String {
    format!("{}@{}", profile.name, profile.print)
}
