//! Configurations of the device plugins: JSON text inside of other objects.

use super::extended_resource::{ResourceFact, ResourceProvider};
use super::object_shape::{count_if_not_negative, non_empty};
use super::when_objects_disagree::MAX_INTERFACES;
use crate::json::as_go_reads;
use crate::json::decode_with_place::decode_object as decode;
use crate::json::types_of_decoded_fields::{Objects, optional_struct};
use crate::multus::{LinkLayer, ResourceName};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Prefix of a separately installed SR-IOV network device plugin (k8snetworkplumbingwg/sriov-network-device-plugin
/// cmd/sriovdp/main.go, `-resource-prefix`).
pub const STANDALONE_SRIOV_PLUGIN_PREFIX: &str = "intel.com";
/// The same under the NVIDIA Network Operator (Mellanox/network-operator
/// manifests/state-sriov-device-plugin/0030-sriov-dp-daemonset.yaml).
pub const NVIDIA_SRIOV_PLUGIN_PREFIX: &str = "nvidia.com";
/// Prefix of the RDMA shared device plugin (Mellanox/k8s-rdma-shared-dev-plugin pkg/resources/resources_manager.go).
pub const SHARED_RDMA_PLUGIN_PREFIX: &str = "rdma";

/// Why a plugin does not start with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigFault(pub String);

/// A fault with its place inside of the text.
fn fault(error: &crate::json::decode_with_place::DecodeError) -> ConfigFault {
    ConfigFault(match error.pointer.as_str() {
        "" => error.message.clone(),
        pointer => format!("{pointer}: {}", error.message),
    })
}

fn config_as_plugin_reads_it(config: &str) -> Result<Cow<'_, str>, ConfigFault> {
    match as_go_reads::read_and_respell_keys(config, as_go_reads::DEVICE_PLUGIN_FIELDS) {
        Ok((Value::Object(_), false)) => Ok(config.into()),
        Ok((object @ Value::Object(_), true)) => Ok(object.to_string().into()),
        Ok(_) => Err(ConfigFault("it is not a JSON object".to_owned())),
        Err(error) => Err(ConfigFault(format!("it is not JSON: {error}"))),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SriovConfig {
    #[serde(default)]
    resource_list: Option<Objects<SriovEntry>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SriovEntry {
    #[serde(default)]
    resource_name: Option<String>,
    #[serde(default)]
    resource_prefix: Option<String>,
    #[serde(default)]
    selectors: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Selector {
    #[serde(default)]
    vendors: Option<Vec<String>>,
    #[serde(default)]
    link_types: Option<Vec<String>>,
    #[serde(default)]
    pf_names: Option<Vec<String>>,
    #[serde(default)]
    if_names: Option<Vec<String>>,
    #[serde(default)]
    is_rdma: Option<bool>,
}

/// The resources that an SR-IOV network device plugin serves (k8snetworkplumbingwg/sriov-network-device-plugin
/// pkg/types/types.go: `selectors` is one object or a list of them, any of which may hold).
///
/// # Errors
/// [`ConfigFault`] when the plugin would not start.
pub fn resources_of_sriov_plugin_config(
    config: &str,
    default_prefix: &str,
) -> Result<Vec<ResourceFact>, ConfigFault> {
    sriov_resources(&config_as_plugin_reads_it(config)?, default_prefix)
}

/// The resources of a configuration of either plugin.
///
/// # Errors
/// [`ConfigFault`] when neither plugin would start.
pub(super) fn resources_of_config_of_either_plugin(
    config: &str,
    default_prefix: &str,
) -> Result<Vec<ResourceFact>, ConfigFault> {
    let config = config_as_plugin_reads_it(config)?;
    sriov_resources(&config, default_prefix).or_else(|_| shared_resources(&config))
}

fn sriov_resources(config: &str, default_prefix: &str) -> Result<Vec<ResourceFact>, ConfigFault> {
    let config: SriovConfig = decode(config).map_err(|e| fault(&e))?;
    let Some(list) = config.resource_list else {
        return Err(ConfigFault("it has no `resourceList`".to_owned()));
    };
    let entry = |(index, entry): (usize, SriovEntry)| {
        let name = resource_name_or_fault("resourceList", index, entry.resource_name)?;
        let prefix = non_empty(entry.resource_prefix).unwrap_or_else(|| default_prefix.to_owned());
        let selectors = match entry.selectors {
            None | Some(Value::Null) => vec![Value::Object(serde_json::Map::new())],
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        };
        // The plugin starts without a resource whose selectors it cannot decode.
        let selectors: Result<Vec<Option<Selector>>, _> =
            selectors.into_iter().map(serde_json::from_value).collect();
        // Thousands of selectors may stand below one name: what they have in common is made once.
        let mut pool = None::<ResourceFact>;
        let mut interfaces: BTreeSet<String> = BTreeSet::new();
        let mut any_interface = false;
        for selector in selectors.unwrap_or_default() {
            let selector = selector.unwrap_or_default();
            // `pfNames` may name a range of functions after the interface.
            let names = selector.pf_names.unwrap_or_default();
            any_interface |= names.is_empty() || interfaces.len() > MAX_INTERFACES;
            if !any_interface {
                interfaces.extend(names.iter().map(|n| n.split('#').next().unwrap_or_default().to_owned()));
            }
            let part = ResourceFact {
                name: ResourceName::Full(String::new()),
                server: ResourceProvider::SriovDevicePlugin,
                link: only_link_layer(selector.link_types.as_deref()),
                rdma: Some(selector.is_rdma.unwrap_or(false)),
                shared: Some(false),
                per_nic: None,
                interfaces: Vec::new(),
                vendor: only(selector.vendors),
                origins: Vec::new(),
            };
            match &mut pool {
                None => pool = Some(part),
                Some(pool) => pool.merge_with_unknown_where_differing(&part),
            }
        }
        Ok(pool.map(|pool| ResourceFact {
            name: ResourceName::Full(format!("{prefix}/{name}")),
            interfaces: if any_interface { Vec::new() } else { interfaces.into_iter().collect() },
            ..pool
        }))
    };
    let pools: Result<Vec<_>, ConfigFault> = list.0.into_iter().enumerate().map(entry).collect();
    Ok(pools?.into_iter().flatten().collect())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SharedConfig {
    #[serde(default)]
    config_list: Option<Objects<SharedEntry>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SharedEntry {
    #[serde(default)]
    resource_name: Option<String>,
    #[serde(default)]
    resource_prefix: Option<String>,
    #[serde(default)]
    rdma_hca_max: Option<i64>,
    #[serde(default, deserialize_with = "optional_struct")]
    selectors: Option<Selector>,
    #[serde(default)]
    devices: Option<Vec<String>>,
}

/// The resources that an RDMA shared device plugin serves (Mellanox/k8s-rdma-shared-dev-plugin pkg/types/types.go).
/// It advertises only RDMA devices, each to `rdmaHcaMax` pods.
///
/// # Errors
/// [`ConfigFault`] when the plugin would not start.
pub fn resources_of_shared_plugin_config(config: &str) -> Result<Vec<ResourceFact>, ConfigFault> {
    shared_resources(&config_as_plugin_reads_it(config)?)
}

fn shared_resources(config: &str) -> Result<Vec<ResourceFact>, ConfigFault> {
    let config: SharedConfig = decode(config).map_err(|e| fault(&e))?;
    let list = config.config_list.map(|l| l.0).unwrap_or_default();
    if list.is_empty() {
        return Err(ConfigFault("it has no `configList`, or an empty one".to_owned()));
    }
    let entry = |(index, entry): (usize, SharedEntry)| {
        let name = resource_name_or_fault("configList", index, entry.resource_name)?;
        let prefix = non_empty(entry.resource_prefix).unwrap_or_else(|| SHARED_RDMA_PLUGIN_PREFIX.to_owned());
        let selector = entry.selectors.unwrap_or_default();
        let mut interfaces = selector.if_names.unwrap_or_default();
        // The older field for interfaces.
        interfaces.extend(entry.devices.unwrap_or_default());
        Ok(ResourceFact {
            name: ResourceName::Full(format!("{prefix}/{name}")),
            server: ResourceProvider::SharedDevicePlugin,
            link: only_link_layer(selector.link_types.as_deref()),
            rdma: Some(true),
            shared: Some(true),
            per_nic: count_if_not_negative(entry.rdma_hca_max),
            interfaces,
            vendor: only(selector.vendors),
            origins: Vec::new(),
        })
    };
    list.into_iter().enumerate().map(entry).collect()
}

/// The entry of a list with one entry.
fn only(list: Option<Vec<String>>) -> Option<String> {
    let mut list = list?.into_iter();
    list.next().filter(|_| list.next().is_none())
}

fn resource_name_or_fault(list: &str, index: usize, name: Option<String>) -> Result<String, ConfigFault> {
    non_empty(name).ok_or_else(|| ConfigFault(format!("/{list}/{index} has no `resourceName`")))
}

/// The link layer of a list of link types, if there is only one.
fn only_link_layer(types: Option<&[String]>) -> Option<LinkLayer> {
    let mut links = types.unwrap_or_default().iter().map(|t| LinkLayer::parse(t));
    let first = links.next()??;
    links.all(|l| l == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_one_or_many() {
        let pools = resources_of_sriov_plugin_config(
            r#"{"resourceList":[
                {"resourceName":"a","selectors":{"linkTypes":["infiniband"],"isRdma":true,"pfNames":["ib0#0-3"]}},
                {"resourceName":"b","resourcePrefix":"x.com","selectors":[{"isRdma":true},{"linkTypes":["ether"]}]},
                {"resourceName":"c"}]}"#,
            STANDALONE_SRIOV_PLUGIN_PREFIX,
        )
        .unwrap();
        let names: Vec<String> = pools.iter().map(|p| p.name.to_string()).collect();
        assert_eq!(names, ["intel.com/a", "x.com/b", "intel.com/c"]);
        assert_eq!((pools[0].link, pools[0].rdma), (Some(LinkLayer::InfiniBand), Some(true)));
        assert_eq!(pools[0].interfaces, ["ib0"]);
        assert_eq!((pools[1].link, pools[1].rdma), (None, None));
        assert_eq!((pools[2].rdma, pools[2].shared), (Some(false), Some(false)));
    }

    /// `IsRdma` has no tag in the plugin's own type.
    #[test]
    fn keys_may_have_any_case() {
        let text =
            r#"{"ResourceList":[{"resourcename":"a","Selectors":[{"IsRdma":true,"PFNames":["ib0"]}]}]}"#;
        let pool = resources_of_sriov_plugin_config(text, STANDALONE_SRIOV_PLUGIN_PREFIX).unwrap().remove(0);
        assert_eq!((pool.name.to_string().as_str(), pool.rdma), ("intel.com/a", Some(true)));
        assert_eq!(pool.interfaces, ["ib0"]);
        let text = r#"{"configlist":[{"resourceName":"a","RdmaHcaMax":63,"devices":["e"]}]}"#;
        assert_eq!(resources_of_shared_plugin_config(text).unwrap().remove(0).per_nic, Some(63));
    }

    #[test]
    fn shared_pools_are_shared() {
        let text = r#"{"configList":[{"resourceName":"a","rdmaHcaMax":63,"selectors":{"ifNames":["ens1"],"linkTypes":["ether"]}}]}"#;
        let pool = resources_of_shared_plugin_config(text).unwrap().remove(0);
        assert_eq!(pool.name, ResourceName::Full("rdma/a".into()));
        assert_eq!((pool.shared, pool.rdma, pool.per_nic), (Some(true), Some(true), Some(63)));
        assert_eq!((pool.link, pool.interfaces), (Some(LinkLayer::Ethernet), vec!["ens1".to_owned()]));
    }

    #[test]
    fn faults_have_their_place() {
        let says = |text: &str| resources_of_sriov_plugin_config(text, "x").unwrap_err().0;
        assert!(says("{").starts_with("it is not JSON: "));
        assert_eq!(says("[]"), "it is not a JSON object");
        assert_eq!(says("{}"), "it has no `resourceList`");
        assert_eq!(says(r#"{"resourceList":[{}]}"#), "/resourceList/0 has no `resourceName`");
        assert!(
            says(r#"{"resourceList":[{"resourceName":1}]}"#).starts_with("/resourceList/0/resourceName: ")
        );
        let dropped =
            r#"{"resourceList":[{"resourceName":"a","selectors":{"isRdma":"yes"}},{"resourceName":"b"}]}"#;
        assert_eq!(resources_of_sriov_plugin_config(dropped, "x").unwrap().len(), 1);
        assert!(resources_of_shared_plugin_config(r#"{"configList":[]}"#).is_err());
        assert!(
            resources_of_shared_plugin_config(r#"{"configList":[{"resourceName":"a","rdmaHcaMax":"63"}]}"#)
                .unwrap_err()
                .0
                .contains("rdmaHcaMax")
        );
    }
}
