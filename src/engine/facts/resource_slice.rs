//! ResourceSlice: the devices that a DRA driver publishes, counted.

use super::object_shape::{Meta, Object, non_empty};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::maps_of_request::FewEntries;
use crate::json::types_of_decoded_fields::{Objects, optional_struct};
use crate::multus::LinkLayer;
use serde::Deserialize;
use serde_json::Value;

/// The devices in one slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevicesInResourceSlice {
    /// Driver.
    pub driver: String,
    /// Pool that it is a part of; a node's pool usually has the node's name.
    pub pool: String,
    /// Generation of the pool. Slices of an older one are out of date
    /// (kubernetes/kubernetes staging/src/k8s.io/api/resource/v1, `ResourcePool`).
    pub generation: i64,
    /// Its devices.
    pub devices: DevicePool,
}

/// Devices of a driver's pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DevicePool {
    /// Node that has them; `None` for devices that a network reaches.
    pub node: Option<String>,
    /// Devices (count).
    pub devices: u32,
    /// Those with an RDMA attribute (count).
    pub rdma: u32,
    /// Link layer, if the attributes of all devices that have one agree.
    pub link: Option<LinkLayer>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    driver: Option<String>,
    #[serde(default)]
    node_name: Option<String>,
    #[serde(default, deserialize_with = "optional_struct")]
    pool: Option<Pool>,
    #[serde(default)]
    devices: Option<Objects<Device>>,
}

#[derive(Default, Deserialize)]
struct Pool {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    generation: Option<i64>,
}

/// Most attributes of one device that are read (count). The API server allows 32 (k8s.io/api resource/v1,
/// ResourceSliceMaxAttributesAndCapacitiesPerDevice).
const MAX_ATTRIBUTES: usize = 1_000;

/// v1beta1 has the attributes under `basic`.
#[derive(Default, Deserialize)]
struct Device {
    #[serde(default)]
    attributes: Option<FewEntries<Value, MAX_ATTRIBUTES>>,
    #[serde(default, deserialize_with = "optional_struct")]
    basic: Option<Basic>,
}

#[derive(Default, Deserialize)]
struct Basic {
    #[serde(default)]
    attributes: Option<FewEntries<Value, MAX_ATTRIBUTES>>,
}

impl Device {
    /// An attribute's value by the last part of its name: drivers add their own domain before it.
    fn attribute(&self, names: &[&str], value: &str) -> Option<&Value> {
        let attributes = self.attributes.as_ref().or_else(|| self.basic.as_ref()?.attributes.as_ref())?;
        let mut all = attributes.0.iter();
        all.find(|(key, _)| names.contains(&key.rsplit('/').next().unwrap_or_default()))?.1.get(value)
    }

    /// dranet has `rdma`, dra-driver-sriov `rdmaCapable`.
    fn rdma(&self) -> bool {
        self.attribute(&["rdma", "rdmaCapable"], "bool").and_then(Value::as_bool) == Some(true)
    }

    /// dra-driver-sriov has `linkType`, dranet `encapsulation`.
    fn link(&self) -> Option<LinkLayer> {
        LinkLayer::parse(self.attribute(&["linkType", "encapsulation"], "string")?.as_str()?)
    }
}

/// `None` for a slice without a driver.
pub(super) fn read(json: &str) -> Result<(Meta, Option<DevicesInResourceSlice>), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.into_meta_and_spec();
    let spec = spec.unwrap_or_default();
    let Some(driver) = non_empty(spec.driver) else { return Ok((meta, None)) };
    let devices = spec.devices.map(|d| d.0).unwrap_or_default();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let links: Vec<LinkLayer> = devices.iter().filter_map(Device::link).collect();
    let pool = spec.pool.unwrap_or_default();
    let slice = DevicesInResourceSlice {
        driver,
        pool: pool.name.unwrap_or_default(),
        generation: pool.generation.unwrap_or(0),
        devices: DevicePool {
            node: non_empty(spec.node_name),
            devices: count(devices.len()),
            rdma: count(devices.iter().filter(|d| d.rdma()).count()),
            link: links.first().copied().filter(|first| links.iter().all(|l| l == first)),
        },
    };
    Ok((meta, Some(slice)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_devices() {
        let json = r#"{"spec":{"driver":"dra.net","nodeName":"n","pool":{"name":"n","generation":3},"devices":[
            {"name":"a","attributes":{"dra.net/rdma":{"bool":true},"dra.net/encapsulation":{"string":"ether"}}},
            {"name":"b","basic":{"attributes":{"rdmaCapable":{"bool":true}}}},null]}}"#;
        let slice = read(json).unwrap().1.unwrap();
        assert_eq!((slice.driver.as_str(), slice.pool.as_str(), slice.generation), ("dra.net", "n", 3));
        assert_eq!((slice.devices.devices, slice.devices.rdma), (3, 2));
        assert_eq!(slice.devices.link, Some(LinkLayer::Ethernet));
    }

    #[test]
    fn odd_slices() {
        assert!(read(r#"{"spec":{"devices":null}}"#).unwrap().1.is_none());
        assert_eq!(read(r#"{"spec":{"devices":{}}}"#).unwrap_err().pointer, "/spec/devices");
    }
}
