//! The client of a request: its address, and the watch over its connection.

use super::connection_activity_and_slow_clients::ConnectionWatch;
use std::net::IpAddr;
use std::sync::Arc;

/// The client of a request, as a request extension.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) address: IpAddr,
    pub(super) watch: Arc<ConnectionWatch>,
}
