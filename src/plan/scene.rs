//! The input of planning.

use super::names::INJECT_ANNOTATION;
use crate::demands::Demands;
use crate::facts::NamespaceFacts;
use crate::multus::{AnnotationError, Networks};
use crate::pod::PodView;
use crate::snapshot::Snapshot;

/// Everything that planning reads.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The pod or pod template.
    pub pod: &'a PodView<'a>,
    /// The accelerators that its containers request.
    pub demands: &'a Demands,
    /// Its networks annotation; an error if it cannot be read.
    pub networks: Option<&'a Result<Networks<'a>, AnnotationError>>,
    /// Its namespace.
    pub namespace: &'a str,
    /// Known facts about the namespace.
    pub namespace_facts: Option<&'a NamespaceFacts>,
    /// All other known facts.
    pub snapshot: &'a Snapshot,
    /// Whether the pod's ranks are known to be started over ssh.
    pub ranks_over_ssh: bool,
    /// Whether the pod is kept to the profile's nodes even if the profile does not require it.
    pub pin: bool,
}

impl Scene<'_> {
    /// Whether the pod requests the profile's networks and units beside another fabric.
    pub(crate) fn injects_in_full(&self) -> bool {
        self.pod.annotation(INJECT_ANNOTATION) == Some("full")
    }
}
