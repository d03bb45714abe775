//! IPPool and CIDRPool of nv-ipam: addresses that networks hand out by name (Mellanox/nvidia-k8s-ipam api/v1alpha1).

use super::object_shape::{Meta, Object, non_empty};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::multus::subnet::Subnet;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The facts of a pool that decisions need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressPool {
    /// Whether it is a CIDRPool, which gives each node its own subnet.
    pub cidr: bool,
    /// The addresses of all nodes; none if the text is not a network.
    pub subnets: Vec<Subnet>,
    /// Addresses that one node gets (count); `None` if that is not known.
    pub per_node: Option<u64>,
    /// Whether interfaces get a route to other networks: a gateway, or routes.
    pub routed: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    subnet: Option<String>,
    #[serde(default)]
    cidr: Option<String>,
    #[serde(default)]
    per_node_block_size: Option<i64>,
    #[serde(default)]
    gateway: Option<String>,
    #[serde(default)]
    gateway_index: Option<i64>,
    #[serde(default)]
    routes: Option<Vec<IgnoredAny>>,
}

pub(super) fn read(json: &str, cidr: bool) -> Result<(Meta, AddressPool), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.into_meta_and_spec();
    let spec = spec.unwrap_or_default();
    let all = if cidr { spec.cidr } else { spec.subnet };
    let routes = spec.routes.is_some_and(|r| !r.is_empty());
    let pool = AddressPool {
        cidr,
        subnets: non_empty(all)
            .and_then(|t| Some(Subnet::parse_address_and_subnet(&t)?.1))
            .into_iter()
            .collect(),
        per_node: spec.per_node_block_size.filter(|_| !cidr).and_then(|n| u64::try_from(n).ok()),
        routed: routes || if cidr { spec.gateway_index.is_some() } else { non_empty(spec.gateway).is_some() },
    };
    Ok((meta, pool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_kinds() {
        let json = r#"{"metadata":{"name":"p"},"spec":{"subnet":"10.1.0.0/16","perNodeBlockSize":8,"gateway":"10.1.0.1"}}"#;
        let pool = read(json, false).unwrap().1;
        assert_eq!((pool.subnets.len(), pool.per_node, pool.routed), (1, Some(8), true));
        let json = r#"{"spec":{"cidr":"10.2.0.0/16","perNodeNetworkPrefix":24}}"#;
        let pool = read(json, true).unwrap().1;
        assert_eq!(
            (pool.subnets[0].to_string().as_str(), pool.per_node, pool.routed),
            ("10.2.0.0/16", None, false)
        );
        assert!(read(r#"{"spec":{"subnet":"x"}}"#, false).unwrap().1.subnets.is_empty());
    }
}
