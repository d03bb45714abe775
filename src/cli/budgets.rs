//! Budgets of the webhook port as flags of `serve`.

use super::values::seconds;
use crate::server::Limits;
use std::time::Duration;

/// Each has a default that suits three API servers at their own defaults.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Budgets")]
pub(super) struct Budgets {
    /// Connections at a time; for one more one that waits for its client is closed, or else it is
    #[arg(long, value_name = "COUNT", env = "FABRIC_ADMISSION_MAX_CONNECTIONS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(16..=65_536))]
    max_connections: u32,
    /// Connections of one address at a time; 640 is what one API server can need
    #[arg(long, value_name = "COUNT", env = "FABRIC_ADMISSION_MAX_CONNECTIONS_PER_PEER", default_value_t = 640, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections_per_peer: u32,
    /// Requests decided at a time, with those that wait for it; more are answered 503 at once, and the API server asks again
    #[arg(long, value_name = "COUNT", env = "FABRIC_ADMISSION_MAX_REQUESTS", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_requests: u32,
    /// MiB of bodies and answers held at a time, two thirds at most for one address; more is answered 503 at once
    #[arg(long, value_name = "MIB", env = "FABRIC_ADMISSION_MAX_BODY_MEMORY", default_value_t = 32, value_parser = clap::value_parser!(u32).range(16..=4096))]
    max_body_memory: u32,
    /// Seconds, a tenth more or less, after which the next answer closes its connection, so that new replicas get calls; 0
    /// keeps connections for ever
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_MAX_CONNECTION_AGE", default_value_t = 600.0, value_parser = seconds)]
    max_connection_age: f64,
}

impl Budgets {
    /// Limits of the server, with these budgets.
    pub(super) fn limits(&self) -> Limits {
        let count = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        Limits {
            connections: count(self.max_connections),
            connections_per_peer: count(self.max_connections_per_peer),
            requests: count(self.max_requests),
            body_budget: count(self.max_body_memory).saturating_mul(1 << 20),
            connection_age: Duration::from_secs_f64(self.max_connection_age),
            ..Limits::default()
        }
    }
}
