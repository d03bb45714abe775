//! The listeners of both ports.

use std::io;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait until they are accepted. If a crowd fills the queue, the kernel drops the SYN of another client or of
/// a probe, and it is a second late. A kernel allows 4,096 (`net.core.somaxconn`); `TcpListener::bind` asks for fewer.
const BACKLOG: u32 = 4096;

/// Listens on an address. The runtime of the caller watches the listener.
///
/// # Errors
/// Those of the system.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
