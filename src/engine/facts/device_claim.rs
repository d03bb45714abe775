//! ResourceClaim and ResourceClaimTemplate: how many devices of which classes.

use super::device_class::{self, DeviceClass, DevicesOfSelectors, SRIOV_DRIVER, Selector, SizeOfAccelerator};
use super::object_shape::{MAX_NAME_LENGTH, Meta, Object, count_if_not_negative, non_empty};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::types_of_decoded_fields::{Objects, optional_struct};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The devices that a claim requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceClaim {
    /// Requests in order.
    pub requests: Vec<DeviceRequest>,
    /// How functions of dra-driver-sriov are to be allocated.
    pub functions: Vec<VfConfigOfClaim>,
}

/// Parameters for dra-driver-sriov (k8snetworkplumbingwg/dra-driver-sriov pkg/api, `VfConfig`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VfConfigOfClaim {
    /// NetworkAttachmentDefinition that the driver itself attaches.
    pub network: Option<String>,
    /// Its namespace; the pod's own if absent.
    pub namespace: Option<String>,
    /// Whether the function is bound to `vfio-pci`, which has neither an interface nor an RDMA device.
    pub vfio: bool,
    /// The first field by which the claim itself chooses its VLAN, or weakens what keeps it from other tenants' frames.
    pub link: Option<&'static str>,
    /// Whether the parameters cannot be read, or have a name that no object can have, so that nothing is known about the
    /// network.
    pub unreadable: bool,
}

impl VfConfigOfClaim {
    const UNREADABLE: Self =
        Self { network: None, namespace: None, vfio: false, link: None, unreadable: true };
}

/// The first field of a `VfConfig` that sets the VLAN of the function, trusts it, switches its spoof check off, or changes
/// its link in another way. A driver
/// with such fields applies them itself and drops those of the network (k8snetworkplumbingwg/dra-driver-sriov#127,
/// `VFLinkConfig`); without them, its strict decoder refuses the claim (main, cd9404f).
#[must_use]
pub fn first_setting_of_vf_link(parameters: &Value) -> Option<&'static str> {
    let function = parameters.get("vf")?;
    let differs = |key: &str, safe: bool| {
        function.get(key).is_some_and(|value| !value.is_null() && value.as_bool() != Some(safe))
    };
    let vlan = function.get("vlan").is_some_and(|vlan| !vlan.is_null());
    let fields = [
        ("vf.vlan", vlan),
        ("vf.trust", differs("trust", false)),
        ("vf.spoofChk", differs("spoofChk", true)),
    ];
    // A guaranteed rate takes bandwidth from other functions, and the priority of a VLAN chooses a class of traffic. Later
    // versions of the driver may have more fields.
    let is_neutral = |key: &str, value: &Value| match key {
        "vlan" | "trust" | "spoofChk" | "maxTxRate" => true,
        "minTxRate" | "qos" => value.as_u64() == Some(0),
        "linkState" => value.as_str() == Some("auto"),
        "vlanProto" => value.as_str() == Some("802.1q"),
        _ => value.is_null(),
    };
    let first = fields.into_iter().find(|(_, set)| *set).map(|(field, _)| field);
    let mut others = function.as_object().into_iter().flatten();
    let changes_link = others.any(|(key, value)| !value.is_null() && !is_neutral(key, value));
    first.or_else(|| changes_link.then_some("fields of vf"))
}

/// One request of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceRequest {
    /// Name by which containers may refer to it.
    pub name: String,
    /// The devices that can serve it: one entry, or several of which the first available one is taken
    /// (`firstAvailable`).
    pub options: Vec<RequestedDevices>,
}

/// Devices of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedDevices {
    /// DeviceClass.
    pub class: String,
    /// Devices (count); `None` for all available (`allocationMode: All`).
    pub count: Option<u32>,
    /// What the selectors of the request itself take. A device must match them and those of the class.
    pub selected: DevicesOfSelectors,
}

impl RequestedDevices {
    /// The driver of the devices: by the selectors of the class, by those of the request, else by the name of the class.
    #[must_use]
    pub fn driver_or_class_name<'a>(&'a self, class: Option<&'a DeviceClass>) -> &'a str {
        let by_class = class.and_then(|class| class.driver.as_deref());
        by_class.or(self.selected.driver.as_deref()).unwrap_or(&self.class)
    }

    /// Whether it is for whole accelerators, by the same evidence. Tenants write requests, so theirs do not overrule a class
    /// that is for accelerators.
    #[must_use]
    pub fn is_for_whole_accelerators(&self, class: Option<&DeviceClass>) -> bool {
        self.accelerators(class) == Some(SizeOfAccelerator::Whole)
    }

    /// The accelerators that it is for, by the same evidence.
    #[must_use]
    pub fn accelerators(&self, class: Option<&DeviceClass>) -> Option<SizeOfAccelerator> {
        if let Some(size) = device_class::accelerators_of_class(&self.class, class) {
            return Some(size);
        }
        let has_driver = class.is_some_and(|class| class.driver.is_some());
        let DevicesOfSelectors { driver, no_whole_device } = &self.selected;
        let driver = driver.as_deref().filter(|_| !has_driver)?;
        let is_slice = *no_whole_device || class.is_some_and(|class| class.no_whole_device);
        device_class::size_of_accelerators_of_driver(driver, is_slice)
    }

    /// Whether it is for functions of dra-driver-sriov.
    #[must_use]
    pub fn is_for_sriov_vfs(&self, class: Option<&DeviceClass>) -> bool {
        self.driver_or_class_name(class) == SRIOV_DRIVER
    }
}

#[derive(Default, Deserialize)]
struct ClaimSpec {
    #[serde(default, deserialize_with = "optional_struct")]
    devices: Option<Devices>,
}

#[derive(Default, Deserialize)]
struct TemplateSpec {
    #[serde(default, deserialize_with = "optional_struct")]
    spec: Option<ClaimSpec>,
}

#[derive(Default, Deserialize)]
struct Devices {
    #[serde(default)]
    requests: Option<Objects<Request>>,
    #[serde(default)]
    config: Option<Objects<Config>>,
}

#[derive(Default, Deserialize)]
struct Config {
    #[serde(default, deserialize_with = "optional_struct")]
    opaque: Option<Opaque>,
}

#[derive(Default, Deserialize)]
struct Opaque {
    #[serde(default)]
    driver: Option<String>,
    /// Of any shape: each driver has its own parameters. Kubernetes stores them as they are written, also what our reader
    /// of values refuses (half of a surrogate pair, deep nesting), so they stay raw text here.
    #[serde(default)]
    parameters: Option<Box<RawValue>>,
}

/// Most configurations of a claim (count), and longest parameters of one (bytes). The API server refuses more (k8s.io/api
/// resource/v1, `DeviceConfigMaxSize` and `OpaqueParametersMaxLength`).
const MAX_CONFIGS: usize = 32;
/// See [`MAX_CONFIGS`].
const MAX_PARAMETERS: usize = 10 << 10;

impl Opaque {
    fn vf_config(&self) -> Option<VfConfigOfClaim> {
        let driver = self.driver.as_deref().filter(|d| *d == SRIOV_DRIVER)?;
        let parameters = self.parameters.as_ref().map(|raw| {
            (raw.get().len() <= MAX_PARAMETERS)
                .then(|| serde_json::from_str::<Value>(raw.get()).ok())
                .flatten()
        });
        let broken = matches!(parameters, Some(None));
        let parameters = parameters.flatten();
        let field = |key: &str| {
            let value = parameters.as_ref()?.get(key)?.as_str()?;
            Some(value).filter(|v| !v.is_empty() && !driver.is_empty())
        };
        // Tenants write claims, and each name is kept.
        let name = |key: &str| field(key).filter(|name| name.len() <= MAX_NAME_LENGTH).map(str::to_owned);
        let (network, namespace) = ("netAttachDefName", "netAttachDefNamespace");
        let too_long =
            [network, namespace].iter().any(|key| field(key).is_some_and(|v| v.len() > MAX_NAME_LENGTH));
        Some(VfConfigOfClaim {
            network: name(network),
            namespace: name(namespace),
            vfio: field("driver") == Some("vfio-pci"),
            link: parameters.as_ref().and_then(first_setting_of_vf_link),
            unreadable: broken || too_long,
        })
    }
}

/// `exactly` came with v1beta2; v1beta1 has its fields in the request itself.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[serde(default)]
    name: Option<String>,
    #[serde(default, deserialize_with = "optional_struct")]
    exactly: Option<Exact>,
    #[serde(default)]
    first_available: Option<Objects<Exact>>,
    #[serde(default)]
    device_class_name: Option<String>,
    #[serde(default)]
    allocation_mode: Option<String>,
    #[serde(default)]
    count: Option<i64>,
    #[serde(default)]
    selectors: Option<Objects<Selector>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exact {
    #[serde(default)]
    device_class_name: Option<String>,
    #[serde(default)]
    allocation_mode: Option<String>,
    #[serde(default)]
    count: Option<i64>,
    #[serde(default)]
    selectors: Option<Objects<Selector>>,
}

impl Exact {
    /// The API server defaults the mode to `ExactCount` and the count to 1
    /// (kubernetes/kubernetes pkg/apis/resource/v1/defaults.go).
    fn into_requested_devices(self) -> Option<RequestedDevices> {
        let all = self.allocation_mode.as_deref() == Some("All");
        let count =
            if all { None } else { count_if_not_negative(self.count.filter(|c| *c != 0).or(Some(1))) };
        // No class has a longer name, so its devices are not known, but they count.
        let class = Some(non_empty(self.device_class_name)?)
            .filter(|name| name.len() <= MAX_NAME_LENGTH)
            .unwrap_or_default();
        Some(RequestedDevices {
            class,
            count,
            selected: DevicesOfSelectors::read_cel_selectors(self.selectors),
        })
    }
}

impl ClaimSpec {
    fn claim(self) -> DeviceClaim {
        let Devices { requests, config } = self.devices.unwrap_or_default();
        let requests = requests.map(|r| r.0).unwrap_or_default();
        let config = config.map(|c| c.0).unwrap_or_default();
        let beyond =
            config.get(MAX_CONFIGS..).and_then(|rest| rest.first()).map(|_| VfConfigOfClaim::UNREADABLE);
        let functions = config.iter().take(MAX_CONFIGS).filter_map(|c| c.opaque.as_ref()?.vf_config());
        let functions = functions.chain(beyond);
        let request = |r: Request| {
            let old = Exact {
                device_class_name: r.device_class_name,
                allocation_mode: r.allocation_mode,
                count: r.count,
                selectors: r.selectors,
            };
            let first = r.first_available.map(|f| f.0).unwrap_or_default();
            let all = r.exactly.into_iter().chain([old]).chain(first);
            DeviceRequest {
                name: r.name.unwrap_or_default(),
                options: collect_without_spare_room(all.filter_map(Exact::into_requested_devices)),
            }
        };
        DeviceClaim {
            requests: collect_without_spare_room(requests.into_iter().map(request)),
            functions: collect_without_spare_room(functions),
        }
    }
}

/// A vector without spare room: a cluster may have 100,000 claims of one request. A vector that grows has room for at least
/// four, and one that is collected from a vector of larger items keeps all of its memory.
fn collect_without_spare_room<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = items.collect();
    all.shrink_to_fit();
    all
}

pub(super) fn read_claim(json: &str) -> Result<(Meta, DeviceClaim), DecodeError> {
    let (meta, spec) = decode::<Object<ClaimSpec>>(json)?.into_meta_and_spec();
    Ok((meta, spec.unwrap_or_default().claim()))
}

pub(super) fn read_template(json: &str) -> Result<(Meta, DeviceClaim), DecodeError> {
    let (meta, spec) = decode::<Object<TemplateSpec>>(json)?.into_meta_and_spec();
    Ok((meta, spec.and_then(|s| s.spec).unwrap_or_default().claim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(request: &str) -> Vec<(String, Option<u32>)> {
        let json = format!(r#"{{"spec":{{"devices":{{"requests":[{request}]}}}}}}"#);
        let claim = read_claim(&json).unwrap().1;
        claim.requests[0].options.iter().map(|a| (a.class.clone(), a.count)).collect()
    }

    #[test]
    fn each_version_of_the_api() {
        let one = |count| vec![("c".to_owned(), count)];
        assert_eq!(options(r#"{"name":"a","exactly":{"deviceClassName":"c","count":8}}"#), one(Some(8)));
        assert_eq!(options(r#"{"name":"a","exactly":{"deviceClassName":"c"}}"#), one(Some(1)));
        assert_eq!(options(r#"{"exactly":{"deviceClassName":"c","allocationMode":"All"}}"#), one(None));
        assert_eq!(options(r#"{"deviceClassName":"c","count":2}"#), one(Some(2)));
        let first = options(
            r#"{"firstAvailable":[{"deviceClassName":"c","count":1},{"deviceClassName":"d","count":2}]}"#,
        );
        assert_eq!(first, [("c".to_owned(), Some(1)), ("d".to_owned(), Some(2))]);
    }

    #[test]
    fn configurations_of_functions() {
        let json = r#"{"spec":{"devices":{"config":[null,{"opaque":{"driver":"gpu.nvidia.com","parameters":{"driver":"vfio-pci"}}},
            {"opaque":{"driver":"sriovnetwork.k8snetworkplumbingwg.io","parameters":{"kind":"VfConfig","netAttachDefName":"rail","driver":"vfio-pci"}}}]}}}"#;
        let found = read_claim(json).unwrap().1.functions;
        assert_eq!(
            found,
            [VfConfigOfClaim {
                network: Some("rail".into()),
                namespace: None,
                vfio: true,
                link: None,
                unreadable: false
            }]
        );
    }

    #[test]
    fn names_that_no_object_can_have_are_not_kept() {
        let function = |name: usize, namespace: usize| {
            let (name, namespace) = ("n".repeat(name), "s".repeat(namespace));
            let json = format!(
                r#"{{"spec":{{"devices":{{"config":[{{"opaque":{{"driver":"{SRIOV_DRIVER}","parameters":
                    {{"netAttachDefName":"{name}","netAttachDefNamespace":"{namespace}"}}}}}}]}}}}}}"#
            );
            let found = read_claim(&json).unwrap().1.functions.remove(0);
            let length = |text: Option<String>| text.map(|text| text.len());
            (length(found.network), length(found.namespace), found.unreadable)
        };
        assert_eq!(function(253, 253), (Some(253), Some(253), false));
        assert_eq!(function(254, 1), (None, Some(1), true));
        assert_eq!(function(1, 254), (Some(1), None, true));
        let class = "c".repeat(254);
        let asked = options(&format!(r#"{{"exactly":{{"deviceClassName":"{class}","count":2}}}}"#));
        assert_eq!(asked, [(String::new(), Some(2))]);
    }

    #[test]
    fn link_settings_that_reach_other_tenants() {
        for (vf, field) in [
            (r#"{"vlan":1234,"qos":0,"vlanProto":"802.1q"}"#, Some("vf.vlan")),
            // The function then has no VLAN, whatever its network says.
            (r#"{"vlan":0}"#, Some("vf.vlan")),
            (r#"{"trust":true}"#, Some("vf.trust")),
            (r#"{"trust":"on"}"#, Some("vf.trust")),
            (r#"{"trust":false,"spoofChk":false}"#, Some("vf.spoofChk")),
            (r#"{"vlan":null,"trust":null,"spoofChk":null}"#, None),
            (r#"{"trust":false,"spoofChk":true,"maxTxRate":1000,"minTxRate":0,"linkState":"auto"}"#, None),
            (r#"{"minTxRate":90000}"#, Some("fields of vf")),
            (r#"{"trust":false,"qos":7}"#, Some("fields of vf")),
            (r#"{"linkState":"enable"}"#, Some("fields of vf")),
            (r#"{"later":{"a":1}}"#, Some("fields of vf")),
            (r#"{"later":null,"qos":0}"#, None),
            ("[]", None),
        ] {
            let parameters = serde_json::from_str(&format!(r#"{{"vf":{vf}}}"#)).unwrap();
            assert_eq!(first_setting_of_vf_link(&parameters), field, "{vf}");
        }
    }

    #[test]
    fn a_template_holds_a_claim() {
        let json = r#"{"metadata":{"name":"t"},"spec":{"metadata":{},"spec":{"devices":{"requests":[{"name":"g","exactly":{"deviceClassName":"c"}}]}}}}"#;
        assert_eq!(read_template(json).unwrap().1.requests[0].name, "g");
        assert!(read_template(r#"{"spec":null}"#).unwrap().1.requests.is_empty());
        let wrong = r#"{"spec":{"spec":{"devices":{"requests":[{"exactly":{"count":"8"}}]}}}}"#;
        assert_eq!(read_template(wrong).unwrap_err().pointer, "/spec/spec/devices/requests/0/exactly/count");
    }
}
