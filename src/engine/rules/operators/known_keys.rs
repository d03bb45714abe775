//! Keys that the CRDs of the SR-IOV operator have.

use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::{IB_NETWORK, NETWORK, NODE_POLICY, OVS_NETWORK};
use crate::rules::object::ObjectContext;
use crate::text::{nearest, printable, token};

/// The keys of one mapping of a kind (k8snetworkplumbingwg/sriov-network-operator config/crd/bases).
pub(super) struct Keys {
    kind: &'static str,
    at: &'static str,
    keys: &'static [&'static str],
}

pub(super) static KEYS: &[Keys] = &[
    Keys {
        kind: NODE_POLICY.1,
        at: "/spec",
        keys: &[
            "bridge",
            "deviceType",
            "eSwitchMode",
            "excludeTopology",
            "externallyManaged",
            "isRdma",
            "linkType",
            "mtu",
            "needVhostNet",
            "nicSelector",
            "nodeSelector",
            "numVfs",
            "priority",
            "resourceName",
            "vdpaType",
        ],
    },
    Keys {
        kind: NODE_POLICY.1,
        at: "/spec/nicSelector",
        keys: &["deviceID", "netFilter", "pfNames", "rootDevices", "vendor"],
    },
    Keys { kind: NODE_POLICY.1, at: "/spec/bridge", keys: &["ovs"] },
    Keys { kind: NODE_POLICY.1, at: "/spec/bridge/ovs", keys: &["bridge", "uplink"] },
    Keys {
        kind: NODE_POLICY.1,
        at: "/spec/bridge/ovs/bridge",
        keys: &["datapathType", "externalIDs", "failMode", "otherConfig"],
    },
    Keys { kind: NODE_POLICY.1, at: "/spec/bridge/ovs/uplink", keys: &["interface"] },
    Keys {
        kind: NODE_POLICY.1,
        at: "/spec/bridge/ovs/uplink/interface",
        keys: &["externalIDs", "mtuRequest", "options", "otherConfig", "type"],
    },
    Keys {
        kind: NETWORK.1,
        at: "/spec",
        keys: &[
            "capabilities",
            "ipam",
            "linkState",
            "logFile",
            "logLevel",
            "maxTxRate",
            "metaPlugins",
            "minTxRate",
            "networkNamespace",
            "resourceName",
            "spoofChk",
            "trust",
            "vlan",
            "vlanProto",
            "vlanQoS",
        ],
    },
    Keys {
        kind: IB_NETWORK.1,
        at: "/spec",
        keys: &["capabilities", "ipam", "linkState", "metaPlugins", "networkNamespace", "resourceName"],
    },
    Keys {
        kind: OVS_NETWORK.1,
        at: "/spec",
        keys: &[
            "bridge",
            "capabilities",
            "interfaceType",
            "ipam",
            "metaPlugins",
            "mtu",
            "networkNamespace",
            "resourceName",
            "trunk",
            "vlan",
        ],
    },
];

/// Names that are used elsewhere for the same thing: the operator's own Go field, and keys of rendered definitions.
pub(super) static OTHER_NAMES: &[(&str, &str)] = &[
    ("metaPluginsConfig", "metaPlugins"),
    ("link_state", "linkState"),
    ("min_tx_rate", "minTxRate"),
    ("max_tx_rate", "maxTxRate"),
    ("interface_type", "interfaceType"),
    ("rdma", "isRdma"),
];

/// What to write instead of an unknown key of a mapping; `None` where no key is close.
pub(super) fn meant(kind: &str, at: &str, key: &str) -> Option<String> {
    let here = KEYS.iter().find(|k| k.kind == kind && k.at == at).map(|k| k.keys).unwrap_or_default();
    let same = |known: &&&str| known.eq_ignore_ascii_case(key);
    if let Some(known) = here.iter().find(same) {
        return Some(format!("Write `{known}`."));
    }
    let other = OTHER_NAMES.iter().find(|(name, known)| *name == key && here.contains(known));
    if let Some((_, known)) = other {
        return Some(format!("Write `{known}`."));
    }
    // The same word in another place: of this kind, or of another one.
    let elsewhere =
        KEYS.iter().filter(|k| (k.kind, k.at) != (kind, at) && k.keys.iter().any(|known| same(&known)));
    let (mut own, mut others) = (None, None);
    for keys in elsewhere {
        let place = if keys.kind == kind { &mut own } else { &mut others };
        place.get_or_insert(keys);
    }
    if let Some(keys) = own {
        return Some(format!("Move it to `{}`.", keys.at.trim_start_matches('/').replace('/', ".")));
    }
    let near = nearest(key, here.iter().copied());
    match (others, near) {
        (Some(keys), _) => Some(format!("Move it to a {}.", keys.kind)),
        (None, Some(known)) => Some(format!("Did you mean `{known}`?")),
        (None, None) => None,
    }
}

pub(super) fn check_keys(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(object) = context.value() else { return };
    for known in KEYS.iter().filter(|k| k.kind == context.kind) {
        let Some(mapping) = object.pointer(known.at).and_then(|m| m.as_object()) else { continue };
        for key in mapping.keys().filter(|key| !known.keys.contains(&key.as_str())) {
            let path = format!("{}/{}", known.at, token(key));
            let shown = printable(key, 40);
            let dropped = "the API server drops it silently";
            match meant(known.kind, known.at, key) {
                Some(meant) => findings.add(
                    path,
                    format!(
                        "unknown field `{shown}` in `{}` of a {}: {dropped}",
                        known.at.trim_start_matches('/').replace('/', "."),
                        known.kind
                    ),
                    meant,
                ),
                // Later versions of the CRD may have it.
                None => findings.add_as(
                    Severity::Info,
                    path,
                    format!(
                        "unknown field `{shown}` in a {} of operator {}: {dropped}",
                        known.kind,
                        super::supported_nics::OF
                    ),
                    "Remove it, or check the cluster's CRD.",
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn what_was_meant() {
        let policy = |at: &str, key: &str| meant("SriovNetworkNodePolicy", at, key).unwrap_or_default();
        assert_eq!(policy("/spec/nicSelector", "pfName"), "Did you mean `pfNames`?");
        assert_eq!(policy("/spec/nicSelector", "deviceId"), "Write `deviceID`.");
        assert_eq!(policy("/spec", "isRDMA"), "Write `isRdma`.");
        assert_eq!(policy("/spec", "nodeSelectors"), "Did you mean `nodeSelector`?");
        assert_eq!(policy("/spec", "pfNames"), "Move it to `spec.nicSelector`.");
        for key in ["spoofChk", "trust", "linkState", "maxTxRate"] {
            assert_eq!(policy("/spec", key), "Move it to a SriovNetwork.", "{key}");
        }
        assert_eq!(policy("/spec", "somethingNewEntirely"), "");
        let network = |kind: &str, key: &str| meant(kind, "/spec", key).unwrap_or_default();
        assert_eq!(network("SriovNetwork", "metaPluginsConfig"), "Write `metaPlugins`.");
        assert_eq!(network("SriovIBNetwork", "vlan"), "Move it to a SriovNetwork.");
        assert_eq!(network("SriovNetwork", "isRdma"), "Move it to a SriovNetworkNodePolicy.");
    }
}
