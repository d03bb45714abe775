//! Limits of the search for pod templates in an object, and the parts that are beyond them.

use std::fmt;

/// Deepest nesting that is searched. An AppWrapper around a PyTorchJob takes
/// eight levels, one around a training runtime twelve.
pub(crate) const MAX_DEPTH: usize = 16;
/// Most templates of an object that are decided on (count); a training job has a handful. Each may be compared with every
/// profile, and an object of 3 MiB has room for fifty thousand.
pub(crate) const MAX_TEMPLATES: usize = 256;
/// Most bytes that are searched: sixteen times 1.5 MiB, the largest object that etcd stores (`--max-request-bytes`). Short
/// objects and lists count again on each level around them.
pub(crate) const MAX_READ: usize = 24 << 20;

/// Most objects and lists with containers somewhere inside that are searched (count). A training job has a few for each of its
/// templates. Each takes a microsecond or more, however short it is.
pub(crate) const MAX_PARTS: usize = 4_096;

/// Most bytes of all templates that are inside another template: each is read again as a pod of its own. An object in etcd has at
/// most 1.5 MiB.
pub(crate) const MAX_NESTED: usize = 2 << 20;

/// Most objects with a kind around each other: an AppWrapper around a training job has two. Each is read once more for what
/// it says of its pods.
pub(crate) const MAX_MAKERS: usize = 4;

/// Longest key and name on the path to a template (bytes). Kubernetes has no longer names; each template has a copy of
/// those on its path.
pub(crate) const MAX_NAME: usize = 253;

/// Most bare specs that are found (count): each is checked as a pod, and an object of a known kind has a few.
pub(crate) const MAX_BARE_SPECS: usize = 16;

/// Longest pointer of a template (bytes). That of a training runtime's pod inside an AppWrapper has about 200; each finding
/// of a template has a copy.
pub(crate) const MAX_POINTER: usize = 1024;

/// A part of an object that is beyond a limit of the search, and may have templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartNotSearched<'a> {
    /// JSON pointer of the part, or of the object with the long key above it.
    pub pointer: String,
    /// Its JSON text.
    pub json: &'a str,
    /// The limit.
    pub limit: SearchLimit,
}

/// A limit of the search for templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchLimit {
    /// `MAX_DEPTH`.
    Depth,
    /// `MAX_READ`.
    Length,
    /// `MAX_PARTS`.
    Parts,
    /// `MAX_NESTED`.
    Nested,
    /// `MAX_NAME` and `MAX_POINTER`.
    Path,
}

impl fmt::Display for SearchLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this part of the object ")?;
        match self {
            Self::Depth => write!(f, "is more than {MAX_DEPTH} levels deep"),
            Self::Length => write!(f, "follows {} MiB of other content", MAX_READ >> 20),
            Self::Parts => write!(f, "follows {MAX_PARTS} other objects and lists that name containers"),
            Self::Nested => write!(
                f,
                "follows {} MiB of pod templates that are inside other pod templates",
                MAX_NESTED >> 20
            ),
            Self::Path => write!(
                f,
                "is below a key of more than {MAX_NAME} bytes, or a path of more than {MAX_POINTER} bytes"
            ),
        }?;
        f.write_str(", so its pod templates are not reviewed: review the objects inside separately")
    }
}
