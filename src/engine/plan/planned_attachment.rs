//! An attachment that a pod will have.

/// One attachment of the final annotation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attachment<'a> {
    /// Resource whose unit it takes.
    pub(super) resource: Option<&'a str>,
    /// Whether its network is one that the profile serves.
    pub(super) rail: bool,
}
