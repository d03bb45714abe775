//! Policies that keep pods, and their claims on devices, to networks of their own namespace, for those who ask no webhook
//! about updates of pods. A claim may be created after its pod, and no webhook is asked about claims.
//!
//! CEL cannot decode JSON. So the policy reads the keys `namespace` from the text, and refuses what could hide one: a
//! backslash, a character that is not ASCII, and a namespace that is not a text. Nobody writes these by accident.

use super::policies_of_rules_in_cel::{match_enforcing_namespaces, policy_or_binding, resource_rule};
use crate::facts::device_class::SRIOV_DRIVER;
use crate::multus::{DEFAULT_NETWORK_ANNOTATION, NETWORKS_ANNOTATION};
use crate::rules::rules_in_cel::{cel_literal, literals};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Whether a text of Multus' short form names only open namespaces.
const SHORT: &str = "TEXT.split(',').all(item, !item.contains('/') || item.split('/')[0].trim() in OPEN)";
/// Whether a text of its JSON form does.
const JSON: &str = r#"TEXT.matches('^[\\x20-\\x5b\\x5d-\\x7e\\s]*$') &&
TEXT.findAll('(?i)"namespace"\\s*:').size() == TEXT.findAll('(?i)"namespace"\\s*:\\s*"[^"]*"').size() &&
TEXT.findAll('(?i)"namespace"\\s*:\\s*"[^"]*"').all(member, member.split('"')[3] in OPEN)"#;
/// Whether a text gives its interfaces no identity of its own: with the GUID of another tenant's port, a pod is in the
/// partitions of that port, and with nv-ipam's arguments, it takes addresses of any pool. ib-kubernetes writes GUIDs into
/// stored pods.
const IDENTITY: &str = r#"object.spec.?hostNetwork.orValue(false) || TEXT.size() > 8000 || !TEXT.matches('(?i)"(infiniband-guid|deviceid)"\\s*:') &&
!TEXT.matches('"(guid|pkey|mellanox[.]infiniband[.]app)"\\s*:') &&
!TEXT.matches('(?i)"(poolnames|pooltype|allocatedefaultgateway|allocateipwithindex)"\\s*:') ||
oldObject != null && TEXT == BEFORE || request.userInfo.username in WRITERS"#;
/// Whether a text is short enough to be judged: the API server takes time by the square of the number of networks, 30 s for
/// 240 kB. 256 networks in the short form have about 4,000 characters.
const LENGTH: &str =
    "object.spec.?hostNetwork.orValue(false) || TEXT.size() <= 8000 || oldObject != null && TEXT == BEFORE";
/// Service accounts of ib-kubernetes, in its own manifests and in those of the NVIDIA Network Operator.
const IB_KUBERNETES: [&str; 2] = [
    "system:serviceaccount:kube-system:ib-kubernetes",
    "system:serviceaccount:nvidia-network-operator:ib-kubernetes",
];
/// Whether nothing must be checked: no network plugin runs in the node's network, and what does not change was judged
/// before. Multus takes a text with one of these three characters for JSON.
const ALLOWED: &str = r#"object.spec.?hostNetwork.orValue(false) || TEXT == '' ||
oldObject != null && TEXT == BEFORE || TEXT.size() > 8000 ||
(TEXT.matches('[\\[{"]') ?
JSON :
SHORT)"#;

/// Whether a configuration of a claim names no network of a namespace that is not open. dra-driver-sriov reads the fields
/// by their exact names (k8snetworkplumbingwg/dra-driver-sriov pkg/api/virtualfunction/v1alpha1, a strict decoder).
const CLAIM: &str = r"dyn(object.spec)TEMPLATE.?devices.?config.orValue([]).all(config, !has(config.opaque) ||
config.opaque.driver != DRIVER || config.opaque.?parameters.?netAttachDefNamespace.orValue('') in [''] + variables.open)";
/// Whether a configuration of a claim leaves the VLAN and the filters of its function to the network.
const LINK: &str = r"dyn(object.spec)TEMPLATE.?devices.?config.orValue([]).all(config, !has(config.opaque) ||
config.opaque.driver != DRIVER || !config.opaque.?parameters.?vf.?vlan.hasValue() &&
config.opaque.?parameters.?vf.?trust.orValue(false) == false && config.opaque.?parameters.?vf.?spoofChk.orValue(true) == true &&
config.opaque.?parameters.?vf.?minTxRate.orValue(0) == 0 && config.opaque.?parameters.?vf.?qos.orValue(0) == 0 &&
config.opaque.?parameters.?vf.?linkState.orValue('auto') == 'auto' &&
config.opaque.?parameters.?vf.?vlanProto.orValue('802.1q') == '802.1q' && config.opaque.?parameters.?vf.orValue({}).all(field,
field in ['vlan', 'trust', 'spoofChk', 'minTxRate', 'maxTxRate', 'qos', 'linkState', 'vlanProto']))";
/// The versions of DRA in which drivers are configured alike; a cluster serves some of them.
const DRA_VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1beta2"];

/// The policies and their bindings. `open`: namespaces whose networks every pod may use, besides its own and `default`.
#[must_use]
pub fn network_isolation_policies(open: &[String]) -> Vec<Value> {
    let annotation = |of: &str, key: &str| {
        let key = cel_literal(key);
        format!("{of}.metadata.?annotations[?{key}].orValue('')")
    };
    let text = |name: &str, key: &str| {
        let before = format!("oldObject == null ? '' : {}", annotation("oldObject", key));
        [
            json!({"name": name, "expression": annotation("object", key)}),
            json!({"name": format!("{name}Before"), "expression": before}),
        ]
    };
    let namespaces = |more: &[&str]| {
        let named: Vec<&str> = open.iter().map(String::as_str).chain(more.iter().copied()).collect();
        format!("[request.namespace] + {}", literals(&named))
    };
    let check = |name: &str, open: &str, what: &str| {
        let expression = ALLOWED.replace("JSON", JSON).replace("SHORT", SHORT);
        let expression = expression
            .replace("BEFORE", &format!("variables.{name}Before"))
            .replace("TEXT", &format!("variables.{name}"))
            .replace("OPEN", open);
        let message = format!(
            "FAB150 {what} is in another namespace, or its namespace is hidden: this cluster isolates namespaces; use a network of the pod's own namespace"
        );
        json!({"expression": expression, "message": message, "reason": "Forbidden"})
    };
    let identity = |name: &str, of: &str| {
        let expression = IDENTITY
            .replace("BEFORE", &format!("variables.{name}Before"))
            .replace("TEXT", &format!("variables.{name}"))
            .replace("WRITERS", &literals(&IB_KUBERNETES));
        let message = format!(
            "FAB150 {of} sets a GUID, a PKey, a device or a pool of addresses: this cluster isolates namespaces; remove infiniband-guid, deviceID, and guid, pkey, mellanox.infiniband.app, poolNames, poolType, allocateDefaultGateway and allocateIPWithIndex of cni-args"
        );
        json!({"expression": expression, "message": message, "reason": "Forbidden"})
    };
    let length = |name: &str, of: &str| {
        let expression = LENGTH
            .replace("BEFORE", &format!("variables.{name}Before"))
            .replace("TEXT", &format!("variables.{name}"));
        let message = format!(
            "FAB150 {of} has more than 8,000 characters, which takes the API server too long to check: this cluster isolates namespaces; write a shorter annotation"
        );
        json!({"expression": expression, "message": message, "reason": "Forbidden"})
    };
    let mut variables = text("networks", NETWORKS_ANNOTATION).to_vec();
    variables.extend(text("defaultNetwork", DEFAULT_NETWORK_ANNOTATION));
    variables.push(json!({"name": "open", "expression": namespaces(&["default"])}));
    // Administrators keep default networks in the namespace of Multus.
    variables.push(json!({"name": "openToDefault", "expression": namespaces(&["default", "kube-system"])}));
    // A condition that is false saves the API server most of the time that a policy takes, and this one cannot fail.
    let present = [NETWORKS_ANNOTATION, DEFAULT_NETWORK_ANNOTATION]
        .map(|key| format!("{} in object.metadata.annotations", cel_literal(key)))
        .join(" || ");
    let spec = json!({
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [resource_rule("", "v1", &["CREATE", "UPDATE"], &["pods"])]},
        "matchConditions": [{"name": "has-networks", "expression": format!("has(object.metadata.annotations) && ({present})")}],
        "variables": variables,
        "validations": [
            check("networks", "variables.open", "a network"),
            check("defaultNetwork", "variables.openToDefault", "the default network"),
            length("networks", "the networks annotation"),
            length("defaultNetwork", "the annotation of the default network"),
            identity("networks", "the networks annotation"),
            identity("defaultNetwork", "the annotation of the default network"),
        ],
    });
    let mut all = bound("isolation.fabric-admission.dev", spec).to_vec();
    for (kind, template) in [("resourceclaims", ""), ("resourceclaimtemplates", ".spec")] {
        let spec = of_claims(kind, template, &namespaces(&["default"]));
        all.extend(bound(&format!("isolation-{kind}.fabric-admission.dev"), spec));
    }
    all
}

/// A policy on claims or their templates. The API server keeps their specs as they are created.
fn of_claims(kind: &str, template: &str, open: &str) -> Value {
    let mut rule = resource_rule("resource.k8s.io", "v1", &["CREATE"], &[kind]);
    if let Some(versions) = rule.get_mut("apiVersions") {
        *versions = json!(DRA_VERSIONS);
    }
    let check = |expression: &str, message: &str| {
        let expression =
            expression.replace("TEMPLATE", template).replace("DRIVER", &cel_literal(SRIOV_DRIVER));
        json!({"expression": expression, "message": message, "reason": "Forbidden"})
    };
    json!({
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "variables": [{"name": "open", "expression": open}],
        "validations": [
            check(CLAIM, "FAB150 a VfConfig attaches a network of another namespace: this cluster isolates namespaces; use a network of the claim's own namespace"),
            check(LINK, "FAB150 a VfConfig sets the VLAN or other options of the link in vf: this cluster isolates namespaces; the claim's network can set them"),
        ],
    })
}

/// A policy with its binding to enforcing namespaces.
fn bound(name: &str, spec: Value) -> [Value; 2] {
    let binding = json!({"policyName": name, "validationActions": ["Deny"], "matchResources": match_enforcing_namespaces()});
    [
        policy_or_binding("ValidatingAdmissionPolicy", name, BTreeMap::new(), spec),
        policy_or_binding("ValidatingAdmissionPolicyBinding", name, BTreeMap::new(), binding),
    ]
}
