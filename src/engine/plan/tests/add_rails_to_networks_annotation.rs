//! The networks annotation.

use super::{Case, nad};
use serde_json::json;

const ASKED: &str = "0 limits: example.com/vf = ";

#[test]
fn a_network_beside_the_rails_counts_where_it_takes_a_device_of_theirs() {
    let units = |cni: &str, namespace: &str| {
        let mut case = Case::new();
        case.spec["rails"][0]["count"] = 2.into();
        case.spec["acceleratorsPerNode"] = 2.into();
        case.container(0)["resources"]["limits"]["nvidia.com/gpu"] = 2.into();
        let mut own = nad("own", "example.com/vf", cni);
        own["metadata"]["namespace"] = namespace.into();
        case.objects = vec![nad("net", "example.com/vf", "sriov"), own];
        case.annotation(crate::multus::NETWORKS_ANNOTATION, &format!("{namespace}/own"));
        case.only(ASKED)
    };
    assert_eq!(units("sriov", "default"), [format!("{ASKED}3")]);
    assert_eq!(units("macvlan", "default"), [format!("{ASKED}2")]);
    assert_eq!(units("sriov", "elsewhere"), [format!("{ASKED}2")]);
}

#[test]
fn a_network_for_each_accelerator_stands_in_for_the_rails() {
    let mut case = Case::new();
    case.objects = vec![nad("net", "example.com/vf", "sriov"), nad("own", "example.com/vf", "sriov")];
    case.annotation(crate::multus::NETWORKS_ANNOTATION, "own");
    assert!(case.only("networks").is_empty());
    assert_eq!(case.only(ASKED), [format!("{ASKED}1")]);
}

#[test]
fn a_rail_without_its_own_interface_gets_an_unused_one() {
    let mut case = Case::new();
    case.spec["rails"] = json!([{"network": "net"}, {"network": "two", "interface": "rail2"}]);
    case.annotation(crate::multus::NETWORKS_ANNOTATION, "other@rail0,more@rail3");
    assert_eq!(case.only("networks"), ["networks annotation: other@rail0, more@rail3, net@rail4, two@rail2"]);
}
