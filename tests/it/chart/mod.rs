//! The Helm chart of `deploy/helm`, without a cluster.

mod copies_of_sources;
mod notes_after_installation;
mod refused_values;
mod same_as_kustomization;
mod table_of_values;

use crate::support::suite::Suite;

pub(crate) fn add(suite: &mut Suite) {
    copies_of_sources::add(suite);
    table_of_values::add(suite);
    refused_values::add(suite);
    same_as_kustomization::add(suite);
    notes_after_installation::add(suite);
}
