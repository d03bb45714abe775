//! The integration tests: one trial for each golden case, example, corpus file and rule, so that the runner's
//! summary counts them. What a machine lacks is ignored, counted and named; see `suite.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::print_stderr, clippy::string_slice)]

mod allowed;
mod api_pods;
mod bad_facts;
mod bad_input;
mod catalogue;
mod certificates;
mod cluster;
mod convergence;
mod corpus;
mod corpus_findings;
mod corpus_nodes;
mod documents;
mod e2e;
mod examples;
mod facts;
mod faults_page;
mod floors;
mod fuzz;
mod gang;
mod generator;
mod golden;
mod harm;
mod house;
mod interleaving;
mod landing;
mod layers;
mod live;
mod modules;
mod nccl;
mod no_value;
mod nri;
mod odd_pods;
mod parsers;
mod placement;
mod profile_table;
mod properties;
mod rights;
mod round_trip;
mod rules;
mod schema;
mod suite;
mod support;
mod suppressions;
mod terrain;
mod usage;
mod webhook;
mod why;
mod words;
mod yaml_oracle;

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut suite = suite::Suite::default();
    golden::add(&mut suite);
    harm::add(&mut suite);
    examples::add(&mut suite);
    house::add(&mut suite);
    rules::add(&mut suite);
    catalogue::add(&mut suite);
    rights::add(&mut suite);
    schema::add(&mut suite);
    profile_table::add(&mut suite);
    corpus::add(&mut suite);
    corpus_findings::add(&mut suite);
    corpus_nodes::add(&mut suite);
    odd_pods::add(&mut suite);
    bad_input::add(&mut suite);
    bad_facts::add(&mut suite);
    facts::add(&mut suite);
    usage::add(&mut suite);
    yaml_oracle::add(&mut suite);
    properties::add(&mut suite);
    certificates::add(&mut suite);
    landing::add(&mut suite);
    gang::add(&mut suite);
    interleaving::add(&mut suite);
    convergence::add(&mut suite);
    parsers::add(&mut suite);
    fuzz::add(&mut suite);
    nccl::add(&mut suite);
    no_value::add(&mut suite);
    nri::add(&mut suite);
    why::add(&mut suite);
    words::add(&mut suite);
    suppressions::add(&mut suite);
    webhook::add(&mut suite);
    live::add(&mut suite);
    e2e::add(&mut suite);
    faults_page::add(&mut suite);
    let code = suite.run(&arguments);
    e2e::end();
    code
}
