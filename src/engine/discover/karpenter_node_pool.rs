//! NodePools of Karpenter: machines that may come, also while there is none.

use super::node_as_shown::INSTANCE_TYPE;
use serde_json::Value;
use std::collections::BTreeSet;

/// Label of AWS's provider: the part of an instance type before the dot.
const FAMILY: &str = "karpenter.k8s.aws/instance-family";

/// A NodePool (kubernetes-sigs/karpenter:pkg/apis/v1/nodepool.go).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodePool {
    pub(super) name: String,
    /// Instance types that it may create; empty without such a requirement.
    types: BTreeSet<String>,
    /// The same by families.
    families: BTreeSet<String>,
}

impl NodePool {
    pub(super) fn read(object: &Value) -> Option<Self> {
        let name = object.pointer("/metadata/name")?.as_str()?.to_owned();
        let requirements = object.pointer("/spec/template/spec/requirements").and_then(Value::as_array);
        let of = |key: &str| -> BTreeSet<String> {
            let listed = requirements.into_iter().flatten().filter(|one| {
                let text = |field: &str| one.get(field).and_then(Value::as_str);
                text("key") == Some(key) && text("operator") == Some("In")
            });
            let values = listed.filter_map(|one| one.get("values").and_then(Value::as_array)).flatten();
            values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
        };
        Some(Self { name, types: of(INSTANCE_TYPE), families: of(FAMILY) })
    }

    /// Whether it may create machines of a type.
    pub(super) fn creates(&self, of: &str) -> bool {
        self.types.contains(of)
            || of.split_once('.').is_some_and(|(family, _)| self.families.contains(family))
    }
}
