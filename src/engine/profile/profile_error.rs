//! Why a profile cannot be used.

/// Why a profile cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("FabricProfile {profile:?}: {message}")]
pub struct ProfileError {
    /// Name of the profile.
    pub profile: String,
    /// JSON pointer of the value.
    pub pointer: String,
    /// The problem and the expected value.
    pub message: String,
}

/// Makes an error about a profile from a JSON pointer and a message.
pub(super) type Fail<'a> = dyn Fn(&str, String) -> ProfileError + 'a;
