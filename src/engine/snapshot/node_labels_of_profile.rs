//! The labels of nodes that a profile asks for, as sets, made once: a pod may list thousands of values, and each is looked
//! up instead of compared.

use crate::nodes::{CombinedConditions, LabelRequirement};
use crate::profile::Profile;
use crate::profile::schema::LabelSelector;
use std::collections::BTreeMap;

/// The conditions of a profile, label by label.
pub(crate) type ConditionsByNodeLabel = BTreeMap<Box<str>, CombinedConditions<Box<str>>>;

/// The labels that a profile asks for.
#[derive(Debug)]
pub(crate) struct NodeLabelsOfProfile {
    /// Of its node selector.
    pub(crate) selector: ConditionsByNodeLabel,
    /// Of its instance types.
    pub(crate) types: ConditionsByNodeLabel,
    /// Of both together, where it has both.
    both: Option<ConditionsByNodeLabel>,
}

impl NodeLabelsOfProfile {
    /// Those of a profile; `None` where it has no condition on nodes.
    pub(super) fn of(profile: &Profile) -> Option<Self> {
        if !profile.has_node_requirements() {
            return None;
        }
        let selector = by_label(profile.node_selector.iter().flat_map(LabelSelector::label_requirements));
        let types = by_label(profile.instance_type_requirement().into_iter());
        let joined = !selector.is_empty() && !types.is_empty();
        let both = joined.then(|| by_label(profile.all_node_requirements()));
        Some(Self { selector, types, both })
    }

    /// All its conditions.
    pub(crate) fn all_conditions(&self) -> &ConditionsByNodeLabel {
        self.both.as_ref().unwrap_or(if self.selector.is_empty() { &self.types } else { &self.selector })
    }
}

fn by_label<'a>(requirements: impl Iterator<Item = LabelRequirement<'a>>) -> ConditionsByNodeLabel {
    let mut labels = ConditionsByNodeLabel::new();
    for requirement in requirements {
        labels.entry(requirement.key.into()).or_default().add_requirement(requirement);
    }
    labels
}
