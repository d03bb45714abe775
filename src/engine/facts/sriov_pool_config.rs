//! SriovNetworkPoolConfig: nodes that the SR-IOV operator configures together.

use super::object_shape::{Meta, Object, non_empty};
use super::sriov_node_policy::MAX_SELECTOR_ENTRIES;
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::maps_of_request::FewEntries;
use crate::json::types_of_decoded_fields::{Objects, optional_struct};
use crate::nodes::{LabelRequirement, Relation, Values};
use serde::Deserialize;

/// A pool (k8snetworkplumbingwg/sriov-network-operator api/v1/sriovnetworkpoolconfig_types.go).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SriovPoolConfig {
    /// Conditions on the labels of its nodes; an empty list matches every node. `None` if one of them cannot be read.
    pub nodes: Option<Vec<OwnedRequirement>>,
    /// Whether it is for hardware offload of Open vSwitch, which other pools do not overlap.
    pub hardware_offload: bool,
}

/// A condition on a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedRequirement {
    /// Label key.
    pub key: String,
    /// Relation of the label to `values`.
    pub relation: Relation,
    /// Values.
    pub values: Vec<String>,
}

impl OwnedRequirement {
    /// The same, borrowed.
    #[must_use]
    pub fn requirement(&self) -> LabelRequirement<'_> {
        LabelRequirement { key: &self.key, relation: self.relation, values: Values::Strings(&self.values) }
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default, deserialize_with = "optional_struct")]
    node_selector: Option<Selector>,
    #[serde(default, deserialize_with = "optional_struct")]
    ovs_hardware_offload_config: Option<Offload>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Selector {
    #[serde(default)]
    match_labels: Option<FewEntries<Option<String>, MAX_SELECTOR_ENTRIES>>,
    #[serde(default)]
    match_expressions: Option<Objects<Expression>>,
}

#[derive(Default, Deserialize)]
struct Expression {
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    operator: Option<String>,
    #[serde(default)]
    values: Option<Vec<Option<String>>>,
}

#[derive(Default, Deserialize)]
struct Offload {
    #[serde(default)]
    name: Option<String>,
}

impl SriovPoolConfig {
    /// Reads any pool.
    ///
    /// # Errors
    /// [`DecodeError`] when a field that is read has another type.
    pub fn parse(json: &str) -> Result<Self, DecodeError> {
        read(json).map(|(_, pool)| pool)
    }
}

pub(super) fn read(json: &str) -> Result<(Meta, SriovPoolConfig), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.into_meta_and_spec();
    let spec = spec.unwrap_or_default();
    let selector = spec.node_selector.unwrap_or_default();
    let labels =
        selector.match_labels.map(|labels| labels.0).unwrap_or_default().into_iter().map(|(key, value)| {
            Some(OwnedRequirement { key, relation: Relation::In, values: vec![value.unwrap_or_default()] })
        });
    let expressions = selector.match_expressions.map(|e| e.0).unwrap_or_default();
    let expressions = expressions.into_iter().map(|expression| {
        let relation = Relation::parse(expression.operator.as_deref()?)?;
        // A label selector cannot compare numbers (apimachinery pkg/apis/meta/v1, `LabelSelectorOperator`).
        let known = !matches!(relation, Relation::Gt | Relation::Lt);
        let values = expression.values.into_iter().flatten().flatten().collect();
        known.then_some(OwnedRequirement { key: non_empty(expression.key)?, relation, values })
    });
    let nodes: Option<Vec<OwnedRequirement>> = labels.chain(expressions).collect();
    let entries: usize = nodes.iter().flatten().map(|condition| condition.values.len().max(1)).sum();
    if entries > MAX_SELECTOR_ENTRIES {
        let message = format!("{entries} labels and values; at most {MAX_SELECTOR_ENTRIES} are read");
        return Err(DecodeError { pointer: "/spec/nodeSelector".to_owned(), message });
    }
    let pool = SriovPoolConfig {
        nodes,
        hardware_offload: spec.ovs_hardware_offload_config.and_then(|o| non_empty(o.name)).is_some(),
    };
    Ok((meta, pool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_expressions_are_conditions() {
        let pool = SriovPoolConfig::parse(
            r#"{"metadata":{"name":"p"},"spec":{"nodeSelector":{"matchLabels":{"a":"b"},
                "matchExpressions":[{"key":"c","operator":"NotIn","values":["d"]}]}}}"#,
        )
        .unwrap();
        let nodes = pool.nodes.unwrap();
        assert_eq!((nodes[0].key.as_str(), nodes[1].relation), ("a", Relation::NotIn));
        assert!(!pool.hardware_offload);
    }

    #[test]
    fn a_long_selector_is_refused() {
        let of = |values: usize| {
            let expression = serde_json::json!({"key": "a", "operator": "In", "values": vec!["v"; values]});
            let selector = serde_json::json!({"matchExpressions": [expression]});
            SriovPoolConfig::parse(
                &serde_json::json!({"metadata": {}, "spec": {"nodeSelector": selector}}).to_string(),
            )
        };
        assert!(of(MAX_SELECTOR_ENTRIES).is_ok());
        let refused = of(MAX_SELECTOR_ENTRIES + 1).unwrap_err();
        assert_eq!(refused.pointer, "/spec/nodeSelector");
        assert!(refused.message.contains("1001 labels and values"), "{}", refused.message);
    }

    #[test]
    fn an_unreadable_selector_is_unknown_and_an_absent_one_matches_all() {
        let of =
            |spec: &str| SriovPoolConfig::parse(&format!(r#"{{"metadata":{{}},"spec":{spec}}}"#)).unwrap();
        assert_eq!(of("null").nodes, Some(Vec::new()));
        assert_eq!(of(r#"{"nodeSelector":{"matchExpressions":[{"key":"a","operator":"Gt"}]}}"#).nodes, None);
        assert!(of(r#"{"ovsHardwareOffloadConfig":{"name":"x"}}"#).hardware_offload);
    }
}
