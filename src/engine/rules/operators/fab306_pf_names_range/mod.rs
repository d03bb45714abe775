//! FAB306: impossible VF range in pfNames.

use super::do_sriov_policies_overlap::{may_select_same_nic, overlap, pf_selections_of_policy};
use super::other_sriov_policies::others;
use crate::facts::NodePolicy;
use crate::facts::sriov_node_policy::Functions;
use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::sriov_policy_beside::Other;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::HashMap;

pub(super) static RULE: Rule = Rule {
    id: "FAB306",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "another policy gives the NIC enough VFs")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(policy) = context.node_policy() else { return };
    let entries = context.value().and_then(|v| v.pointer("/spec/nicSelector/pfNames")?.as_array());
    let known = OnceCell::new();
    for (index, entry) in entries.into_iter().flatten().enumerate() {
        if findings.must_stop_reporting() {
            return;
        }
        let Some(text) = entry.as_str() else { continue };
        let Some(fault) = fault(text, policy.num_vfs) else { continue };
        let path = format!("/spec/nicSelector/pfNames/{index}");
        let shown = Value::from(text);
        match sibling(known.get_or_init(|| siblings(context, policy)), context, policy, text) {
            Some((name, most)) => findings.add_as(
                Severity::Warning,
                path,
                format!("pfNames entry {shown} works only because policy {name:?} has numVfs {most} and the operator's webhook is off: {fault}"),
                format!("Set numVfs: {most}."),
            ),
            None => findings.add(
                path,
                format!("pfNames entry {shown}: {fault}"),
                "Write name#first-last; VFs are numbered from 0 to numVfs - 1.",
            ),
        }
    }
}

/// Another policy that may create the VFs which the one under review does not, read once for all entries.
struct Sibling<'c> {
    name: &'c str,
    policy: &'c NodePolicy,
    /// The VFs that it takes of each NIC that it names, by the first entry of the NIC.
    named: HashMap<&'c str, Option<(u32, u32)>>,
    /// Whether it names no NIC, and could take those of the policy under review.
    whole: bool,
    /// Whether both are certain to select a node in common.
    shared: bool,
}

/// The other policies. The operator's webhook refuses the range all the same (k8snetworkplumbingwg/sriov-network-operator
/// pkg/webhook/validate.go): it must be known to be off.
fn siblings<'c>(context: &ObjectContext<'c>, own: &NodePolicy) -> Vec<Sibling<'c>> {
    if context.snapshot.cluster_facts_for_audience().operator_webhook(context.text("/metadata/namespace"))
        != Some(false)
    {
        return Vec::new();
    }
    let index = own.nics.index();
    let read = |Other { name, policy, shared }: Other<'c>| {
        let entries = pf_selections_of_policy(policy, context.snapshot);
        let whole = entries.is_empty() && may_select_same_nic(&index, &policy.nics);
        let mut named = HashMap::new();
        for (_, nic, range) in entries {
            named.entry(nic).or_insert_with(|| policy.functions(range));
        }
        Sibling { name, policy, named, whole, shared: shared.certain() }
    };
    others(context).map(read).collect()
}

/// Another policy on the NIC of an entry that creates the VFs which its own policy does not. The operator takes the
/// greatest numVfs of policies of one priority, and of those whose groups of VFs it keeps side by side (api/v1/helper.go,
/// mergeConfigs).
fn sibling<'c>(
    siblings: &[Sibling<'c>],
    context: &ObjectContext<'_>,
    own: &NodePolicy,
    entry: &str,
) -> Option<(&'c str, u32)> {
    let Functions { interface, range } = Functions::parse(entry)?;
    let (_, last) = range.filter(|(first, last)| first <= last)?;
    let interface = context.snapshot.cluster_facts_for_audience().interface_named(interface);
    siblings.iter().find_map(|other| {
        let policy = other.policy;
        let most = policy.num_vfs.filter(|most| last < *most)?;
        let whole = || other.whole.then(|| policy.functions(None));
        let theirs = other.named.get(interface).copied().or_else(whole)?;
        let side_by_side = policy.resource != own.resource && !overlap(range, theirs);
        let merged = side_by_side || policy.priority == own.priority;
        (merged && other.shared).then_some((other.name, most))
    })
}

/// What is wrong with an entry of a policy with so many VFs.
fn fault(entry: &str, num_vfs: Option<u32>) -> Option<String> {
    let range = entry.split_once('#')?.1;
    let Some(functions) = Functions::parse(entry) else {
        let what = if range.contains(',') {
            "the operator accepts one range of VFs, not a list"
        } else if range.contains('#') {
            "the entry has two #, but the operator accepts only one range"
        } else {
            "the text after # is not a range of two numbers"
        };
        return Some(what.to_owned());
    };
    if functions.interface.is_empty() {
        return Some("the name of the interface before # is missing".to_owned());
    }
    let (first, last) = functions.range?;
    if last < first {
        return Some(format!("the range starts at VF {first}, but ends at VF {last}"));
    }
    let most = num_vfs.filter(|n| last >= *n && *n > 0)?;
    Some(format!("the range ends at VF {last}, but the last VF is {} (numVfs {most})", most - 1))
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
            ("ens1#", "not a range"),
            ("ens1#4", "not a range"),
            ("ens1#a-b", "not a range"),
            ("ens1#0-1-2", "not a range"),
            ("#0-1", "is missing"),
            ("ens1#5-4", "but ends at VF 4"),
            ("ens1#0-8", "but the last VF is 7"),
        ] {
            let found = fault(entry, Some(8)).unwrap();
            assert!(found.contains(words), "{entry}: {found}");
        }
    }
}
