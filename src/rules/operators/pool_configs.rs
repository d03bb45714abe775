//! FAB329, FAB350, FAB351: SriovNetworkPoolConfig and SriovOperatorConfig.

use super::nodes_in_common::{Common, common};
use super::{OPERATOR_CONFIG, POOL_CONFIG};
use crate::facts::PoolConfig;
use crate::rules::cel::{Cel, Check};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use crate::text::printable;
use serde_json::Value;

/// FAB329.
pub(super) struct PoolsInCommon;

static POOLS_IN_COMMON: Meta = Meta {
    id: "FAB329",
    severity: Severity::Error,
    summary: "nodes in more than one SriovNetworkPoolConfig",
    what: "Compares `spec.nodeSelector` with that of every other known pool. A pool without a selector, or with an empty \
           one, has all nodes. Pools for hardware offload (`ovsHardwareOffloadConfig.name`) do not count. An error where \
           the two are certain to have a node in common, a warning where that depends on labels.",
    why: "The operator gives such a node up (`node is part of more then one pool`): it is not drained and not configured, \
          and its RDMA mode is not set.",
    fix: "Selectors that no node answers to twice: one label with a value of its own for each pool.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkPoolConfig
metadata: {name: training, namespace: sriov-network-operator}
spec:
  maxUnavailable: 1
  rdmaMode: exclusive
  nodeSelector: {matchLabels: {pool: h200}}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkPoolConfig
metadata: {name: all, namespace: sriov-network-operator}
spec:
  maxUnavailable: 2
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkPoolConfig
metadata: {name: training, namespace: sriov-network-operator}
spec:
  maxUnavailable: 1
  rdmaMode: exclusive
  nodeSelector: {matchLabels: {pool: h200}}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkPoolConfig
metadata: {name: all, namespace: sriov-network-operator}
spec:
  maxUnavailable: 2
  nodeSelector: {matchExpressions: [{key: pool, operator: NotIn, values: [h200]}]}
"#,
    sources: &["k8snetworkplumbingwg/sriov-network-operator controllers/helper.go (findNodePoolConfig)"],
    since: "0.1.0",
    kinds: &[POOL_CONFIG],
    also: &["SRX-008"],
    waiver: Waiver::Allowed,
};

impl Rule for PoolsInCommon {
    fn meta(&self) -> &'static Meta {
        &POOLS_IN_COMMON
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        // Values of other types are FAB809's.
        let Ok(own) = PoolConfig::parse(context.json) else { return };
        let counted = |pool: &PoolConfig| !pool.hardware_offload;
        let Some(nodes) = own.nodes.as_ref().filter(|_| counted(&own)) else { return };
        let nodes: Vec<_> = nodes.iter().map(|c| c.requirement()).collect();
        let name = context.text("/metadata/name");
        let namespace = context.text("/metadata/namespace");
        for (other_namespace, other, pool) in context.snapshot.facts().pool_configs() {
            // The operator reads the pools of all namespaces.
            let same = Some(other) == name && namespace.is_none_or(|n| n == other_namespace);
            let Some(theirs) = pool.nodes.as_ref().filter(|_| !same && counted(pool)) else { continue };
            let theirs: Vec<_> = theirs.iter().map(|c| c.requirement()).collect();
            let shared = common(&nodes, &theirs, context.snapshot.nodes());
            if shared == Common::None {
                continue;
            }
            let severity = if shared.certain() { Severity::Error } else { Severity::Warning };
            findings.add_as(
                severity,
                "/spec/nodeSelector",
                format!(
                    "SriovNetworkPoolConfig {other} has nodes of this pool too, {}: the operator configures such nodes no more",
                    shared.words()
                ),
                "selectors that no node answers to twice",
            );
        }
    }
}

/// FAB350.
pub(super) struct OperatorConfigName;

static OPERATOR_CONFIG_NAME: Meta = Meta {
    id: "FAB350",
    severity: Severity::Error,
    summary: "SriovOperatorConfig that the operator does not read",
    what: "Looks for another name than `default`; and, as a warning, for a namespace other than that of the \
           SriovNetworkNodeStates, where one is known.",
    why: "The operator reads the one object `default` of its own namespace. Settings of another one (drain, RDMA, \
          injector, feature gates) are stored and have no effect; its webhook refuses them.",
    fix: "Name it `default`, in the operator's namespace.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovOperatorConfig
metadata: {name: config, namespace: sriov-network-operator}
spec: {disableDrain: true}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovOperatorConfig
metadata: {name: default, namespace: sriov-network-operator}
spec: {disableDrain: true}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (validateSriovOperatorConfig)",
    ],
    since: "0.1.0",
    kinds: &[OPERATOR_CONFIG],
    also: &["SOC-001"],
    waiver: Waiver::Allowed,
};

impl Rule for OperatorConfigName {
    fn meta(&self) -> &'static Meta {
        &OPERATOR_CONFIG_NAME
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        if let Some(name) = context.text("/metadata/name").filter(|name| *name != "default") {
            findings.add(
                "/metadata/name",
                format!(
                    "SriovOperatorConfig {}: the operator reads the one of name default alone",
                    printable(name, 63)
                ),
                "name: default",
            );
        }
        let operator = context.snapshot.facts().sriov_namespace();
        if let (Some(own), Some(operator)) = (context.text("/metadata/namespace"), operator)
            && own != operator
        {
            findings.add_as(
                Severity::Warning,
                "/metadata/namespace",
                format!("SriovOperatorConfig in namespace {own}: the operator is in {operator}, by its SriovNetworkNodeStates"),
                format!("namespace: {operator}"),
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let wrong = "object.metadata.?name.orValue('default') != 'default'";
        let message = "the operator reads the SriovOperatorConfig of name default alone; name: default";
        let beyond = Some("the namespace in which the operator is");
        Some(Cel { variables: Vec::new(), checks: vec![Check::error(wrong, message)], beyond })
    }
}

/// FAB351.
pub(super) struct PoolFields;

static POOL_FIELDS: Meta = Meta {
    id: "FAB351",
    severity: Severity::Error,
    summary: "SriovNetworkPoolConfig with fields that exclude each other, or a maxUnavailable that is none",
    what: "Looks for `ovsHardwareOffloadConfig.name` beside `maxUnavailable` or `nodeSelector`, and for a `maxUnavailable` \
           that is neither a number from 0 nor a text from `1%` to `100%`.",
    why: "A pool is for hardware offload or for drains, and the operator takes neither half of such an object. With a \
          maxUnavailable it cannot read, no node of the pool is drained: their configuration stays as it was.",
    fix: "Two objects, one for each; maxUnavailable as `1` or `\"20%\"`.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkPoolConfig
metadata: {name: training, namespace: sriov-network-operator}
spec:
  maxUnavailable: "2"
  nodeSelector: {matchLabels: {pool: h200}}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkPoolConfig
metadata: {name: training, namespace: sriov-network-operator}
spec:
  maxUnavailable: 2
  nodeSelector: {matchLabels: {pool: h200}}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (validateSriovNetworkPoolConfig)",
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (MaxUnavailable)",
    ],
    since: "0.1.0",
    kinds: &[POOL_CONFIG],
    also: &["SOC-003"],
    waiver: Waiver::Allowed,
};

fn fault(most: &Value) -> Option<&'static str> {
    match most {
        Value::Number(n) => n.as_i64().filter(|n| *n < 0).map(|_| "it is below zero"),
        Value::String(text) => {
            let percent = text.strip_suffix('%').map(str::parse::<u32>);
            match percent {
                None => Some("a text is a percentage, a number stands without quotes"),
                Some(Ok(1..=100)) => None,
                Some(_) => Some("a percentage is from 1% to 100%"),
            }
        }
        // Values of other types are refused by the schema.
        _ => None,
    }
}

impl Rule for PoolFields {
    fn meta(&self) -> &'static Meta {
        &POOL_FIELDS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(spec) = context.value().and_then(|v| v.get("spec")) else { return };
        let given = |field: &str| spec.get(field).filter(|v| !v.is_null());
        if context.text("/spec/ovsHardwareOffloadConfig/name").is_some() {
            for field in ["maxUnavailable", "nodeSelector"].into_iter().filter(|f| given(f).is_some()) {
                findings.add(
                    format!("/spec/{field}"),
                    format!("{field} beside ovsHardwareOffloadConfig.name: a pool is for one of them, the operator refuses both"),
                    "two SriovNetworkPoolConfigs",
                );
            }
        }
        if let Some(fault) = given("maxUnavailable").and_then(fault) {
            findings.add(
                "/spec/maxUnavailable",
                format!("maxUnavailable cannot be read: {fault}; no node of the pool is drained"),
                "a number such as 1, or a text such as \"20%\"",
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let offload = "variables.spec.?ovsHardwareOffloadConfig.?name.orValue('') != '' &&\n\
                       (has(variables.spec.maxUnavailable) && variables.spec.maxUnavailable != null ||\n\
                       has(variables.spec.nodeSelector) && variables.spec.nodeSelector != null)";
        let most = "has(variables.spec.maxUnavailable) && (type(variables.spec.maxUnavailable) == int ?\n\
                    variables.spec.maxUnavailable < 0 :\n\
                    type(variables.spec.maxUnavailable) == string &&\n\
                    !variables.spec.maxUnavailable.matches('^[+]?0*(100|[1-9][0-9]?)%$'))";
        let checks = vec![
            Check::error(
                offload,
                "maxUnavailable or nodeSelector beside ovsHardwareOffloadConfig.name: a pool is for one of them, the \
                 operator refuses both; two SriovNetworkPoolConfigs",
            ),
            Check::error(
                most,
                "maxUnavailable cannot be read, no node of the pool is drained; write a number from 0, or a text from 1% \
                 to 100%",
            ),
        ];
        Some(Cel { variables: Vec::new(), checks, beyond: None })
    }
}

#[cfg(test)]
mod tests {
    use super::fault;
    use serde_json::json;

    #[test]
    fn what_can_be_unavailable() {
        for fine in [json!(0), json!(3), json!("1%"), json!("100%"), json!(null)] {
            assert_eq!(fault(&fine), None, "{fine}");
        }
        for wrong in [json!(-1), json!("2"), json!("0%"), json!("101%"), json!("x%"), json!("")] {
            assert!(fault(&wrong).is_some(), "{wrong}");
        }
    }
}
