//! A pod template of a workload on the way to its decision.

use super::decide_pod::ExaminedPod;
use crate::json::decode_with_place::DecodeError;
use crate::pod::PodView;
use crate::pod::is_multi_node::MultiNodeEvidence;
use crate::pod::templates_by_shape::Template;
use std::rc::Rc;

/// A template with its pod, and what was found about it.
pub(super) struct SeenTemplate<'p> {
    /// The template in the text of the workload.
    pub(super) template: &'p Template<'p>,
    /// Its pod; an error where a field cannot be read.
    pub(super) pod: &'p Result<PodView<'p>, DecodeError>,
    /// Whether its pods work together, as the object around it says.
    pub(super) gang: Option<&'p MultiNodeEvidence>,
    pub(super) state: State<'p>,
}

/// How far a template is decided.
#[derive(Clone)]
pub(super) enum State<'p> {
    /// Nothing about the pod matters, or it cannot be read.
    Unseen,
    /// What was found about the pod. It is compared with the other templates, and then judged.
    Examined(Rc<ExaminedPod<'p>>),
    /// The templates before it have so many planned changes that it is judged already, and not compared.
    Judged,
    /// The templates before it took so much work that it is not checked.
    Unchecked,
}

impl<'p> SeenTemplate<'p> {
    /// What was found about the pod, where it is compared with the other templates.
    pub(super) fn examined_if_still_compared(&self) -> Option<&ExaminedPod<'p>> {
        match &self.state {
            State::Examined(examined) => Some(examined),
            _ => None,
        }
    }

    /// What was found about a pod that a profile may be for.
    pub(super) fn examined_if_may_get_profile(&self) -> Option<&ExaminedPod<'p>> {
        self.examined_if_still_compared().filter(|examined| examined.may_get_profile())
    }
}
