//! Objects laid together, asked through a Snapshot.

use super::{Builder, Layer, Snapshot};
use crate::facts::{ResourceFact, ResourceProvider};
use crate::multus::LinkLayer;

const SRIOV: &str = "sriovnetwork.openshift.io";

fn snapshot(objects: &[(&str, &str, &str)]) -> Snapshot {
    let mut builder = Builder::default();
    for (group, kind, json) in objects {
        builder.add(Layer::Input, group, kind, json, "default").unwrap();
    }
    builder.build()
}

const STATE: &str = r#"{"metadata":{"name":"n","namespace":"op"},
    "spec":{"interfaces":[{"name":"p1","pciAddress":"1","vfGroups":[{"resourceName":"r","isRdma":true}]}]},
    "status":{"interfaces":[{"name":"p1","pciAddress":"1","linkType":"IB"}]}}"#;

#[test]
fn nodes_show_the_link_layer_where_policies_take_either() {
    let policy = r#"{"metadata":{"name":"p"},"spec":{"resourceName":"r","numVfs":4}}"#;
    let state = (SRIOV, "SriovNetworkNodeState", STATE);
    let both = snapshot(&[(SRIOV, "SriovNetworkNodePolicy", policy), state]);
    let fact = both.resource("openshift.io/r").unwrap();
    assert_eq!((fact.link, fact.rdma), (Some(LinkLayer::InfiniBand), Some(false)));
    let alone = snapshot(&[state]);
    assert_eq!(alone.resource("nvidia.com/r").unwrap().rdma, Some(true));
    assert!(alone.resource("r").is_none());
}

#[test]
fn what_two_policies_say_differently_is_unknown() {
    let policy = |name: &str, link: &str, rdma: bool| {
        format!(
            r#"{{"metadata":{{"name":"{name}"}},"spec":{{"resourceName":"r","linkType":"{link}","isRdma":{rdma}}}}}"#
        )
    };
    let (a, b) = (policy("a", "eth", true), policy("b", "eth", false));
    let found = snapshot(&[(SRIOV, "SriovNetworkNodePolicy", &a), (SRIOV, "SriovNetworkNodePolicy", &b)]);
    let fact = found.resource("openshift.io/r").unwrap();
    assert_eq!((fact.link, fact.rdma), (Some(LinkLayer::Ethernet), None));
}

#[test]
fn macvlan_over_infiniband_is_seen_by_the_nodes() {
    let network = r#"{"metadata":{"name":"m"},"spec":{"master":"p1"}}"#;
    let found =
        snapshot(&[("mellanox.com", "MacvlanNetwork", network), (SRIOV, "SriovNetworkNodeState", STATE)]);
    let class = found.network_class_by_all_facts(found.network("default", "m").unwrap());
    assert_eq!(class.link, Some(LinkLayer::InfiniBand));
}

#[test]
fn a_shared_interface_has_the_device_that_the_pod_asks_for() {
    let network = r#"{"metadata":{"name":"m"},"spec":{"master":"p1"}}"#;
    let config = r#"{"metadata":{"name":"c"},"data":{"config.json":"{\"configList\":[{\"resourceName\":\"a\",\"selectors\":{\"ifNames\":[\"p1\"],\"linkTypes\":[\"ether\"]}},{\"resourceName\":\"b\",\"selectors\":{\"ifNames\":[\"p2\"]}}]}"}}"#;
    let found = snapshot(&[("mellanox.com", "MacvlanNetwork", network), ("", "ConfigMap", config)]);
    let network = found.network("default", "m").unwrap();
    let name = |r: &ResourceFact| r.name.to_string();
    let class = found.network_class_by_all_facts(network);
    assert_eq!((class.rdma, class.resource.map(name).as_deref()), (None, Some("rdma/a")));
    let class = found.cluster_facts_for_audience().resolve_link_and_device_of_network(
        network,
        true,
        &mut ["nvidia.com/gpu", "rdma/b"].into_iter(),
    );
    assert_eq!((class.rdma, class.resource.map(name).as_deref()), (Some(true), Some("rdma/b")));
}

#[test]
fn classes_stand_for_resources() {
    let class = r#"{"metadata":{"name":"gpu.x"},"spec":{"extendedResourceName":"x.com/gpu"}}"#;
    let found = snapshot(&[("resource.k8s.io", "DeviceClass", class)]);
    for name in ["x.com/gpu", "deviceclass.resource.kubernetes.io/gpu.x"] {
        assert_eq!(found.resource(name).unwrap().server, ResourceProvider::DeviceClass);
    }
    assert!(found.device_class("gpu.x").is_some());
}

#[test]
fn slices_of_an_older_generation_do_not_count() {
    let slice = |name: &str, generation: u8| {
        format!(
            r#"{{"metadata":{{"name":"{name}"}},"spec":{{"driver":"d","nodeName":"n","pool":{{"name":"p","generation":{generation}}},"devices":[{{}},{{}}]}}}}"#
        )
    };
    let (a, b, c) = (slice("a", 2), slice("b", 1), slice("c", 2));
    let found =
        snapshot(&[a, b, c].each_ref().map(|json| ("resource.k8s.io", "ResourceSlice", json.as_str())));
    let pools: Vec<_> = found.cluster_facts_for_audience().dra_device_pools_of_driver("d").collect();
    assert_eq!(pools.len(), 1);
    assert_eq!((pools[0].0, pools[0].1.devices, pools[0].1.node.as_deref()), ("p", 4, Some("n")));
}
