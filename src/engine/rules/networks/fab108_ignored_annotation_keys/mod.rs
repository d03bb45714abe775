//! FAB108: key of the networks annotation that Multus ignores.

use crate::multus::networks_annotation_requests::{
    KEYS_THAT_PROGRAMS_READ, count_octets_of_hardware_address,
};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::most_findings_per_rule::MAX_FINDINGS_PER_RULE_AND_SEVERITY;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::{escaped_and_cut, nearest_if_probably_meant};

pub(super) static RULE: Rule = Rule {
    id: "FAB108",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the key does not resemble any key that Multus reads")],
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Other names that people write for a key.
const MEANT: &[(&str, &str)] = &[
    ("gateway", "default-route"),
    ("defaultroute", "default-route"),
    ("default_route", "default-route"),
    ("guid", "infiniband-guid"),
    ("infinibandguid", "infiniband-guid"),
    ("ip", "ips"),
    ("ipaddress", "ips"),
    ("interfacename", "interface"),
    ("ifname", "interface"),
    ("network", "name"),
    ("networkname", "name"),
    ("macaddress", "mac"),
    ("cniargs", "cni-args"),
    ("ns", "namespace"),
];

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(Ok(networks)) = &context.subject.networks else { return };
    // The limit of reported findings. Each key is compared with all known keys, so further keys are not even compared.
    let mut left = MAX_FINDINGS_PER_RULE_AND_SEVERITY;
    for (index, item) in networks.items.iter().enumerate() {
        let Some(requests) = item.requests.as_deref() else { continue };
        let place = index + 1;
        let shown = requests.unknown.iter().take(left);
        left -= shown.len();
        for key in shown {
            let shown = escaped_and_cut(key, 60);
            let meant =
                MEANT.iter().find(|(wrong, _)| wrong.eq_ignore_ascii_case(key)).map(|(_, right)| *right);
            match meant.or_else(|| nearest_if_probably_meant(key, context.subject.deadline.take_names_within_budgets(key, KEYS_THAT_PROGRAMS_READ.into_iter()))) {
                Some(right) => findings.add(
                    networks_annotation(),
                    format!("item {place} of the networks annotation has the unknown key {shown:?}, which Multus ignores"),
                    format!("Rename the key to {right:?}."),
                ),
                None => findings.add_with_severity(
                    Severity::Info,
                    networks_annotation(),
                    format!("item {place} of the networks annotation has the unknown key {shown:?}, which Multus ignores"),
                    "Remove the key if no other program reads it.",
                ),
            }
        }
        if let Some(guid) = &requests.guid
            && let Some(octets) = count_octets_of_hardware_address(guid).filter(|n| *n != 8)
        {
            findings.add(
                networks_annotation(),
                format!(
                    "infiniband-guid {guid} of item {place} has {octets} octets, but ib-sriov accepts only 8"
                ),
                "Write all eight octets, such as 02:00:00:00:00:00:00:01.",
            );
        }
    }
}
