//! Where the fields of a pod can be read again as they stand.

/// The text that a pod was read from.
#[derive(Debug, Clone, Copy, Default)]
pub enum TextOfPod<'a> {
    /// Not known.
    #[default]
    Unknown,
    /// The pod or pod template.
    Pod(&'a str),
    /// An AdmissionReview, whose `request.object` is the pod.
    Review(&'a str),
}
