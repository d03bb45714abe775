//! One condition on a label: from a node selector, an affinity term or a profile.

use super::INSTANCE_TYPE_LABEL;
use crate::json::types_of_decoded_fields::Text;
use crate::profile::Profile;
use crate::profile::schema::{self, LabelSelector};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// A condition on the label `key`.
#[derive(Debug, Clone, Copy)]
pub struct LabelRequirement<'a> {
    /// Label key.
    pub key: &'a str,
    /// Relation of the label to `values`.
    pub relation: Relation,
    /// Values.
    pub values: Values<'a>,
}

/// How a label must relate to the values (kubernetes/api core/v1, `NodeSelectorOperator`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// One of them.
    In,
    /// None of them; a node without the label satisfies it.
    NotIn,
    /// Present.
    Exists,
    /// Absent.
    DoesNotExist,
    /// A whole number greater than the one value.
    Gt,
    /// A whole number less than the one value.
    Lt,
}

/// Values of a requirement, borrowed from their owner.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Exactly one.
    One(&'a str),
    /// Of a pod.
    Texts(&'a [Text<'a>]),
    /// Of a profile.
    Strings(&'a [String]),
}

impl<'a> Values<'a> {
    /// Values in order.
    pub fn iter(self) -> impl Iterator<Item = &'a str> {
        let (one, texts, strings): (Option<&str>, &[Text<'_>], &[String]) = match self {
            Self::One(value) => (Some(value), &[], &[]),
            Self::Texts(texts) => (None, texts, &[]),
            Self::Strings(strings) => (None, &[], strings),
        };
        one.into_iter().chain(texts.iter().map(|t| &**t)).chain(strings.iter().map(String::as_str))
    }

    /// Values (count).
    pub(crate) fn len(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Texts(texts) => texts.len(),
            Self::Strings(strings) => strings.len(),
        }
    }

    /// Whether a value is among them.
    #[must_use]
    pub fn contains(self, value: &str) -> bool {
        self.iter().any(|v| v == value)
    }
}

impl Relation {
    /// Reads an operator of a node selector.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "In" => Self::In,
            "NotIn" => Self::NotIn,
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::DoesNotExist,
            "Gt" => Self::Gt,
            "Lt" => Self::Lt,
            _ => return None,
        })
    }
}

impl<'a> LabelRequirement<'a> {
    /// `key=value`.
    #[must_use]
    pub fn key_equals_value(key: &'a str, value: &'a str) -> Self {
        Self { key, relation: Relation::In, values: Values::One(value) }
    }

    /// Whether a label with this value, or none, satisfies it.
    #[must_use]
    pub fn holds(self, value: Option<&str>) -> bool {
        match (self.relation, value) {
            (Relation::In, Some(value)) => self.values.contains(value),
            (Relation::NotIn, Some(value)) => !self.values.contains(value),
            (Relation::Exists, Some(_)) | (Relation::NotIn | Relation::DoesNotExist, None) => true,
            (Relation::Gt, Some(value)) => self.compare(value, |label, bound| label > bound),
            (Relation::Lt, Some(value)) => self.compare(value, |label, bound| label < bound),
            (Relation::DoesNotExist, Some(_))
            | (Relation::In | Relation::Exists | Relation::Gt | Relation::Lt, None) => false,
        }
    }

    fn compare(self, value: &str, holds: impl Fn(i64, i64) -> bool) -> bool {
        value
            .parse()
            .ok()
            .zip(self.number_to_compare_with())
            .is_some_and(|(label, bound)| holds(label, bound))
    }

    /// The number that a label is compared with.
    pub(super) fn number_to_compare_with(self) -> Option<i64> {
        let mut values = self.values.iter();
        // Kubernetes requires exactly one value (apimachinery pkg/labels, `NewRequirement`).
        values.next()?.parse().ok().filter(|_| values.next().is_none())
    }
}

impl Hash for LabelRequirement<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.key, self.relation, self.values.iter().count()).hash(state);
        self.values.iter().for_each(|value| value.hash(state));
    }
}

impl std::fmt::Display for LabelRequirement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = crate::text::escaped_and_cut(self.key, 120);
        let mut values = self.values.iter();
        match (self.relation, values.next(), values.next()) {
            (Relation::Exists, ..) => write!(f, "{key}"),
            (Relation::DoesNotExist, ..) => write!(f, "!{key}"),
            (Relation::In, Some(one), None) => write!(f, "{key}={}", crate::text::escaped_and_cut(one, 63)),
            (Relation::NotIn, Some(one), None) => {
                write!(f, "{key}!={}", crate::text::escaped_and_cut(one, 63))
            }
            (Relation::Gt, Some(one), _) => write!(f, "{key}>{}", crate::text::escaped_and_cut(one, 20)),
            (Relation::Lt, Some(one), _) => write!(f, "{key}<{}", crate::text::escaped_and_cut(one, 20)),
            (relation, ..) => {
                let word = if relation == Relation::NotIn { "notin" } else { "in" };
                let count = self.values.iter().count();
                let shown: Vec<String> =
                    self.values.iter().take(4).map(|v| crate::text::escaped_and_cut(v, 63)).collect();
                let more = if count > 4 { format!(", {} more", count - 4) } else { String::new() };
                write!(f, "{key} {word} ({}{more})", shown.join(", "))
            }
        }
    }
}

impl schema::SelectorExpression {
    /// The condition as a requirement.
    pub(crate) fn as_label_requirement(&self) -> LabelRequirement<'_> {
        let relation = match self.operator {
            schema::Operator::In => Relation::In,
            schema::Operator::NotIn => Relation::NotIn,
            schema::Operator::Exists => Relation::Exists,
            schema::Operator::DoesNotExist => Relation::DoesNotExist,
        };
        LabelRequirement { key: &self.key, relation, values: Values::Strings(&self.values) }
    }
}

impl LabelSelector {
    /// Its conditions; all must hold.
    pub(crate) fn label_requirements(&self) -> impl Iterator<Item = LabelRequirement<'_>> {
        let labels =
            self.match_labels.iter().map(|(key, value)| LabelRequirement::key_equals_value(key, value));
        labels.chain(self.match_expressions.iter().map(schema::SelectorExpression::as_label_requirement))
    }

    /// Whether a set of labels satisfies every condition. An empty selector matches everything.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.label_requirements()
            .all(|condition| condition.holds(labels.get(condition.key).map(String::as_str)))
    }
}

impl Profile {
    /// The condition of its instance types; `None` if it names none.
    pub(crate) fn instance_type_requirement(&self) -> Option<LabelRequirement<'_>> {
        let values = Values::Strings(&self.instance_types);
        let some = !self.instance_types.is_empty();
        some.then_some(LabelRequirement { key: INSTANCE_TYPE_LABEL, relation: Relation::In, values })
    }

    /// All its conditions on nodes.
    pub(crate) fn all_node_requirements(&self) -> impl Iterator<Item = LabelRequirement<'_>> {
        self.node_selector
            .iter()
            .flat_map(LabelSelector::label_requirements)
            .chain(self.instance_type_requirement())
    }

    /// Whether it has any condition on nodes; an empty node selector matches every node.
    #[must_use]
    pub fn has_node_requirements(&self) -> bool {
        self.node_selector.is_some() || !self.instance_types.is_empty()
    }

    /// How it selects its nodes: its node selector, else its instance types.
    pub(crate) fn node_selector_else_instance_types(&self) -> impl Iterator<Item = LabelRequirement<'_>> {
        let types = if self.node_selector.is_none() { self.instance_type_requirement() } else { None };
        self.node_selector.iter().flat_map(LabelSelector::label_requirements).chain(types)
    }
}
