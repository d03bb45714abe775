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
    pub(crate) mod certificates;
    pub(crate) mod fuzz;
    pub(crate) mod go_json;
    pub(crate) mod nccl;
    pub(crate) mod parsers;
    pub(crate) mod yaml_oracle;
}

/// FabricProfile: the checks of the binary and of the CRD.
mod profile {
    pub(crate) mod profile_table;
}

/// Facts from objects, nodes, and the Snapshot that they make.
mod facts {
    pub(crate) mod bad_facts;
    pub(crate) mod corpus_nodes;
    pub(crate) mod interleaving;
    pub(crate) mod landing;
    /// Its trials are `facts::…`.
    pub(crate) mod of_the_corpus;
}

/// Which profile a pod gets, and why.
mod resolve {
    pub(crate) mod also_held;
    pub(crate) mod gang;
    pub(crate) mod held_model;
    pub(crate) mod long_lists;
    pub(crate) mod misspelt;
    pub(crate) mod strength;
    pub(crate) mod templates;
    pub(crate) mod why;
    mod why_lists;
}

/// Whole decisions: plan, patch, review.
mod engine {
    /// A check of `properties`.
    mod allowed;
    pub(crate) mod convergence;
    pub(crate) mod corpus;
    pub(crate) mod cost;
    pub(crate) mod crowd;
    pub(crate) mod golden;
    pub(crate) mod harm;
    pub(crate) mod in_the_pod;
    pub(crate) mod odd_pods;
    pub(crate) mod properties;
    pub(crate) mod resources_injector;
    pub(crate) mod tenants;
}

/// The rules, and the annotations that ignore their findings.
mod rules {
    pub(crate) mod corpus_findings;
    pub(crate) mod crds;
    /// Its trials are `rules::…`.
    pub(crate) mod declarations;
    /// Its trials are `rules::…`.
    pub(crate) mod examples_of_rules;
    pub(crate) mod field;
    pub(crate) mod known_failures;
    pub(crate) mod suppressions;
}

/// The command line and its published formats.
mod cli {
    pub(crate) mod audit;
    pub(crate) mod bad_input;
    pub(crate) mod baseline;
    pub(crate) mod ci_formats;
    pub(crate) mod config;
    pub(crate) mod discover;
    pub(crate) mod doctor;
    pub(crate) mod estimate;
    pub(crate) mod examples;
    pub(crate) mod explain;
    pub(crate) mod many_files;
    pub(crate) mod monitor;
    pub(crate) mod monitor_odd;
    pub(crate) mod profiles;
    pub(crate) mod schema;
    pub(crate) mod shown;
    pub(crate) mod streams;
    pub(crate) mod usage;
    pub(crate) mod verify_log;
}

/// `preflight` on modelled trees and in real containers.
mod preflight {
    pub(crate) mod images;
    pub(crate) mod namespaces;
    pub(crate) mod page;
    pub(crate) mod reads;
    pub(crate) mod trees;
    pub(crate) mod writes;
}

/// `serve`: over real TLS, with files or with a scripted API server; its rights; the driver that measures it.
mod server {
    pub(crate) mod live;
    pub(crate) mod load;
    pub(crate) mod rights;
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
    /// Its trials are `docs::…`.
    pub(crate) mod docs;
    pub(crate) mod floors;
    pub(crate) mod layers;
    pub(crate) mod modules;
    pub(crate) mod no_value;
    pub(crate) mod outputs;
    /// Its trials are `house::…`.
    pub(crate) mod tree;
    pub(crate) mod words;
}

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut suite = support::suite::Suite::default();

    readers::certificates::add(&mut suite);
    readers::fuzz::add(&mut suite);
    readers::go_json::add(&mut suite);
    readers::nccl::add(&mut suite);
    readers::parsers::add(&mut suite);
    readers::yaml_oracle::add(&mut suite);

    profile::profile_table::add(&mut suite);

    facts::bad_facts::add(&mut suite);
    facts::corpus_nodes::add(&mut suite);
    facts::interleaving::add(&mut suite);
    facts::landing::add(&mut suite);
    facts::of_the_corpus::add(&mut suite);

    resolve::also_held::add(&mut suite);
    resolve::gang::add(&mut suite);
    resolve::strength::add(&mut suite);
    resolve::templates::add(&mut suite);
    resolve::held_model::add(&mut suite);
    resolve::long_lists::add(&mut suite);
    resolve::misspelt::add(&mut suite);
    resolve::why::add(&mut suite);

    engine::convergence::add(&mut suite);
    engine::corpus::add(&mut suite);
    engine::cost::add(&mut suite);
    engine::crowd::add(&mut suite);
    engine::golden::add(&mut suite);
    engine::harm::add(&mut suite);
    engine::in_the_pod::add(&mut suite);
    engine::resources_injector::add(&mut suite);
    engine::odd_pods::add(&mut suite);
    engine::properties::add(&mut suite);
    engine::tenants::add(&mut suite);

    rules::known_failures::add(&mut suite);
    rules::corpus_findings::add(&mut suite);
    rules::crds::add(&mut suite);
    rules::field::add(&mut suite);
    rules::declarations::add(&mut suite);
    rules::examples_of_rules::add(&mut suite);
    rules::suppressions::add(&mut suite);

    cli::audit::add(&mut suite);
    cli::bad_input::add(&mut suite);
    cli::discover::add(&mut suite);
    cli::baseline::add(&mut suite);
    cli::doctor::add(&mut suite);
    cli::ci_formats::add(&mut suite);
    cli::config::add(&mut suite);
    cli::explain::add(&mut suite);
    cli::estimate::add(&mut suite);
    cli::examples::add(&mut suite);
    cli::profiles::add(&mut suite);
    cli::monitor::add(&mut suite);
    cli::monitor_odd::add(&mut suite);
    cli::schema::add(&mut suite);
    cli::streams::add(&mut suite);
    cli::many_files::add(&mut suite);
    cli::shown::add(&mut suite);
    cli::usage::add(&mut suite);
    cli::verify_log::add(&mut suite);

    preflight::images::add(&mut suite);
    preflight::namespaces::add(&mut suite);
    preflight::page::add(&mut suite);
    preflight::reads::add(&mut suite);
    preflight::trees::add(&mut suite);
    preflight::writes::add(&mut suite);

    server::live::add(&mut suite);
    server::load::add(&mut suite);
    server::rights::add(&mut suite);
    server::webhook::add(&mut suite);

    chart::add(&mut suite);
    monitoring::add(&mut suite);
    e2e::add(&mut suite);
    release::add(&mut suite);

    house::no_value::add(&mut suite);
    house::outputs::add(&mut suite);
    house::tree::add(&mut suite);
    house::words::add(&mut suite);
    // After all others, whose names it compares with the pages.
    house::docs::add(&mut suite);

    let code = suite.run(&arguments);
    e2e::end();
    code
}
