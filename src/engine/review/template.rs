//! A pod template of a workload on the way to its decision.

use super::pod::Examined;
use crate::json::decode::DecodeError;
use crate::pod::PodView;
use crate::pod::gang::Gang;
use crate::pod::templates_by_shape::Template;

/// A template with its pod, and what was found about it.
pub(super) struct SeenTemplate<'p> {
    /// The template in the text of the workload.
    pub(super) template: &'p Template<'p>,
    /// Its pod; an error where a field cannot be read.
    pub(super) pod: &'p Result<PodView<'p>, DecodeError>,
    /// Whether its pods work together, as the object around it says.
    pub(super) gang: Option<&'p Gang>,
    /// What was found about the pod; `None` where it is not looked at, or cannot be read.
    pub(super) examined: Option<Examined<'p>>,
}

impl<'p> SeenTemplate<'p> {
    /// What was found about a pod that a profile may be for.
    pub(super) fn of_profile(&self) -> Option<&Examined<'p>> {
        self.examined.as_ref().filter(|examined| examined.injects())
    }
}
