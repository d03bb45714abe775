//! The server over real TLS, with facts from files.

mod certificate_reload;
mod client_certificates;
mod connection_age;
mod connections;
mod decision_log;
mod fact_files;
mod file_descriptors;
mod flood;
mod full_disks;
mod large_bodies_delay_no_others;
mod malformed_requests;
mod memory_once_decoded;
mod metrics;
mod mutate_off;
mod profile_objects;
mod protocol;
mod requests_over_budget_get_503;
mod same_as_review;
mod slow_clients;
mod start_and_stop;
mod unread_answers;
mod unread_log;
mod what_stays_secret;
mod workloads;

use crate::support::suite::Suite;

pub(crate) fn add(suite: &mut Suite) {
    protocol::add(suite);
    certificate_reload::add(suite);
    fact_files::add(suite);
    large_bodies_delay_no_others::add(suite);
    malformed_requests::add(suite);
    slow_clients::add(suite);
    memory_once_decoded::add(suite);
    requests_over_budget_get_503::add(suite);
    connections::add(suite);
    file_descriptors::add(suite);
    flood::add(suite);
    full_disks::add(suite);
    client_certificates::add(suite);
    what_stays_secret::add(suite);
    connection_age::add(suite);
    start_and_stop::add(suite);
    unread_answers::add(suite);
    unread_log::add(suite);
    same_as_review::add(suite);
    profile_objects::add(suite);
    workloads::add(suite);
    mutate_off::add(suite);
    metrics::add(suite);
    decision_log::add(suite);
}
