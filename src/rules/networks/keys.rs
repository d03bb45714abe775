//! FAB108: keys of the annotation's JSON form that do nothing.

use crate::multus::request::{KEYS, octets};
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{nearest, printable};

/// FAB108.
pub(super) struct Keys;

static KEYS_META: Meta = Meta {
    id: "FAB108",
    severity: Severity::Warning,
    summary: "a key of the networks annotation that does nothing",
    what: "Compares the keys of the annotation's JSON form with those that Multus reads: `name`, `namespace`, \
           `interface`, `ips`, `mac`, `infiniband-guid`, `default-route`, `cni-args`, `deviceID`, `portMappings`, \
           `bandwidth`. A key that resembles none of them is information: another program may read it. A GUID of other \
           than eight octets is a warning too.",
    why: "Go's decoder passes over keys that it does not know, without a word: the gateway, address or interface that was \
          asked for is not there, and what depends on it fails much later. ib-sriov refuses a GUID of six octets.",
    fix: "Write the key that Multus reads.",
    bad: r#"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    k8s.v1.cni.cncf.io/networks: '[{"name": "rdma-net", "interfaceName": "rail0"}]'
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    k8s.v1.cni.cncf.io/networks: '[{"name": "rdma-net", "interface": "rail0"}]'
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &[
        "k8snetworkplumbingwg/multus-cni pkg/types/types.go (NetworkSelectionElement)",
        "Mellanox/network-operator example (networks annotation with `gateway`)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["ANN-009"],
    waiver: Waiver::Allowed,
};

/// Keys that are written for others.
const MEANT: &[(&str, &str)] = &[
    ("gateway", "default-route"),
    ("defaultroute", "default-route"),
    ("default_route", "default-route"),
    ("guid", "infiniband-guid"),
    ("infinibandguid", "infiniband-guid"),
    ("ip", "ips"),
    ("ipaddress", "ips"),
    ("interfacename", "interface"),
    ("ifname", "interface"),
    ("network", "name"),
    ("networkname", "name"),
    ("macaddress", "mac"),
    ("cniargs", "cni-args"),
    ("ns", "namespace"),
];

impl Rule for Keys {
    fn meta(&self) -> &'static Meta {
        &KEYS_META
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some(Ok(networks)) = context.networks else { return };
        for (index, item) in networks.items.iter().enumerate() {
            let Some(requests) = item.requests.as_deref() else { continue };
            let place = index + 1;
            for key in &requests.unknown {
                let shown = printable(key, 60);
                let meant =
                    MEANT.iter().find(|(wrong, _)| wrong.eq_ignore_ascii_case(key)).map(|(_, right)| *right);
                match meant.or_else(|| nearest(key, KEYS.into_iter())) {
                    Some(right) => findings.add(
                        annotation_path(),
                        format!("item {place}: Multus does not read {shown:?} and passes over it"),
                        format!("write {right:?}"),
                    ),
                    None => findings.add_as(
                        Severity::Info,
                        annotation_path(),
                        format!("item {place}: Multus does not read {shown:?} and passes over it"),
                        "remove it, unless another program reads it",
                    ),
                }
            }
            if let Some(guid) = &requests.guid
                && let Some(octets) = octets(guid).filter(|n| *n != 8)
            {
                findings.add(
                    annotation_path(),
                    format!("item {place}: infiniband-guid {guid} has {octets} octets, a port's GUID has 8"),
                    "write all eight octets, such as 02:00:00:00:00:00:00:01",
                );
            }
        }
    }
}
