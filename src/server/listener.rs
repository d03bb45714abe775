//! The listeners of both ports.

use rustix::net::sockopt::set_tcp_user_timeout;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait until they are accepted. If a crowd fills the queue, the kernel drops the SYN of another client or of
/// a probe, and it is a second late. A kernel allows 4,096 (`net.core.somaxconn`); `TcpListener::bind` asks for fewer.
const BACKLOG: u32 = 4096;

/// Buffers of the kernel for each connection (bytes). The kernel takes twice as much memory (tcp(7), socket(7)), counts it for
/// the pod, and would let a buffer grow to megabytes: a client that sends much and takes no answer fills both. A request of 64
/// KiB still arrives without a pause, and a longer one with a pause of one round trip for each further 64 KiB.
const RECEIVE_BUFFER: u32 = 64 * 1024;
const SEND_BUFFER: u32 = 32 * 1024;

/// Listens on an address. The runtime of the caller watches the listener. Connections have its options: buffers, and after how
/// long the kernel ends one whose client takes nothing of what was written.
///
/// # Errors
/// Those of the system.
pub(super) fn listen(address: SocketAddr, write: Duration) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    // Bytes that the kernel has are written for us, whether the client takes them or not.
    set_tcp_user_timeout(&socket, u32::try_from(write.as_millis()).unwrap_or(u32::MAX))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
