//! Flags of `serve` for the limits of the webhook port. The defaults are `server::Limits::DEFAULT`.

use crate::cli::flag_values::parse_seconds_up_to_one_hour;
use crate::server::Limits;
use clap::builder::RangedU64ValueParser;
use std::time::Duration;

/// Each has a default that suits three API servers at their own defaults.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Budgets")]
pub(super) struct LimitFlags {
    /// Maximum number of concurrent connections. At the limit, the server closes an idle or incomplete connection to
    /// accept a new connection. If all connections are busy, the server refuses new connections
    #[arg(long, value_name = "COUNT", env = "FABRIC_ADMISSION_MAX_CONNECTIONS", default_value_t = Limits::DEFAULT.connections, value_parser = count(16, 65_536))]
    max_connections: usize,
    /// Maximum number of concurrent connections from one client address; one API server needs up to 640
    #[arg(long, value_name = "COUNT", env = "FABRIC_ADMISSION_MAX_CONNECTIONS_PER_PEER", default_value_t = Limits::DEFAULT.connections_per_peer, value_parser = count(1, 65_536))]
    max_connections_per_peer: usize,
    /// Maximum number of requests that run or wait at the same time. At the limit, the server immediately answers a new
    /// request with status 503, and the API server retries the request
    #[arg(long, value_name = "COUNT", env = "FABRIC_ADMISSION_MAX_REQUESTS", default_value_t = Limits::DEFAULT.requests, value_parser = count(1, 65_536))]
    max_requests: usize,
    /// Memory limit for all request and response bodies, in MiB; one client address can use at most two thirds of the
    /// limit. If a request exceeds the limit, the server immediately answers the request with status 503
    #[arg(long, value_name = "MIB", env = "FABRIC_ADMISSION_MAX_BODY_MEMORY", default_value_t = Limits::DEFAULT.body_budget >> 20, value_parser = count(16, 4096))]
    max_body_memory: usize,
    /// Maximum age of a connection, in seconds, plus or minus 10 %; 0: no limit. The limit makes API servers reconnect,
    /// so that new replicas also get connections
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_MAX_CONNECTION_AGE", default_value_t = Limits::DEFAULT.connection_age.as_secs_f64(), value_parser = parse_seconds_up_to_one_hour)]
    max_connection_age: f64,
}

fn count(least: u64, most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(least..=most)
}

/// Cores of the machine, or of the process if it has fewer.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

impl LimitFlags {
    /// Limits of the server, with these budgets.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            connections: self.max_connections,
            connections_per_peer: self.max_connections_per_peer,
            requests: self.max_requests,
            large_decisions: cores().clamp(2, Limits::DEFAULT.large_decisions),
            body_budget: self.max_body_memory.saturating_mul(1 << 20),
            connection_age: Duration::from_secs_f64(self.max_connection_age),
            ..Limits::DEFAULT
        }
    }
}
