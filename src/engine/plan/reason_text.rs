//! Why something is changed, in a few words. Most reasons are fixed or the profile's, and a copy of them costs nothing.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Why something is changed.
#[derive(Clone)]
pub enum Reason {
    /// The same for every pod.
    Fixed(&'static str),
    /// Shared by several changes, or with the profile.
    Shared(Arc<str>),
    /// For this change.
    Own(String),
}

impl Deref for Reason {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Self::Fixed(text) => text,
            Self::Shared(text) => text,
            Self::Own(text) => text,
        }
    }
}

impl From<&'static str> for Reason {
    fn from(text: &'static str) -> Self {
        Self::Fixed(text)
    }
}

impl From<&Arc<str>> for Reason {
    fn from(text: &Arc<str>) -> Self {
        Self::Shared(Arc::clone(text))
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::Own(text)
    }
}

impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Reason {}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
