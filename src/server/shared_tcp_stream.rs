//! A TCP connection with several owners: HTTP and TLS use it, and the task that closes it still has it afterwards.
//!
//! After a server closes a socket, the kernel keeps the bytes that the client has not read, for up to 20 s. The limits of the server
//! do not count these bytes. So a connection counts as open until its client closes it too. If the client does not, the server
//! resets the connection, and the kernel frees the memory at once.

use rustix::net::{Shutdown, shutdown};
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// How often the server looks whether a client that has closed its side has taken all bytes: at first, and after a while.
const FIRST_LOOK: Duration = Duration::from_millis(10);
const LATER_LOOK: Duration = Duration::from_millis(200);

/// Bytes of a client that are read and dropped while its end is awaited.
const MOST_DROPPED: usize = 64 * 1024;

/// A connection with more than one owner.
#[derive(Debug, Clone)]
pub(super) struct SharedTcpStream(Arc<TcpStream>);

impl SharedTcpStream {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self(Arc::new(stream))
    }

    /// The connection is reset when it is dropped.
    pub(super) fn reset_when_dropped(&self) {
        // Only a socket that is closed already has no such option.
        let _ = self.0.set_zero_linger();
    }

    /// Whether the client has closed or reset the connection, as far as the kernel has said, although bytes of it may not be read yet.
    pub(super) fn is_given_up_by_client(&self) -> bool {
        let ready = pin!(self.0.ready(Interest::READABLE)).poll(&mut Context::from_waker(Waker::noop()));
        matches!(ready, Poll::Ready(Ok(ready)) if ready.is_read_closed())
    }

    /// Completes when the client has sent something, or has closed or reset the connection.
    pub(super) async fn wait_until_client_sends_or_ends(&self) {
        // Whoever reads next sees the error.
        let _ = self.0.readable().await;
    }

    /// To reset it from elsewhere, as long as somebody has it.
    pub(super) fn handle(&self) -> TcpStreamHandle {
        TcpStreamHandle(Arc::downgrade(&self.0))
    }

    /// Ends our side, and completes once the client has taken all bytes and closed its own. After the time the connection is reset.
    pub(super) async fn end_and_wait_for_client_or_reset(
        &self,
        time: Duration,
        sooner: impl Future<Output = ()>,
    ) {
        let _ = shutdown(&*self.0, Shutdown::Write);
        let is_closed = tokio::select! {
            closed = self.is_closed_by_client() => closed,
            () = tokio::time::sleep(time) => false,
            () = sooner => false,
        };
        if !is_closed {
            self.reset_when_dropped();
        }
    }

    /// Whether the client has closed its side and taken all bytes; `false` if it sends too much first.
    async fn is_closed_by_client(&self) -> bool {
        let (mut part, mut dropped) = ([0; 4096], 0);
        while dropped <= MOST_DROPPED {
            if self.0.readable().await.is_err() {
                break;
            }
            match self.0.try_read(&mut part) {
                Ok(bytes) if bytes > 0 => dropped += bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(_) | Err(_) => break,
            }
        }
        if dropped > MOST_DROPPED {
            return false;
        }
        // A client may close its side and take nothing. The kernel forgets who the client is once both sides have acknowledged the
        // end of the other, and so all bytes (net/ipv4/af_inet.c, `inet_getname`: ENOTCONN in the state TCP_CLOSE).
        let mut pause = FIRST_LOOK;
        while self.0.peer_addr().is_ok() {
            tokio::time::sleep(pause).await;
            pause = LATER_LOOK.min(pause * 2);
        }
        true
    }
}

/// A connection of somebody else.
#[derive(Debug, Default)]
pub(super) struct TcpStreamHandle(Weak<TcpStream>);

impl TcpStreamHandle {
    /// Whether the client has closed or reset it, as long as somebody has it.
    pub(super) fn is_given_up(&self) -> bool {
        self.0.upgrade().is_some_and(|stream| SharedTcpStream(stream).is_given_up_by_client())
    }

    /// The connection is reset when it is dropped.
    pub(super) fn reset_when_dropped(&self) {
        if let Some(stream) = self.0.upgrade() {
            SharedTcpStream(stream).reset_when_dropped();
        }
    }
}

/// What a call says, or `None` where the kernel is not ready after all.
fn unless_not_ready<T>(result: io::Result<T>) -> Option<io::Result<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        result => Some(result),
    }
}

impl AsyncRead for SharedTcpStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            if let Some(read) = unless_not_ready(self.0.try_read(buf.initialize_unfilled())) {
                return Poll::Ready(read.map(|bytes| buf.advance(bytes)));
            }
        }
    }
}

impl AsyncWrite for SharedTcpStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            if let Some(written) = unless_not_ready(self.0.try_write(buf)) {
                return Poll::Ready(written);
            }
        }
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(match shutdown(&*self.0, Shutdown::Write) {
            Ok(()) | Err(rustix::io::Errno::NOTCONN) => Ok(()),
            Err(error) => Err(error.into()),
        })
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            if let Some(written) = unless_not_ready(self.0.try_write_vectored(bufs)) {
                return Poll::Ready(written);
            }
        }
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::time::Instant;
    use tokio::net::TcpSocket;

    const TIME: Duration = Duration::from_millis(400);

    /// Sends 16 KiB to a client with a smaller buffer and ends the connection. How long that took, and what the client reads then.
    fn ended(
        client: impl FnOnce(std::net::TcpStream) -> io::Result<usize> + Send + 'static,
    ) -> (Duration, io::Result<usize>) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(2048).unwrap();
            let connected = socket.connect(listener.local_addr().unwrap()).await.unwrap().into_std().unwrap();
            connected.set_nonblocking(false).unwrap();
            let stream = SharedTcpStream::new(listener.accept().await.unwrap().0);
            assert_eq!(stream.0.try_write(&[b'x'; 16 << 10]).unwrap(), 16 << 10);
            let client = std::thread::spawn(move || client(connected));
            let began = Instant::now();
            stream.end_and_wait_for_client_or_reset(TIME, std::future::pending()).await;
            drop(stream);
            (began.elapsed(), client.join().unwrap())
        })
    }

    fn read_to_end(mut client: std::net::TcpStream) -> io::Result<usize> {
        client.read_to_end(&mut Vec::new())
    }

    #[test]
    fn who_takes_everything_is_not_reset() {
        let (took, read) = ended(read_to_end);
        assert_eq!(read.unwrap(), 16 << 10);
        assert!(took < TIME, "{took:?}");
        let (took, read) = ended(|client| {
            client.shutdown(std::net::Shutdown::Write)?;
            std::thread::sleep(TIME / 4);
            read_to_end(client)
        });
        assert_eq!(read.unwrap(), 16 << 10);
        assert!(took < TIME, "{took:?}");
    }

    /// A client that goes away before its message is read. The kernel keeps what came before the end, but not before a reset.
    #[test]
    fn a_client_that_goes_away_is_seen_before_its_message_is_read() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            for reset in [false, true] {
                let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                let stream = SharedTcpStream::new(listener.accept().await.unwrap().0);
                client.write_all(b"hello").unwrap();
                tokio::time::sleep(TIME / 8).await;
                assert!(!stream.is_given_up_by_client());
                if reset {
                    rustix::net::sockopt::set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
                }
                drop(client);
                tokio::time::sleep(TIME / 8).await;
                assert!(stream.is_given_up_by_client(), "reset: {reset}");
            }
        });
    }

    /// The kernel would keep what such a client does not take for 20 s, and nobody would count it.
    #[test]
    fn who_ends_its_side_and_takes_nothing_is_reset() {
        for ends in [true, false] {
            let (took, read) = ended(move |mut client| {
                if ends {
                    client.shutdown(std::net::Shutdown::Write)?;
                } else {
                    client.write_all(b"x")?;
                }
                std::thread::sleep(TIME * 2);
                read_to_end(client)
            });
            assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
            assert!(took >= TIME, "{took:?}");
        }
    }
}
