//! Budgets of the webhook port as flags of `serve`.

use super::values::seconds;
use crate::server::Limits;
use std::time::Duration;

/// Each has a default that suits three API servers at their own defaults.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Budgets")]
pub(super) struct Budgets {
    /// Concurrent connections; beyond this, the server closes a connection that waits for its client, or, if none waits, refuses
    /// the new connection
    #[arg(long, value_name = "COUNT", env = "FABRIC_ADMISSION_MAX_CONNECTIONS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(16..=65_536))]
    max_connections: u32,
    /// Concurrent connections per client address; one API server needs up to 640
    #[arg(long, value_name = "COUNT", env = "FABRIC_ADMISSION_MAX_CONNECTIONS_PER_PEER", default_value_t = 640, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections_per_peer: u32,
    /// Concurrent requests, including those that wait; further requests get a 503 at once, and the API server retries them
    #[arg(long, value_name = "COUNT", env = "FABRIC_ADMISSION_MAX_REQUESTS", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_requests: u32,
    /// Memory for request and response bodies, in MiB (at most two thirds per client address); further requests get a 503
    /// at once
    #[arg(long, value_name = "MIB", env = "FABRIC_ADMISSION_MAX_BODY_MEMORY", default_value_t = 32, value_parser = clap::value_parser!(u32).range(16..=4096))]
    max_body_memory: u32,
    /// Maximum age of a connection, in seconds (plus or minus 10 %), so that new replicas get calls; 0 for no maximum
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
