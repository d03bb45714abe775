//! The server over real TLS, with facts from files.

mod budgets;
mod certificate_reload;
mod client_certificates;
mod connection_age;
mod connections;
mod decision_log;
mod fact_files;
mod fairness;
mod file_descriptors;
mod flood;
mod full_disks;
mod in_process;
mod malformed_requests;
mod memory_once_decoded;
mod metrics;
mod mutate_off;
mod profile_objects;
mod protocol;
mod same_as_review;
mod slow_clients;
mod start_and_stop;
mod unread_log;
mod what_stays_secret;
mod workloads;

use crate::support::suite::Suite;

pub(crate) fn add(suite: &mut Suite) {
    protocol::add(suite);
    certificate_reload::add(suite);
    fact_files::add(suite);
    fairness::add(suite);
    malformed_requests::add(suite);
    slow_clients::add(suite);
    memory_once_decoded::add(suite);
    budgets::add(suite);
    connections::add(suite);
    file_descriptors::add(suite);
    flood::add(suite);
    full_disks::add(suite);
    client_certificates::add(suite);
    what_stays_secret::add(suite);
    connection_age::add(suite);
    start_and_stop::add(suite);
    unread_log::add(suite);
    same_as_review::add(suite);
    profile_objects::add(suite);
    workloads::add(suite);
    mutate_off::add(suite);
    metrics::add(suite);
    decision_log::add(suite);
}
