//! The alerts and the dashboard of `deploy/components/monitoring`.

mod alerts;
mod dashboard;

use crate::support::root;
use crate::support::suite::Suite;
use std::path::PathBuf;

pub(crate) fn add(suite: &mut Suite) {
    alerts::add(suite);
    dashboard::add(suite);
}

fn component() -> PathBuf {
    root().join("deploy/components/monitoring")
}
