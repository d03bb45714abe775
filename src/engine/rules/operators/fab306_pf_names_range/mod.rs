//! FAB306: impossible VF range in pfNames.

use super::do_sriov_policies_overlap::{OurNics, do_ranges_overlap, range_of_entry};
use super::other_sriov_policies::other_policies_in_time;
use crate::facts::SriovNodePolicy;
use crate::facts::sriov_node_policy::InterfaceWithVfRange;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::other_sriov_policy_and_common_nodes::OtherPolicy;
use crate::rules::rule_declaration::{Rule, files};
use serde_json::Value;
use std::cell::OnceCell;

pub(super) static RULE: Rule = Rule {
    id: "FAB306",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "another policy gives the NIC enough VFs")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    let entries = context.whole_object().and_then(|v| v.pointer("/spec/nicSelector/pfNames")?.as_array());
    let known = OnceCell::new();
    for (index, entry) in entries.into_iter().flatten().enumerate() {
        if findings.must_stop_reporting() {
            return;
        }
        let Some(text) = entry.as_str() else { continue };
        let Some(fault) = fault_of_entry(text, policy.num_vfs) else { continue };
        let path = format!("/spec/nicSelector/pfNames/{index}");
        let shown = Value::from(text);
        match first_policy_creating_vfs_of_entry(known.get_or_init(|| policies_that_may_create_vfs(context, policy)), context, policy, text) {
            Some((name, most)) => findings.add_with_severity(
                Severity::Warning,
                path,
                format!("pfNames entry {shown}: {fault}; the entry works only because policy {name:?} has numVfs {most} and the operator's webhook is off"),
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
struct PolicyThatMayCreateVfs<'c> {
    other: OtherPolicy<'c>,
    /// Whether it names no NIC, and could take those of the policy under review.
    whole: bool,
}

/// Policies that are asked for the VFs of one interface in one unit of the work of a run.
const POLICIES_PER_WORK: usize = 2;

/// The other policies. The operator's webhook refuses the range all the same (k8snetworkplumbingwg/sriov-network-operator
/// pkg/webhook/validate.go): it must be known to be off.
fn policies_that_may_create_vfs<'c>(
    context: &ObjectContext<'c>,
    own: &SriovNodePolicy,
) -> Vec<PolicyThatMayCreateVfs<'c>> {
    if context
        .snapshot
        .cluster_facts_for_audience()
        .has_sriov_operator_webhook(context.non_empty_text_at("/metadata/namespace"))
        != Some(false)
    {
        return Vec::new();
    }
    let nics = OurNics::new(own, context);
    let read = |other: OtherPolicy<'c>| {
        let whole = other.nics.entries() == 0 && nics.may_be_same_ignoring_names(other);
        PolicyThatMayCreateVfs { other, whole }
    };
    other_policies_in_time(context).map(read).collect()
}

/// Another policy on the NIC of an entry that creates the VFs which its own policy does not. The operator takes the
/// greatest numVfs of policies of one priority, and of those whose groups of VFs it keeps side by side (api/v1/helper.go,
/// mergeConfigs).
fn first_policy_creating_vfs_of_entry<'c>(
    siblings: &[PolicyThatMayCreateVfs<'c>],
    context: &ObjectContext<'_>,
    own: &SriovNodePolicy,
    entry: &str,
) -> Option<(&'c str, u32)> {
    let InterfaceWithVfRange { interface, range } = InterfaceWithVfRange::parse(entry)?;
    let (_, last) = range.filter(|(first, last)| first <= last)?;
    let number = context.snapshot.cluster_facts_for_audience().number_of_listed_interface(interface);
    context.deadline.spend_work_of_run(|| siblings.len() / POLICIES_PER_WORK);
    siblings.iter().find_map(|PolicyThatMayCreateVfs { other, whole }| {
        let policy = other.policy;
        let most = policy.num_vfs.filter(|most| last < *most)?;
        let theirs = match number.and_then(|number| other.nics.first_entry_of_interface(number)) {
            Some(index) => policy.vfs_used_in_range(range_of_entry(policy, index)),
            None if *whole => policy.vfs_used_in_range(None),
            None => return None,
        };
        let side_by_side = policy.resource != own.resource && !do_ranges_overlap(range, theirs);
        let merged = side_by_side || policy.priority == own.priority;
        (merged && other.shared.is_certain()).then_some((other.name, most))
    })
}

/// What is wrong with an entry of a policy with so many VFs.
fn fault_of_entry(entry: &str, num_vfs: Option<u32>) -> Option<String> {
    let range = entry.split_once('#')?.1;
    let Some(functions) = InterfaceWithVfRange::parse(entry) else {
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
    Some(format!(
        "the range ends at VF {last}, but the last VF of this policy is {} (numVfs {most})",
        most - 1
    ))
}

#[cfg(test)]
mod tests {
    use super::fault_of_entry;

    #[test]
    fn every_wrong_form_has_its_words() {
        for entry in ["ens1", "ens1#0-7", "ens1#3-3"] {
            assert_eq!(fault_of_entry(entry, Some(8)), None, "{entry}");
        }
        assert_eq!(fault_of_entry("ens1#0-99", None), None);
        for (entry, words) in [
            ("ens1#0,2-7", "a list"),
            ("ens1#0#1", "two #"),
            ("ens1#", "not a range"),
            ("ens1#4", "not a range"),
            ("ens1#a-b", "not a range"),
            ("ens1#0-1-2", "not a range"),
            ("#0-1", "is missing"),
            ("ens1#5-4", "but ends at VF 4"),
            ("ens1#0-8", "but the last VF of this policy is 7"),
        ] {
            let found = fault_of_entry(entry, Some(8)).unwrap();
            assert!(found.contains(words), "{entry}: {found}");
        }
    }
}
