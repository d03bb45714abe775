//! FAB8xx: which profile a pod gets and whether it can be applied, FabricProfiles themselves, our annotations, and
//! objects that cannot be read as facts.

mod fab801_absent_networks_or_resources;
mod fab802_not_injected;
mod fab803_no_profile;
mod fab804_refused_profile;
mod fab805_profile_not_applied;
mod fab806_ambiguous_profile;
mod fab807_kept_off_profile_nodes;
mod fab808_no_node_yet;
mod fab809_unreadable_object;
mod fab810_unknown_rail_subset;
mod fab811_unusable_profile;
mod fab812_profile_in_use;
mod fab813_old_facts;
mod fab814_container_choice;
mod fab815_ineffective_ignore;
mod fab816_annotation_without_effect;
mod fab817_namespace_without_effect;
mod fab818_selector_without_value;
mod fab819_pods_own_fields_kept;
mod fab820_over_limit;
mod fab821_preflight_or_monitor;
mod how_pod_names_profile;
mod misspelt_node_label;
mod texts_too_long_for_rules;

use crate::rules::rule_declaration::Rule;
pub use fab803_no_profile::RULE as NO_PROFILE;
pub(super) use fab815_ineffective_ignore::RULE as INEFFECTIVE_IGNORE;

/// Rules of the group, by id.
pub(super) static RULES: &[&Rule] = &[
    &fab801_absent_networks_or_resources::RULE,
    &fab802_not_injected::RULE,
    &fab803_no_profile::RULE,
    &fab804_refused_profile::RULE,
    &fab805_profile_not_applied::RULE,
    &fab806_ambiguous_profile::RULE,
    &fab807_kept_off_profile_nodes::RULE,
    &fab808_no_node_yet::RULE,
    &fab809_unreadable_object::RULE,
    &fab810_unknown_rail_subset::RULE,
    &fab811_unusable_profile::RULE,
    &fab812_profile_in_use::RULE,
    &fab813_old_facts::RULE,
    &fab814_container_choice::RULE,
    &fab815_ineffective_ignore::RULE,
    &fab816_annotation_without_effect::RULE,
    &fab817_namespace_without_effect::RULE,
    &fab818_selector_without_value::RULE,
    &fab819_pods_own_fields_kept::RULE,
    &fab820_over_limit::RULE,
    &fab821_preflight_or_monitor::RULE,
];
