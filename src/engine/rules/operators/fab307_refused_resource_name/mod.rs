//! FAB307: resourceName that the device plugin or the operator refuses.

use super::sriov_policy_in_cel::{cel_with_policy_variables, condition_unless_named_default};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB307",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "operators after 1.6 accept a hyphen")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

/// Longest name (characters).
const LONGEST: usize = 63;

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    let path = "/spec/resourceName";
    let name = policy.resource.as_str();
    // Without the field the schema refuses the policy.
    if context.whole_object().and_then(|v| v.pointer(path)).is_none_or(|v| !v.is_string()) {
        return;
    }
    if let Some(fault) = fault(name) {
        findings.add(path, fault, "Write only letters, digits and underscores, such as rdma_vf.");
    } else if name.contains('-') {
        findings.add_with_severity(
            Severity::Warning,
            path,
            format!("resourceName {name} has a hyphen: the webhook of operators up to version 1.6 refuses this name"),
            format!("Set resourceName: {}.", name.replace('-', "_")),
        );
    }
}

fn cel() -> Cel {
    let text = "type(variables.spec.?resourceName.orValue(0)) == string";
    let bare = "variables.spec.resourceName.matches('^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$')";
    cel_with_policy_variables(vec![
        CelCheck::error(
            condition_unless_named_default(&format!("{text} &&\n!{bare}")),
            "resourceName is not a bare name of at most 63 letters, digits and underscores: the device plugin exits at start, or the resource gets a name that no pod requests; write a bare name such as rdma_vf",
        ),
        CelCheck::warning(
            condition_unless_named_default(&format!(
                "{text} &&\n{bare} && variables.spec.resourceName.contains('-')"
            )),
            "resourceName has a hyphen: the webhook of operators up to version 1.6 refuses this name; write underscores",
        ),
    ])
}

fn fault(name: &str) -> Option<String> {
    let alphanumeric = |c: char| c.is_ascii_alphanumeric();
    if name.is_empty() {
        return Some("resourceName is empty: the VFs belong to no resource".to_owned());
    }
    let shown = escaped_and_cut(name, LONGEST + 1);
    if let Some((prefix, bare)) = name.split_once('/') {
        return Some(format!(
            "resourceName {shown} has a prefix: the operator adds its own, so the resource becomes PREFIX/{}/{}",
            escaped_and_cut(prefix, 40),
            escaped_and_cut(bare, 40)
        ));
    }
    if name.chars().count() > LONGEST {
        return Some(format!("resourceName {shown} is longer than {LONGEST} characters"));
    }
    if let Some(odd) = name.chars().find(|c| !alphanumeric(*c) && !matches!(c, '_' | '-')) {
        let odd = escaped_and_cut(&odd.to_string(), 8);
        return Some(format!(
            "resourceName {shown} has the character `{odd}`: the device plugin exits at start"
        ));
    }
    let ends = name.starts_with(alphanumeric) && name.ends_with(alphanumeric);
    (!ends).then(|| format!("resourceName {shown} does not start and end with a letter or digit"))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn names_that_work_and_names_that_do_not() {
        let longest = "a".repeat(63);
        for name in ["r", "rdma_vf", "rdma-vf", "R1", longest.as_str()] {
            assert_eq!(fault(name), None, "{name}");
        }
        let long = "a".repeat(64);
        for (name, words) in [
            ("", "empty"),
            ("openshift.io/x", "prefix"),
            ("a.b", "`.`"),
            ("a b", "` `"),
            ("é", "`é`"),
            ("_a", "start and end"),
            ("a-", "start and end"),
            (long.as_str(), "longer"),
        ] {
            let found = fault(name).unwrap();
            assert!(found.contains(words), "{name}: {found}");
        }
    }
}
