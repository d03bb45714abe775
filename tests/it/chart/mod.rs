//! The Helm chart of `deploy/helm`, without a cluster.

mod equal;
mod notes;
mod refused;
mod sources;
mod values;

use crate::support::suite::Suite;

pub(crate) fn add(suite: &mut Suite) {
    sources::add(suite);
    values::add(suite);
    refused::add(suite);
    equal::add(suite);
    notes::add(suite);
}
