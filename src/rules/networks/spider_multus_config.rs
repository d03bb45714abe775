//! FAB117: keys of a SpiderMultusConfig that its CRD does not have.

use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use crate::text::{nearest, printable, token};
use serde_json::Value;

/// FAB117.
pub(super) struct SpiderKeys;

static SPIDER_KEYS: Meta = Meta {
    id: "FAB117",
    severity: Severity::Warning,
    summary: "a key of a SpiderMultusConfig that the API server drops",
    what: "Compares the keys below `spec` and below the settings of the plugin that `cniType` names with those of \
           Spiderpool's CRD. Older documentation writes `enableRdma`, and `ippools` beside the plugin and not in it.",
    why: "The API server drops fields that the CRD does not have, without an error for clients that do not ask for one: \
          the network has no RDMA isolation, or addresses of another pool than meant.",
    fix: "Write the key that the CRD has, at the place where it has it.",
    bad: r"apiVersion: spiderpool.spidernet.io/v2beta1
kind: SpiderMultusConfig
metadata: {name: rail-a, namespace: kube-system}
spec:
  cniType: sriov
  sriov:
    resourceName: example.com/rail_a
    enableRdma: true
    ippools: {ipv4: [rail-a]}
",
    good: r"apiVersion: spiderpool.spidernet.io/v2beta1
kind: SpiderMultusConfig
metadata: {name: rail-a, namespace: kube-system}
spec:
  cniType: sriov
  sriov:
    resourceName: example.com/rail_a
    rdmaIsolation: true
    ippools: {ipv4: [rail-a]}
",
    sources: &[
        "spidernet-io/spiderpool charts/spiderpool/crds/spiderpool.spidernet.io_spidermultusconfigs.yaml",
    ],
    since: "0.1.0",
    kinds: &[("spiderpool.spidernet.io", "SpiderMultusConfig")],
    also: &[],
    waiver: Waiver::Allowed,
};

const SPEC: [&str; 13] = [
    "chainCNIJsonData",
    "cniType",
    "coordinator",
    "customCNI",
    "disableIPAM",
    "enableCoordinator",
    "ibsriov",
    "ipoib",
    "ipvlan",
    "macvlan",
    "ovs",
    "sriov",
    "vlan",
];

/// Keys of the settings of each plugin.
const PLUGINS: &[(&str, &[&str])] = &[
    (
        "sriov",
        &["ippools", "maxTxRateMbps", "minTxRateMbps", "mtu", "rdmaIsolation", "resourceName", "vlanID"],
    ),
    ("ibsriov", &["enableIbKubernetes", "ippools", "linkState", "pkey", "rdmaIsolation", "resourceName"]),
    ("ipoib", &["ippools", "master"]),
    ("macvlan", &["bond", "ippools", "master", "mtu", "rdmaResourceName", "vlanID"]),
    ("ipvlan", &["bond", "ippools", "master", "mtu", "rdmaResourceName", "vlanID"]),
    ("vlan", &["bond", "ippools", "master", "mtu", "rdmaResourceName", "vlanID", "vlanMode"]),
    ("ovs", &["bridge", "deviceID", "ippools", "trunk", "vlan"]),
];

impl Rule for SpiderKeys {
    fn meta(&self) -> &'static Meta {
        &SPIDER_KEYS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(object) = context.value() else { return };
        let Some(spec) = object.get("spec").and_then(Value::as_object) else { return };
        for key in spec.keys().filter(|k| !SPEC.contains(&k.as_str())) {
            let plugin = PLUGINS
                .iter()
                .find(|(plugin, keys)| keys.contains(&key.as_str()) && spec.contains_key(*plugin));
            let fix = match plugin {
                Some((plugin, _)) => format!("write it below {plugin}"),
                None => suggestion(key, &SPEC),
            };
            tell(findings, "", key, fix);
        }
        for (plugin, keys) in PLUGINS {
            let settings = spec.get(*plugin).and_then(Value::as_object);
            for key in
                settings.into_iter().flat_map(serde_json::Map::keys).filter(|k| !keys.contains(&k.as_str()))
            {
                let fix = match key.as_str() {
                    "enableRdma" if keys.contains(&"rdmaIsolation") => {
                        "RDMA comes with the resource; rdmaIsolation moves the device into the pod's namespace".to_owned()
                    }
                    _ => suggestion(key, keys),
                };
                tell(findings, &format!("/{plugin}"), key, fix);
            }
        }
    }
}

fn suggestion(key: &str, keys: &[&str]) -> String {
    match nearest(key, keys.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("expected one of: {}", keys.join(", ")),
    }
}

fn tell(findings: &mut Findings<'_>, below: &str, key: &str, fix: String) {
    let shown = printable(key, 60);
    findings.add(
        format!("/spec{below}/{}", token(key)),
        format!("SpiderMultusConfig has no field {shown} here: the API server drops it"),
        fix,
    );
}
