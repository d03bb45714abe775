//! Every rule, in one list (`which_rules_run` checks with them). Documentation, `explain`, `rules list` and the
//! meta-tests come from this list, so that none of them can disagree with it.

use super::rule_declaration::Rule;
use super::{cloud, inputs, memory_security, nccl, networks, operators, placement, profiles, resources};
use std::sync::LazyLock;

/// Every rule, by id: the groups one after the other, as the first digit of the ids has them.
pub static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let groups = [
        networks::RULES,
        resources::RULES,
        operators::RULES,
        nccl::RULES,
        memory_security::RULES,
        cloud::RULES,
        placement::RULES,
        profiles::RULES,
        inputs::RULES,
    ];
    groups.concat()
});

/// A rule by id, in any case.
#[must_use]
pub fn find_rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

/// Whether any rule checks objects of a kind.
#[must_use]
pub fn does_any_object_rule_run_on_kind(group: &str, kind: &str) -> bool {
    RULES.iter().any(|rule| rule.does_check_kind((group, kind)))
}

/// Whether any rule judges fields of a kind, and not only whether an object of it can be read and used.
#[must_use]
pub fn does_any_object_rule_check_more_than_usability(group: &str, kind: &str) -> bool {
    RULES.iter().any(|rule| !rule.reads_only && rule.kinds.contains(&(group, kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_checks_objects_of_its_kinds_or_pods() {
        for rule in RULES.iter() {
            let objects = rule.object.is_some() || rule.deletion.is_some();
            assert_eq!(objects, !rule.kinds.is_empty(), "{}: kinds", rule.id);
            // Their findings are made where the annotations are applied, and where files are read.
            let elsewhere = rule.of_files || rule.id == profiles::INEFFECTIVE_IGNORE.id;
            let checked = objects || rule.pod.is_some() || rule.workload.is_some();
            assert_eq!(checked, !elsewhere, "{}: checks", rule.id);
        }
    }

    #[test]
    fn the_page_of_every_rule_can_be_parsed_and_names_it() {
        for rule in RULES.iter() {
            let page = crate::rules::parse_page_of_rule::Page::parse(rule.files.page).unwrap();
            assert_eq!(page.id, rule.id);
        }
    }
}
