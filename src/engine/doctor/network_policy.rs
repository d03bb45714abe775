//! NetworkPolicies that leave the API server no way to the webhook port.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, list_at_pointer, text_at_pointer};
use super::what_is_read::{API_SERVERS, NETWORK_POLICIES, POD_LABELS, PODS};
use crate::multus::subnet::Subnet;
use core::net::IpAddr;
use serde_json::Value;
use std::collections::BTreeMap;

/// Whether a policy's pod selector matches labels. `matchExpressions` of other shapes than those below are taken to match:
/// a policy that is looked at too much is a warning, one that is overlooked an outage.
fn does_policy_select_labels(policy: &Value, labels: &BTreeMap<&str, &str>) -> bool {
    let exact = policy.pointer("/spec/podSelector/matchLabels").and_then(Value::as_object);
    let exact =
        exact.into_iter().flatten().all(|(key, value)| labels.get(key.as_str()) == value.as_str().as_ref());
    exact
        && list_at_pointer(policy, "/spec/podSelector/matchExpressions").iter().all(|e| {
            let value = labels.get(text_at_pointer(e, "/key"));
            let among = list_at_pointer(e, "/values").iter().any(|v| v.as_str() == value.copied());
            match text_at_pointer(e, "/operator") {
                "In" => among,
                "NotIn" => !among,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => true,
            }
        })
}

fn limits_ingress(policy: &Value) -> bool {
    // Without the field every policy is about ingress (k8s.io/api networking/v1, PolicyTypes).
    let types = list_at_pointer(policy, "/spec/policyTypes");
    types.is_empty() || types.iter().any(|kind| kind == "Ingress")
}

/// Whether a rule admits the webhook port.
fn admits_port(rule: &Value, port: &Value) -> bool {
    let ports = list_at_pointer(rule, "/ports");
    let number = port.pointer("/containerPort").and_then(Value::as_u64);
    ports.is_empty()
        || ports.iter().any(|p| {
            let tcp = matches!(text_at_pointer(p, "/protocol"), "" | "TCP");
            tcp && match p.pointer("/port") {
                None => true,
                Some(Value::String(name)) => name == text_at_pointer(port, "/name"),
                Some(first) => {
                    let first = first.as_u64();
                    let last = p.pointer("/endPort").and_then(Value::as_u64).or(first);
                    number >= first && number <= last
                }
            }
        })
}

/// Whether an ipBlock holds an address (networkpolicy.v1 `IPBlock`: `except` are networks within `cidr`).
fn does_block_hold_address(block: &Value, address: IpAddr) -> bool {
    let within = |cidr: &str| {
        Subnet::parse_address_and_subnet(cidr).is_some_and(|(_, subnet)| subnet.contains(address))
    };
    within(text_at_pointer(block, "/cidr"))
        && !list_at_pointer(block, "/except").iter().filter_map(Value::as_str).any(within)
}

/// Whether a rule admits an address; without one, whether it admits any. The API server has an address of a host or outside
/// of the cluster: no selector of pods matches those.
fn does_rule_admit_address(rule: &Value, address: Option<IpAddr>) -> bool {
    let mut blocks = list_at_pointer(rule, "/from").iter().filter_map(|peer| peer.pointer("/ipBlock"));
    blocks.any(|block| address.is_none_or(|address| does_block_hold_address(block, address)))
}

/// Addresses of the API servers.
fn api_servers(facts: &Facts) -> Result<Vec<IpAddr>, DoctorCheckOutcome> {
    let subsets =
        facts.objects_or_skip(&API_SERVERS)?.iter().flat_map(|object| list_at_pointer(object, "/subsets"));
    let addresses = subsets.flat_map(|subset| list_at_pointer(subset, "/addresses"));
    Ok(addresses.filter_map(|address| text_at_pointer(address, "/ip").parse().ok()).collect())
}

pub(super) fn check_policies_admit_api_server(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let policies = facts.objects_or_skip(&NETWORK_POLICIES)?;
    let pods = facts.objects_or_skip(&PODS)?;
    let own: Vec<(&str, &str)> = POD_LABELS.to_vec();
    let found = pods.first().and_then(|pod| pod.pointer("/metadata/labels")?.as_object());
    let labels: BTreeMap<&str, &str> = match found {
        Some(labels) => labels.iter().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?))).collect(),
        None => own.into_iter().collect(),
    };
    let port = pods.iter().flat_map(|pod| {
        list_at_pointer(pod, "/spec/containers").iter().flat_map(|c| list_at_pointer(c, "/ports"))
    });
    let port = port
        .into_iter()
        .find(|port| text_at_pointer(port, "/name") == "webhook")
        .cloned()
        .unwrap_or_else(|| serde_json::json!({"name": "webhook", "containerPort": 10250}));
    let limiting: Vec<&Value> = policies
        .iter()
        .filter(|policy| limits_ingress(policy) && does_policy_select_labels(policy, &labels))
        .collect();
    let rules = limiting.iter().flat_map(|policy| list_at_pointer(policy, "/spec/ingress"));
    let rules: Vec<&Value> = rules.filter(|rule| admits_port(rule, &port)).collect();
    let admitted = |address: Option<IpAddr>| rules.iter().any(|rule| does_rule_admit_address(rule, address));
    if limiting.is_empty() || rules.iter().any(|rule| list_at_pointer(rule, "/from").is_empty()) {
        return Ok(DoctorCheckOutcome::success());
    }
    let names: Vec<&str> = limiting.iter().map(|policy| text_at_pointer(policy, "/metadata/name")).collect();
    let number = port.pointer("/containerPort").and_then(Value::as_u64).unwrap_or_default();
    if admitted(None) {
        let Some(address) = api_servers(facts)?.into_iter().find(|address| !admitted(Some(*address))) else {
            return Ok(DoctorCheckOutcome::success());
        };
        return Ok(DoctorCheckOutcome::warning(
            format!(
                "NetworkPolicy {} does not admit {address}, the address of an API server, to port {number} of the server: \
                 if the CNI plugin applies this policy, the calls of the API server time out",
                names.join(", ")
            ),
            "Add {address} to the ipBlocks of the policy (chart value networkPolicy.controlPlaneCIDRs). Ignore this warning \
             if the API server calls through a proxy in the cluster (konnectivity), and the ipBlock contains the \
             address of the proxy."
                .replace("{address}", &address.to_string()),
        ));
    }
    Ok(DoctorCheckOutcome::warning(
        format!(
            "NetworkPolicy {} admits only pods to port {number} of the server: if the CNI plugin applies this \
             policy, the calls of the API server time out",
            names.join(", ")
        ),
        format!(
            "Add a rule with ports: [{{port: {number}}}]. Leave out from, or set an ipBlock of the control plane, as in \
             deploy/base/networkpolicy.yaml."
        ),
    ))
}
