//! The listeners of both ports.

use rustix::net::sockopt::set_tcp_user_timeout;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait until they are accepted. If a crowd fills the queue, the kernel drops the SYN of another client or of
/// a probe, and it is a second late. A kernel allows 4,096 (`net.core.somaxconn`); `TcpListener::bind` asks for fewer.
const BACKLOG: u32 = 4096;

/// Buffers of the kernel for each connection, for what it receives and for what it sends (bytes). The kernel takes twice as much
/// memory (socket(7), `SO_RCVBUF`), counts it for the pod, and would let a buffer grow to megabytes: a client that sends much and
/// takes no answer fills both. A request of 32 KiB still arrives without a pause, and a longer one with a pause of one round trip
/// for each further 32 KiB.
const BUFFER: u32 = 32 * 1024;

/// Listens on an address. The runtime of the caller watches the listener. Connections have its options: buffers, and after how
/// long the kernel ends one whose client takes nothing of what was written.
///
/// # Errors
/// Those of the system.
pub(super) fn listen(address: SocketAddr, write: Duration) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_recv_buffer_size(BUFFER)?;
    socket.set_send_buffer_size(BUFFER)?;
    // Bytes that the kernel has are written for us, whether the client takes them or not. Our own deadline comes first, because
    // it is counted.
    let milliseconds = i32::try_from(2 * write.as_millis()).unwrap_or(i32::MAX);
    set_tcp_user_timeout(&socket, milliseconds.unsigned_abs())?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
