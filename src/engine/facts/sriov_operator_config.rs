//! SriovOperatorConfig: which parts of the SR-IOV operator run.

use super::object_shape::{Meta, Object};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use serde::Deserialize;

/// The operator reads only the configuration of this name (k8snetworkplumbingwg/sriov-network-operator
/// pkg/consts/constants.go, `DefaultConfigName`).
const ONLY_CONFIG_NAME_READ: &str = "default";

/// Configuration of the SR-IOV operator of a namespace (api/v1/sriovoperatorconfig_types.go).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SriovOperatorConfig {
    /// `enableOperatorWebhook`, false by default: whether the operator's own webhook checks its objects.
    pub webhook: bool,
    /// Feature gate `manageSoftwareBridges`, false by default (pkg/featuregate/featuregate.go): whether the operator reads
    /// `bridge` of a policy.
    pub software_bridges: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    enable_operator_webhook: Option<bool>,
    #[serde(default)]
    feature_gates: Option<FeatureGates>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FeatureGates {
    #[serde(default)]
    manage_software_bridges: Option<bool>,
}

/// `None` for a configuration that the operator ignores.
pub(super) fn read(json: &str) -> Result<(Meta, Option<SriovOperatorConfig>), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.into_meta_and_spec();
    let spec = spec.unwrap_or_default();
    let config = SriovOperatorConfig {
        webhook: spec.enable_operator_webhook.unwrap_or(false),
        software_bridges: spec.feature_gates.unwrap_or_default().manage_software_bridges.unwrap_or(false),
    };
    let fact = (meta.name.as_deref() == Some(ONLY_CONFIG_NAME_READ)).then_some(config);
    Ok((meta, fact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_configuration_named_default_counts() {
        let of = |json: &str| read(json).unwrap().1.map(|c| c.webhook);
        assert_eq!(
            of(r#"{"metadata":{"name":"default"},"spec":{"enableOperatorWebhook":true}}"#),
            Some(true)
        );
        assert_eq!(of(r#"{"metadata":{"name":"default"},"spec":{}}"#), Some(false));
        assert_eq!(of(r#"{"metadata":{"name":"other"},"spec":{"enableOperatorWebhook":true}}"#), None);
    }
}
