//! The listeners of both ports.

use rustix::net::sockopt::set_tcp_user_timeout;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait until they are accepted. If a crowd fills the queue, the kernel drops the SYN of another client or of
/// a probe, and it is a second late. A kernel allows 4,096 (`net.core.somaxconn`); `TcpListener::bind` asks for fewer.
const BACKLOG: u32 = 4096;

/// Buffers of the kernel for each connection (bytes). The kernel takes twice as much memory (socket(7), `SO_RCVBUF`), counts it
/// for the pod, and would let a buffer grow to megabytes: a client that sends much and takes no answer fills both.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelBuffers {
    receive: u32,
    send: u32,
}

impl KernelBuffers {
    /// Of the webhook's port. In a round trip about as many bytes arrive as the buffer has: an object of 1.5 MiB takes twelve,
    /// which is 0.6 s where the API server is 50 ms away.
    pub(super) const WEBHOOK: Self = Self { receive: RECEIVE_BUFFER, send: SEND_BUFFER };
    /// Of the admin port, whose requests are short.
    pub(super) const ADMIN: Self = Self { receive: 16 * 1024, send: SEND_BUFFER };
}

const RECEIVE_BUFFER: u32 = 128 * 1024;
const SEND_BUFFER: u32 = 32 * 1024;

/// Listens on an address. The runtime of the caller watches the listener. Connections have its options: buffers, and after how
/// long the kernel ends one whose client takes nothing of what was written.
///
/// # Errors
/// Those of the system.
pub(super) fn listen(
    address: SocketAddr,
    buffers: KernelBuffers,
    write: Duration,
) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_recv_buffer_size(buffers.receive)?;
    socket.set_send_buffer_size(buffers.send)?;
    // Bytes that the kernel has are written for us, whether the client takes them or not. Our own deadline comes first, because
    // it is counted.
    let milliseconds = i32::try_from(2 * write.as_millis()).unwrap_or(i32::MAX);
    set_tcp_user_timeout(&socket, milliseconds.unsigned_abs())?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
