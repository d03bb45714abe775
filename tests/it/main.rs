//! The integration tests: one trial for each golden case, example, corpus file and rule, so that the runner's
//! summary counts them. The runner counts and names what it skips because this machine lacks something it needs; see
//! `support/suite.rs`.
//!
//! The folders follow the floors of `src/`. A suite's file is named after its trials: `golden::…` are in
//! `engine/golden.rs`. docs/testing.md says what each suite covers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::print_stderr, clippy::string_slice)]

/// Not suites: the runner, generated inputs, the child process and its client, comparisons.
mod support;

/// Readers of text and bytes: YAML, annotations, quantities, certificates, the table of NCCL's variables.
mod readers {
    pub(crate) mod certificate_names;
    pub(crate) mod go_json;
    pub(crate) mod kept_fuzz_inputs;
    pub(crate) mod table_of_nccl_variables;
    pub(crate) mod text_parsers;
    pub(crate) mod yaml_oracle;
}

/// FabricProfile: the checks of the binary and of the CRD.
mod profile {
    pub(crate) mod profile_table;
}

/// Facts from objects, nodes, and the Snapshot that they make.
mod facts {
    pub(crate) mod events_in_any_order;
    /// Its trials are `facts::…`.
    pub(crate) mod facts_of_the_corpus;
    pub(crate) mod nodes_of_the_corpus;
    pub(crate) mod unreadable_facts;
    pub(crate) mod where_pods_may_land;
}

/// Which profile a pod gets, and why.
mod resolve {
    pub(crate) mod long_node_conditions;
    pub(crate) mod one_profile_for_all_ranks;
    pub(crate) mod pools_at_zero;
    pub(crate) mod profiles_asked_for;
    pub(crate) mod profiles_that_hold;
    /// Its trials are `misspelt::…`.
    pub(crate) mod suggestions_for_misspelt_names;
    pub(crate) mod template_and_its_pods;
    pub(crate) mod why;
    /// Its trials are `also_held::…`.
    pub(crate) mod why_names_other_profiles_that_hold;
    mod why_of_many_profiles;
}

/// Whole decisions: plan, patch, review.
mod engine {
    pub(crate) mod beside_other_webhooks;
    /// Its trials are `resources_injector::…`.
    pub(crate) mod cases_of_network_resources_injector;
    /// Its trials are `corpus::…`.
    pub(crate) mod corpus_under_every_base_profile;
    pub(crate) mod cost;
    pub(crate) mod do_no_harm;
    pub(crate) mod golden;
    pub(crate) mod in_the_pod;
    pub(crate) mod many_containers_hide_no_error;
    pub(crate) mod odd_pods;
    pub(crate) mod properties;
    /// Its trials are `tenants::…`.
    pub(crate) mod tenants_do_not_affect_each_other;
}

/// The rules, and the annotations that ignore their findings.
mod rules {
    pub(crate) mod beyond_limits;
    pub(crate) mod corpus_findings;
    /// Its trials are `rules::…`.
    pub(crate) mod declarations;
    /// Its trials are `rules::…`.
    pub(crate) mod examples_of_rules;
    pub(crate) mod facts_behind_rules;
    pub(crate) mod known_failures;
    pub(crate) mod suppressions;
    pub(crate) mod table_of_fields;
}

/// The command line and its published formats.
mod cli {
    pub(crate) mod audit;
    pub(crate) mod bad_input;
    pub(crate) mod ci_formats;
    pub(crate) mod config_file;
    pub(crate) mod discover;
    pub(crate) mod doctor;
    pub(crate) mod estimate;
    pub(crate) mod examples_of_the_readme;
    pub(crate) mod explain;
    pub(crate) mod forged_runner_commands;
    pub(crate) mod links_of_logs;
    pub(crate) mod links_of_others;
    pub(crate) mod lists_of_objects;
    pub(crate) mod long_streams;
    pub(crate) mod many_files;
    pub(crate) mod monitor;
    pub(crate) mod monitor_with_odd_input;
    pub(crate) mod profiles;
    pub(crate) mod published_schemas;
    pub(crate) mod review_baseline;
    pub(crate) mod review_flags_and_exit_codes;
    pub(crate) mod verify_log;
    pub(crate) mod what_a_review_shows;
}

/// `preflight` on modelled trees and in real containers.
mod preflight {
    pub(crate) mod documentation_page;
    pub(crate) mod libraries_of_images;
    pub(crate) mod links_of_recorded_trees;
    pub(crate) mod many_devices;
    pub(crate) mod modelled_trees;
    pub(crate) mod network_namespaces;
    pub(crate) mod which_files_are_opened;
    pub(crate) mod written_files_and_exit_codes;
}

/// `serve`: over real TLS, with files or with a scripted API server; its rights; the driver that measures it.
mod server {
    pub(crate) mod live;
    pub(crate) mod load_driver;
    pub(crate) mod rights_of_the_server;
    pub(crate) mod webhook;
}

/// The Helm chart, offline: what it is made of, and that it installs what the kustomization installs.
mod chart;

/// The alerts and the dashboard, with the tools of Prometheus.
mod monitoring;

mod e2e;

/// What a release is made with.
mod release;

/// The project's own tree: floors, sizes, dependencies, words, pages that name trials.
mod house {
    /// Its trials are `house::…`.
    pub(crate) mod budgets_on_the_page;
    pub(crate) mod file_sizes_and_dependencies;
    pub(crate) mod floors;
    pub(crate) mod imports_of_files;
    pub(crate) mod layers;
    pub(crate) mod no_generic_json;
    pub(crate) mod outputs_on_pages;
    pub(crate) mod plain_english;
    /// Its trials are `docs::…`.
    pub(crate) mod trials_and_paths_on_pages;
}

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut suite = support::suite::Suite::default();

    readers::certificate_names::add(&mut suite);
    readers::kept_fuzz_inputs::add(&mut suite);
    readers::go_json::add(&mut suite);
    readers::table_of_nccl_variables::add(&mut suite);
    readers::text_parsers::add(&mut suite);
    readers::yaml_oracle::add(&mut suite);

    profile::profile_table::add(&mut suite);

    facts::unreadable_facts::add(&mut suite);
    facts::nodes_of_the_corpus::add(&mut suite);
    facts::events_in_any_order::add(&mut suite);
    facts::where_pods_may_land::add(&mut suite);
    facts::facts_of_the_corpus::add(&mut suite);

    resolve::why_names_other_profiles_that_hold::add(&mut suite);
    resolve::one_profile_for_all_ranks::add(&mut suite);
    resolve::pools_at_zero::add(&mut suite);
    resolve::template_and_its_pods::add(&mut suite);
    resolve::profiles_that_hold::add(&mut suite);
    resolve::profiles_asked_for::add(&mut suite);
    resolve::long_node_conditions::add(&mut suite);
    resolve::suggestions_for_misspelt_names::add(&mut suite);
    resolve::why::add(&mut suite);

    engine::beside_other_webhooks::add(&mut suite);
    engine::corpus_under_every_base_profile::add(&mut suite);
    engine::cost::add(&mut suite);
    engine::many_containers_hide_no_error::add(&mut suite);
    engine::golden::add(&mut suite);
    engine::do_no_harm::add(&mut suite);
    engine::in_the_pod::add(&mut suite);
    engine::cases_of_network_resources_injector::add(&mut suite);
    engine::odd_pods::add(&mut suite);
    engine::properties::add(&mut suite);
    engine::tenants_do_not_affect_each_other::add(&mut suite);

    rules::known_failures::add(&mut suite);
    rules::corpus_findings::add(&mut suite);
    rules::table_of_fields::add(&mut suite);
    rules::facts_behind_rules::add(&mut suite);
    rules::declarations::add(&mut suite);
    rules::examples_of_rules::add(&mut suite);
    rules::beyond_limits::add(&mut suite);
    rules::suppressions::add(&mut suite);

    cli::audit::add(&mut suite);
    cli::bad_input::add(&mut suite);
    cli::discover::add(&mut suite);
    cli::review_baseline::add(&mut suite);
    cli::doctor::add(&mut suite);
    cli::ci_formats::add(&mut suite);
    cli::config_file::add(&mut suite);
    cli::explain::add(&mut suite);
    cli::forged_runner_commands::add(&mut suite);
    cli::estimate::add(&mut suite);
    cli::examples_of_the_readme::add(&mut suite);
    cli::profiles::add(&mut suite);
    cli::monitor::add(&mut suite);
    cli::monitor_with_odd_input::add(&mut suite);
    cli::published_schemas::add(&mut suite);
    cli::links_of_others::add(&mut suite);
    cli::links_of_logs::add(&mut suite);
    cli::lists_of_objects::add(&mut suite);
    cli::long_streams::add(&mut suite);
    cli::many_files::add(&mut suite);
    cli::what_a_review_shows::add(&mut suite);
    cli::review_flags_and_exit_codes::add(&mut suite);
    cli::verify_log::add(&mut suite);

    preflight::libraries_of_images::add(&mut suite);
    preflight::links_of_recorded_trees::add(&mut suite);
    preflight::many_devices::add(&mut suite);
    preflight::network_namespaces::add(&mut suite);
    preflight::documentation_page::add(&mut suite);
    preflight::which_files_are_opened::add(&mut suite);
    preflight::modelled_trees::add(&mut suite);
    preflight::written_files_and_exit_codes::add(&mut suite);

    server::live::add(&mut suite);
    server::load_driver::add(&mut suite);
    server::rights_of_the_server::add(&mut suite);
    server::webhook::add(&mut suite);

    chart::add(&mut suite);
    monitoring::add(&mut suite);
    e2e::add(&mut suite);
    release::add(&mut suite);

    house::no_generic_json::add(&mut suite);
    house::outputs_on_pages::add(&mut suite);
    house::file_sizes_and_dependencies::add(&mut suite);
    house::plain_english::add(&mut suite);
    house::budgets_on_the_page::add(&mut suite);
    // After all others, whose names it compares with the pages.
    house::trials_and_paths_on_pages::add(&mut suite);

    let code = suite.run(&arguments);
    e2e::end();
    code
}
