//! NetworkPolicies that leave the API server no way to the webhook port.

use super::check_outcome::Outcome;
use super::facts_that_were_read::{Facts, list, text};
use super::what_is_read::{API_SERVERS, NETWORK_POLICIES, POD_LABELS, PODS};
use crate::multus::subnet::Subnet;
use core::net::IpAddr;
use serde_json::Value;
use std::collections::BTreeMap;

/// Whether a policy's pod selector matches labels. `matchExpressions` of other shapes than those below are taken to match:
/// a policy that is looked at too much is a warning, one that is overlooked an outage.
fn selects(policy: &Value, labels: &BTreeMap<&str, &str>) -> bool {
    let exact = policy.pointer("/spec/podSelector/matchLabels").and_then(Value::as_object);
    let exact =
        exact.into_iter().flatten().all(|(key, value)| labels.get(key.as_str()) == value.as_str().as_ref());
    exact
        && list(policy, "/spec/podSelector/matchExpressions").iter().all(|e| {
            let value = labels.get(text(e, "/key"));
            let among = list(e, "/values").iter().any(|v| v.as_str() == value.copied());
            match text(e, "/operator") {
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
    let types = list(policy, "/spec/policyTypes");
    types.is_empty() || types.iter().any(|kind| kind == "Ingress")
}

/// Whether a rule admits the webhook port.
fn admits_port(rule: &Value, port: &Value) -> bool {
    let ports = list(rule, "/ports");
    let number = port.pointer("/containerPort").and_then(Value::as_u64);
    ports.is_empty()
        || ports.iter().any(|p| {
            let tcp = matches!(text(p, "/protocol"), "" | "TCP");
            tcp && match p.pointer("/port") {
                None => true,
                Some(Value::String(name)) => name == text(port, "/name"),
                Some(first) => {
                    let first = first.as_u64();
                    let last = p.pointer("/endPort").and_then(Value::as_u64).or(first);
                    number >= first && number <= last
                }
            }
        })
}

/// Whether an ipBlock holds an address (networkpolicy.v1 `IPBlock`: `except` are networks within `cidr`).
fn holds(block: &Value, address: IpAddr) -> bool {
    let within = |cidr: &str| Subnet::parse(cidr).is_some_and(|(_, subnet)| subnet.contains(address));
    within(text(block, "/cidr")) && !list(block, "/except").iter().filter_map(Value::as_str).any(within)
}

/// Whether a rule admits an address; without one, whether it admits any. The API server has an address of a host or outside
/// of the cluster: no selector of pods matches those.
fn admits(rule: &Value, address: Option<IpAddr>) -> bool {
    let mut blocks = list(rule, "/from").iter().filter_map(|peer| peer.pointer("/ipBlock"));
    blocks.any(|block| address.is_none_or(|address| holds(block, address)))
}

/// Addresses of the API servers.
fn api_servers(facts: &Facts) -> Result<Vec<IpAddr>, Outcome> {
    let subsets = facts.read(&API_SERVERS)?.iter().flat_map(|object| list(object, "/subsets"));
    let addresses = subsets.flat_map(|subset| list(subset, "/addresses"));
    Ok(addresses.filter_map(|address| text(address, "/ip").parse().ok()).collect())
}

pub(super) fn check_policies_admit_api_server(facts: &Facts) -> Result<Outcome, Outcome> {
    let policies = facts.read(&NETWORK_POLICIES)?;
    let pods = facts.read(&PODS)?;
    let own: Vec<(&str, &str)> = POD_LABELS.to_vec();
    let found = pods.first().and_then(|pod| pod.pointer("/metadata/labels")?.as_object());
    let labels: BTreeMap<&str, &str> = match found {
        Some(labels) => labels.iter().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?))).collect(),
        None => own.into_iter().collect(),
    };
    let port =
        pods.iter().flat_map(|pod| list(pod, "/spec/containers").iter().flat_map(|c| list(c, "/ports")));
    let port = port
        .into_iter()
        .find(|port| text(port, "/name") == "webhook")
        .cloned()
        .unwrap_or_else(|| serde_json::json!({"name": "webhook", "containerPort": 10250}));
    let limiting: Vec<&Value> =
        policies.iter().filter(|policy| limits_ingress(policy) && selects(policy, &labels)).collect();
    let rules = limiting.iter().flat_map(|policy| list(policy, "/spec/ingress"));
    let rules: Vec<&Value> = rules.filter(|rule| admits_port(rule, &port)).collect();
    let admitted = |address: Option<IpAddr>| rules.iter().any(|rule| admits(rule, address));
    if limiting.is_empty() || rules.iter().any(|rule| list(rule, "/from").is_empty()) {
        return Ok(Outcome::success());
    }
    let names: Vec<&str> = limiting.iter().map(|policy| text(policy, "/metadata/name")).collect();
    let number = port.pointer("/containerPort").and_then(Value::as_u64).unwrap_or_default();
    if admitted(None) {
        let Some(address) = api_servers(facts)?.into_iter().find(|address| !admitted(Some(*address))) else {
            return Ok(Outcome::success());
        };
        return Ok(Outcome::warning(
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
    Ok(Outcome::warning(
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
