//! Deadlines and budgets: enough for a busy hour, and a bound for a hostile client.

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
    /// From a complete answer until the client has taken its last byte.
    pub write: Duration,
    /// Idle keep-alive. A connection that was never used is idle too: Go dials for a request, and if another connection
    /// becomes free first, it keeps the new one in its pool.
    pub idle: Duration,
    /// Bytes of a body: two objects of 3 MiB and the envelope, with room.
    pub body_bytes: usize,
    /// Bytes of all bodies and answers that are held at once, shared among addresses; beyond it the answer is 503.
    pub body_budget: usize,
    /// Concurrent requests, decided or waiting; beyond it the answer is 503.
    pub requests: usize,
    /// Concurrent decisions on bodies over 64 KiB, each on a thread of its own; further ones wait.
    pub large_decisions: usize,
    /// Concurrent connections. When full, the server closes one that waits for its client, else the new one.
    pub connections: usize,
    /// Concurrent connections of one address; further ones are closed at once.
    pub connections_per_peer: usize,
    /// Approximate maximum age of a connection, at which an answer closes it; zero for no maximum.
    pub connection_age: Duration,
    /// From the end of the lame-duck time to the end of idle connections. If it is longer than those 90 s, the API server
    /// closes them.
    pub drain: Duration,
    /// From the end of the drain to the end of requests in progress.
    pub finish: Duration,
}

impl Limits {
    /// Connections of one address. An API server has at most 600 concurrent requests by default
    /// (`--max-requests-inflight` 400 and `--max-mutating-requests-inflight` 200), has one connection to us for each,
    /// and keeps 25 idle ones.
    pub const CONNECTIONS_PER_PEER: usize = 640;

    /// The defaults: the flags of `serve` show them.
    pub const DEFAULT: Self = Self {
        handshake: Duration::from_secs(5),
        header: Duration::from_secs(5),
        body: Duration::from_secs(10),
        write: Duration::from_secs(10),
        idle: Duration::from_secs(120),
        body_bytes: 8 << 20,
        body_budget: 32 << 20,
        requests: 512,
        large_decisions: 4,
        connections: 1024,
        connections_per_peer: Self::CONNECTIONS_PER_PEER,
        connection_age: Duration::from_secs(600),
        drain: Duration::from_secs(95),
        finish: Duration::from_secs(10),
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
