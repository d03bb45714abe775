//! Deadlines and budgets, as data: what a busy hour may take, and what a hostile neighbour may.

use std::time::Duration;

/// Deadlines and bounds. The API server keeps idle connections for 90 s (client-go transport/cache.go), so ours
/// must live longer, or its requests race with our close.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// TCP connection to the end of the TLS handshake.
    pub handshake: Duration,
    /// First byte of a request to the end of its headers.
    pub header: Duration,
    /// End of the headers to the end of the body.
    pub body: Duration,
    /// Answer ready to its last byte taken by the client's side.
    pub write: Duration,
    /// Idle keep-alive. A connection that has not been used yet is one: Go dials for a request and puts the connection
    /// into its pool where another became free first.
    pub idle: Duration,
    /// Bytes of a body: two objects of 3 MiB and the envelope, with room.
    pub body_bytes: usize,
    /// Bytes of all bodies and answers that are held at a time, and a share of it for each address; more is answered 503.
    pub body_budget: usize,
    /// Requests at a time that are decided or wait for it; more are answered 503.
    pub requests: usize,
    /// Connections at a time; for one more one that waits for its client is closed, or else it is.
    pub connections: usize,
    /// Connections of one address at a time; more are closed at once.
    pub connections_per_peer: usize,
    /// Approximate maximum age of a connection, at which an answer closes it; zero for no maximum.
    pub connection_age: Duration,
    /// Lame duck's end to that of connections that nobody uses. With more than those 90 s it is the API server that ends
    /// them.
    pub drain: Duration,
    /// Drain's end to that of what is then under way.
    pub finish: Duration,
}

impl Limits {
    /// Connections of one address. An API server works on at most 600 requests at a time by default
    /// (`--max-requests-inflight` 400 and `--max-mutating-requests-inflight` 200), has one connection to us for each,
    /// and keeps 25 idle ones.
    pub const CONNECTIONS_PER_PEER: usize = 640;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(5),
            header: Duration::from_secs(5),
            body: Duration::from_secs(10),
            write: Duration::from_secs(10),
            idle: Duration::from_secs(120),
            body_bytes: 8 << 20,
            body_budget: 32 << 20,
            requests: 512,
            connections: 1024,
            connections_per_peer: Self::CONNECTIONS_PER_PEER,
            connection_age: Duration::from_secs(600),
            drain: Duration::from_secs(95),
            finish: Duration::from_secs(10),
        }
    }
}
