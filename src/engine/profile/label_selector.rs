//! Kubernetes label selectors in a profile, and their entries as requirements that a pod's node affinity can carry.

use crate::json::maps_of_request::few_entries;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A Kubernetes label selector: every entry must match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelSelector {
    /// Labels that must be present with exactly these values.
    #[serde(
        default,
        deserialize_with = "few_entries::<String, 64, _>",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(extend("maxProperties" = 64))]
    pub match_labels: BTreeMap<String, String>,
    /// Expressions that must be true. All expressions together have at most 1,024 values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub match_expressions: Vec<SelectorExpression>,
}

/// One expression of a label selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Requirement")]
pub struct SelectorExpression {
    /// Label key.
    #[schemars(length(min = 1, max = 317))]
    pub key: String,
    /// Relation of the label to `values`: `In`, `NotIn`, `Exists` or `DoesNotExist`. A missing label satisfies `NotIn`.
    pub operator: Operator,
    /// Values of the label; empty for `Exists` and `DoesNotExist`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 63)))]
    pub values: Vec<String>,
}

/// Operators of a label selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Operator {
    /// The value is one of `values`.
    In,
    /// The label is absent, or its value is not one of `values`.
    NotIn,
    /// The label is present.
    Exists,
    /// The label is absent.
    DoesNotExist,
}

impl LabelSelector {
    /// Every entry as one requirement, labels first, in the order of their keys.
    #[must_use]
    pub fn labels_and_expressions(&self) -> Vec<SelectorExpression> {
        let labels = self.match_labels.iter().map(|(key, value)| SelectorExpression {
            key: key.clone(),
            operator: Operator::In,
            values: vec![value.clone()],
        });
        labels.chain(self.match_expressions.iter().cloned()).collect()
    }
}

impl Operator {
    /// The word that Kubernetes writes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::In => "In",
            Self::NotIn => "NotIn",
            Self::Exists => "Exists",
            Self::DoesNotExist => "DoesNotExist",
        }
    }
}
