//! FAB306: ranges of virtual functions behind the names of NICs.

use super::NODE_POLICY;
use crate::facts::node_policy::Functions;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use serde_json::Value;

/// FAB306.
pub(super) struct PfNames;

static PF_NAMES: Meta = Meta {
    id: "FAB306",
    severity: Severity::Error,
    summary: "pfNames with a range of functions that cannot be",
    what: "Reads each entry of `spec.nicSelector.pfNames`: a name, or a name with one range as `name#first-last`, counted \
           from 0 and below numVfs. The device plugin's own configuration takes lists such as `name#0,2-7`; the operator \
           does not.",
    why: "The operator cannot read the entry (`Unable to parse PF Name`) or makes fewer functions than the range names: \
          the resource has none, or fewer than are counted on, and pods stay Pending.",
    fix: "One entry a range, `ens1f0np0#0-3`, with an end of at most numVfs - 1; a second range of the port in a policy \
          of its own.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#4-8"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#4-7"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go",
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (ParseVfRange)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-009"],
    waiver: Waiver::Allowed,
};

/// What is wrong with an entry of a policy with so many functions.
fn fault(entry: &str, num_vfs: Option<u32>) -> Option<String> {
    let range = entry.split_once('#')?.1;
    let Some(functions) = Functions::parse(entry) else {
        let what = if range.contains(',') {
            "a list of functions, which only the device plugin's own configuration takes"
        } else if range.contains('#') {
            "two #, where one range is read"
        } else {
            "no range of two numbers"
        };
        return Some(what.to_owned());
    };
    if functions.interface.is_empty() {
        return Some("no name before #".to_owned());
    }
    let (first, last) = functions.range?;
    if last < first {
        return Some(format!("it ends at {last}, before it starts at {first}"));
    }
    let most = num_vfs.filter(|n| last >= *n && *n > 0)?;
    Some(format!("it ends at {last}, and the last of {most} functions is {}", most - 1))
}

impl Rule for PfNames {
    fn meta(&self) -> &'static Meta {
        &PF_NAMES
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy() else { return };
        let entries = context.value().and_then(|v| v.pointer("/spec/nicSelector/pfNames")?.as_array());
        for (index, entry) in entries.into_iter().flatten().enumerate() {
            let Some(text) = entry.as_str() else { continue };
            if let Some(fault) = fault(text, policy.num_vfs) {
                findings.add(
                    format!("/spec/nicSelector/pfNames/{index}"),
                    format!("pfNames entry {}: {fault}", Value::from(text)),
                    "write name#first-last, counted from 0, with an end below numVfs",
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn every_wrong_form_has_its_words() {
        for entry in ["ens1", "ens1#0-7", "ens1#3-3"] {
            assert_eq!(fault(entry, Some(8)), None, "{entry}");
        }
        assert_eq!(fault("ens1#0-99", None), None);
        for (entry, words) in [
            ("ens1#0,2-7", "a list"),
            ("ens1#0#1", "two #"),
            ("ens1#", "no range"),
            ("ens1#4", "no range"),
            ("ens1#a-b", "no range"),
            ("ens1#0-1-2", "no range"),
            ("#0-1", "no name"),
            ("ens1#5-4", "it ends at 4, before"),
            ("ens1#0-8", "the last of 8 functions is 7"),
        ] {
            let told = fault(entry, Some(8)).unwrap();
            assert!(told.contains(words), "{entry}: {told}");
        }
    }
}
