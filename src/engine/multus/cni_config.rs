//! A CNI configuration, single or list: the keys that decide the class of a network.

use super::ipam::Ipam;
use crate::json::as_go_reads;
use serde_json::{Map, Value};

/// A configuration that the node can call CNI plugins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CniConfig {
    /// Plugins in the order of the chain; one for a single configuration. Never empty.
    pub plugins: Vec<Plugin>,
}

/// One plugin of the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plugin {
    /// `type`: name of the plugin's binary. Never empty.
    pub cni_type: String,
    /// Interface of the host it works on: `master`, for host-device `device`.
    pub interface: Option<String>,
    /// Whether it names the device that every attachment takes: then a pod needs no unit of a resource for it. Multus
    /// replaces it by the device of an allocated unit (k8snetworkplumbingwg/multus-cni pkg/types/conf.go,
    /// `delegateAddDeviceID`), and keeps it if there is none.
    pub names_device: bool,
    /// `rdmaIsolation` of ib-sriov: the RDMA device moves into the pod's namespace too.
    pub rdma_isolation: bool,
    /// The source of addresses; `None` if it assigns none.
    pub ipam: Option<Ipam>,
    /// Requests that a pod may make.
    pub capabilities: Capabilities,
    /// Whether it separates the pod's interfaces: policy routing (`sbr`), or answers to ARP from the right interface
    /// (`arp_ignore`, `arp_announce` or `arp_filter` set by `tuning`).
    pub keeps_apart: bool,
}

/// Requests of pods that a plugin accepts: those that its configuration declares (containernetworking/cni
/// CONVENTIONS.md; libcni passes no others on).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// `ips`.
    pub ips: bool,
    /// `mac`.
    pub mac: bool,
    /// `infinibandGUID`.
    pub guid: bool,
    /// `deviceID`.
    pub device: bool,
}

impl Capabilities {
    /// Reads the object `capabilities`.
    #[must_use]
    pub fn read(object: &Map<String, Value>) -> Self {
        let has = |key: &str| object.get(key) == Some(&Value::Bool(true));
        Self { ips: has("ips"), mac: has("mac"), guid: has("infinibandGUID"), device: has("deviceID") }
    }

    /// The requests that at least one of two plugins accepts.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            ips: self.ips || other.ips,
            mac: self.mac || other.mac,
            guid: self.guid || other.guid,
            device: self.device || other.device,
        }
    }
}

/// Why a configuration cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not JSON.
    #[error("the text is not JSON: {0}")]
    NotJson(String),
    /// JSON, but not an object.
    #[error("the text is not a JSON object")]
    NotObject,
    /// Neither a plugin nor a list of them.
    #[error("`type` and `plugins` are both missing")]
    NoPlugin,
    /// An entry of `plugins` without a type.
    #[error("plugins[{0}] has no `type`")]
    NoType(usize),
    /// A key whose value has another type than plugins read.
    #[error("`{0}` is not a {1}")]
    WrongType(&'static str, &'static str),
}

impl CniConfig {
    /// Reads a configuration as Multus does: a `type` at the top makes it a single one, whatever else is there
    /// (k8snetworkplumbingwg/multus-cni pkg/types/conf.go, `LoadDelegateNetConf`). Keys that no decision needs are
    /// not read.
    ///
    /// # Errors
    /// [`ConfigError`] if every attachment would fail over it.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let value: Value = as_go_reads::read_cni_and_respell_keys(text)
            .map_err(|error| ConfigError::NotJson(error.to_string()))?;
        let Value::Object(object) = value else { return Err(ConfigError::NotObject) };
        if let Some(plugin) = read_plugin(&object)? {
            return Ok(Self { plugins: vec![plugin] });
        }
        let plugins = match object.get("plugins") {
            None | Some(Value::Null) => return Err(ConfigError::NoPlugin),
            Some(Value::Array(plugins)) if plugins.is_empty() => return Err(ConfigError::NoPlugin),
            Some(Value::Array(plugins)) => plugins,
            Some(_) => return Err(ConfigError::WrongType("plugins", "list")),
        };
        let entry = |(index, entry): (usize, &Value)| match entry {
            Value::Object(object) => read_plugin(object)?.ok_or(ConfigError::NoType(index)),
            _ => Err(ConfigError::NoType(index)),
        };
        Ok(Self { plugins: plugins.iter().enumerate().map(entry).collect::<Result<_, _>>()? })
    }
}

/// The plugin of an object; `None` if it has no `type`.
fn read_plugin(object: &Map<String, Value>) -> Result<Option<Plugin>, ConfigError> {
    let cni_type = match object.get("type") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.is_empty() => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(_) => return Err(ConfigError::WrongType("type", "text")),
    };
    let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
    let key = if cni_type == "host-device" { "device" } else { "master" };
    let member = |key: &str| object.get(key).and_then(Value::as_object);
    let sysctls = || member("sysctl").into_iter().flatten();
    let answers = |(key, _): (&String, &Value)| {
        ["arp_ignore", "arp_announce", "arp_filter"].iter().any(|end| key.ends_with(end))
    };
    // containernetworking/plugins plugins/main/host-device.
    let own: &[&str] = match cni_type.as_str() {
        "host-device" => &["deviceID", "device", "hwaddr", "kernelpath", "pciBusID"],
        _ => &["deviceID"],
    };
    Ok(Some(Plugin {
        names_device: own.iter().any(|key| text(key).is_some()),
        ipam: member("ipam").and_then(Ipam::read),
        capabilities: member("capabilities").map(Capabilities::read).unwrap_or_default(),
        keeps_apart: cni_type == "sbr" || cni_type == "tuning" && sysctls().any(answers),
        interface: text(key).map(str::to_owned),
        rdma_isolation: object.get("rdmaIsolation").and_then(Value::as_bool).unwrap_or(false),
        cni_type,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(text: &str) -> Vec<String> {
        CniConfig::parse(text).unwrap().plugins.into_iter().map(|p| p.cni_type).collect()
    }

    #[test]
    fn single_and_list() {
        assert_eq!(types(r#"{"type":"sriov"}"#), ["sriov"]);
        assert_eq!(types(r#"{"plugins":[{"type":"sriov"},{"type":"rdma"}]}"#), ["sriov", "rdma"]);
        assert_eq!(types(r#"{"type":"macvlan","plugins":[{"type":"sriov"}]}"#), ["macvlan"]);
        assert_eq!(types(r#"{"type":null,"plugins":[{"type":"a"}],"x":{"deep":[1]}}"#), ["a"]);
    }

    #[test]
    fn keys_of_plugins_may_have_any_case_and_the_one_of_a_list_may_not() {
        assert_eq!(types(r#"{"Type":"sriov"}"#), ["sriov"]);
        assert_eq!(types(r#"{"plugins":[{"TYPE":"sriov","rdmaisolation":true}]}"#), ["sriov"]);
        assert_eq!(CniConfig::parse(r#"{"Plugins":[{"type":"a"}]}"#), Err(ConfigError::NoPlugin));
        let of = |text: &str| CniConfig::parse(text).unwrap().plugins.remove(0);
        let plugin =
            of(r#"{"type":"macvlan","Master":"ens1","IPAM":{"Type":"dhcp"},"capabilities":{"IPs":true}}"#);
        assert_eq!(plugin.interface.as_deref(), Some("ens1"));
        assert!(plugin.ipam.is_some() && !plugin.capabilities.ips);
    }

    #[test]
    fn devices_of_their_own() {
        let of = |text: &str| CniConfig::parse(text).unwrap().plugins.remove(0).names_device;
        assert!(of(r#"{"type":"sriov","deviceid":"0000:3b:00.2"}"#));
        assert!(of(r#"{"type":"host-device","device":"ens1f0"}"#));
        assert!(!of(r#"{"type":"sriov","deviceID":"","device":"ens1f0"}"#));
        assert!(!of(r#"{"type":"host-device"}"#));
    }

    #[test]
    fn broken_configurations_are_errors() {
        let error = |text: &str| CniConfig::parse(text).unwrap_err();
        assert!(matches!(error("{"), ConfigError::NotJson(_)));
        assert!(matches!(error("{} x"), ConfigError::NotJson(_)));
        assert_eq!(error("[]"), ConfigError::NotObject);
        assert_eq!(error("null"), ConfigError::NotObject);
        assert_eq!(error(r#"{"type":""}"#), ConfigError::NoPlugin);
        assert_eq!(error(r#"{"plugins":[]}"#), ConfigError::NoPlugin);
        assert_eq!(error(r#"{"plugins":[{"type":"a"},{}]}"#), ConfigError::NoType(1));
        assert_eq!(error(r#"{"plugins":[null]}"#), ConfigError::NoType(0));
        assert_eq!(error(r#"{"plugins":{}}"#), ConfigError::WrongType("plugins", "list"));
        assert_eq!(error(r#"{"type":1}"#), ConfigError::WrongType("type", "text"));
    }

    #[test]
    fn the_interface_of_the_host() {
        let of = |text: &str| CniConfig::parse(text).unwrap().plugins.remove(0).interface;
        assert_eq!(of(r#"{"type":"macvlan","master":"ens1"}"#).as_deref(), Some("ens1"));
        assert_eq!(of(r#"{"type":"host-device","device":"ens2","master":"x"}"#).as_deref(), Some("ens2"));
        assert_eq!(of(r#"{"type":"macvlan","master":7}"#), None);
    }
}
