//! The server over real TLS, with facts from files.

mod attack;
mod budgets;
mod client_certificates;
mod confidential;
mod connection_age;
mod connections;
mod deadlines;
mod decision_log;
mod decoded;
mod descriptors;
mod facts;
mod fairness;
mod flood;
mod in_process;
mod metrics;
mod mutate_off;
mod no_room;
mod one_plan;
mod profile_objects;
mod protocol;
mod reload;
mod start_and_stop;
mod unread_log;
mod workloads;

use crate::support::suite::Suite;

pub(crate) fn add(suite: &mut Suite) {
    protocol::add(suite);
    reload::add(suite);
    facts::add(suite);
    fairness::add(suite);
    attack::add(suite);
    deadlines::add(suite);
    decoded::add(suite);
    budgets::add(suite);
    connections::add(suite);
    descriptors::add(suite);
    flood::add(suite);
    no_room::add(suite);
    client_certificates::add(suite);
    confidential::add(suite);
    connection_age::add(suite);
    start_and_stop::add(suite);
    unread_log::add(suite);
    one_plan::add(suite);
    profile_objects::add(suite);
    workloads::add(suite);
    mutate_off::add(suite);
    metrics::add(suite);
    decision_log::add(suite);
}
