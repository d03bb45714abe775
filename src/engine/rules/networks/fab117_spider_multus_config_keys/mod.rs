//! FAB117: unknown key of a SpiderMultusConfig.

use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::SPIDER_MULTUS_CONFIG;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};
use crate::text::{nearest, printable, token};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB117",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "a newer version of the kind may have the key")],
    files: files!(),
    kinds: &[SPIDER_MULTUS_CONFIG],
    object: Some(check),
    ..Rule::DEFAULT
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

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(object) = context.value() else { return };
    let Some(spec) = object.get("spec").and_then(Value::as_object) else { return };
    for key in spec.keys().filter(|k| !SPEC.contains(&k.as_str())) {
        let plugin =
            PLUGINS.iter().find(|(plugin, keys)| keys.contains(&key.as_str()) && spec.contains_key(*plugin));
        let fix = match plugin {
            Some((plugin, _)) => format!("Move it below {plugin}."),
            None => suggestion(key, &SPEC),
        };
        report(findings, "", key, fix);
    }
    for (plugin, keys) in PLUGINS {
        let settings = spec.get(*plugin).and_then(Value::as_object);
        for key in
            settings.into_iter().flat_map(serde_json::Map::keys).filter(|k| !keys.contains(&k.as_str()))
        {
            let fix = match key.as_str() {
                "enableRdma" if keys.contains(&"rdmaIsolation") => {
                    "Remove it: RDMA comes with the resource, and rdmaIsolation moves the device into the pod's namespace."
                        .to_owned()
                }
                _ => suggestion(key, keys),
            };
            report(findings, &format!("/{plugin}"), key, fix);
        }
    }
}

fn suggestion(key: &str, keys: &[&str]) -> String {
    match nearest(key, keys.iter().copied()) {
        Some(near) => format!("Did you mean {near}?"),
        None => format!("Write one of: {}.", keys.join(", ")),
    }
}

fn report(findings: &mut Findings<'_>, below: &str, key: &str, fix: String) {
    let shown = printable(key, 60);
    findings.add(
        format!("/spec{below}/{}", token(key)),
        format!("unknown field {shown}: the API server drops it silently"),
        fix,
    );
}
