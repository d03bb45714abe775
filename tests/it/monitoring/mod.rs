//! The alerts and the dashboards of `deploy/components/monitoring`.

pub(crate) mod alerts;
pub(crate) mod dashboard;
mod jobs;
pub(crate) mod prometheus;

use crate::support::root;
use crate::support::suite::Suite;
use std::path::PathBuf;

pub(crate) fn add(suite: &mut Suite) {
    alerts::add(suite);
    dashboard::add(suite);
    jobs::add(suite);
}

fn component() -> PathBuf {
    root().join("deploy/components/monitoring")
}
