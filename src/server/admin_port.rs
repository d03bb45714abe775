//! The admin port: plain HTTP, for probes and Prometheus, never for the API server.

use super::http_answers;
use super::metrics_written_once_for_all_scrapes::WrittenMetrics;
use super::readyz::readiness;
use super::serve_connection::READ_BUFFER;
use super::shared_state::State;
use super::shared_tcp_stream::{SharedTcpStream, TcpStreamHandle};
use axum::Router;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tower::ServiceExt;

/// Probes and scrapers are few. For one more, the oldest of the address with the most goes: whoever holds connections open
/// must not keep the kubelet from asking whether we live.
const MAX_CONNECTIONS: usize = 64;
/// Bytes that a connection may send. A request has a header of at most [`READ_BUFFER`] and no body, but hyper would read one:
/// the length of a chunk may have any number of zeros (src/proto/h1/decode.rs, `read_size`).
const MAX_SENT: u64 = 32 * 1024;
/// Deadline of a header, and of an idle connection.
const HEADER: Duration = Duration::from_secs(30);
/// How long a client has to take the end of an answer.
const ANSWER: Duration = Duration::from_secs(10);

fn router(state: Arc<State>) -> Router {
    Router::new()
        .route("/livez", get(async || http_answers::plain(StatusCode::OK, "ok")))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .fallback(async || {
            http_answers::plain(StatusCode::NOT_FOUND, "unknown path; use /livez, /readyz or /metrics")
        })
        .with_state((state, Arc::default()))
}

async fn ready(Shared((state, _)): Shared<(Arc<State>, Arc<WrittenMetrics>)>) -> Response {
    let (status, text) = readiness(&state);
    http_answers::plain(status, &text)
}

async fn metrics(Shared((state, written)): Shared<(Arc<State>, Arc<WrittenMetrics>)>) -> Response {
    let Some(text) = written.wait_for_text_begun_after_call(&state).await else {
        return http_answers::internal_error_answer();
    };
    let mut response = Response::new(Body::from(text));
    let openmetrics = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, openmetrics);
    response
}

/// The open connections of the admin port, the oldest first.
#[derive(Default)]
struct Open(VecDeque<OpenConnection>);

/// A connection: whose it is, and how to end it.
struct OpenConnection {
    address: IpAddr,
    task: AbortHandle,
    stream: TcpStreamHandle,
}

impl Open {
    /// Adds a connection, and closes one if there are too many.
    fn add_and_close_one_too_many(&mut self, connection: OpenConnection) {
        self.0.retain(|connection| !connection.task.is_finished());
        self.0.push_back(connection);
        if self.0.len() > MAX_CONNECTIONS
            && let Some(closed) = self.one_too_many().and_then(|at| self.0.remove(at))
        {
            closed.stream.reset_when_dropped();
            closed.task.abort();
        }
    }

    /// The oldest connection that its client gave up; else the oldest one of the address that has the most. A scrape that waits
    /// for its answer must not be closed for connections that nobody has any more.
    fn one_too_many(&self) -> Option<usize> {
        if let Some(given_up) = self.0.iter().position(|one| one.stream.is_given_up()) {
            return Some(given_up);
        }
        let of = |address: &IpAddr| self.0.iter().filter(|other| other.address == *address).count();
        let most = self.0.iter().map(|one| of(&one.address)).max()?;
        self.0.iter().position(|one| of(&one.address) == most)
    }
}

/// Serves until aborted; through the lame-duck time as well, so that probes see it.
pub(super) async fn serve(listener: Arc<TcpListener>, state: Arc<State>) {
    let router = router(state);
    let mut open = Open::default();
    loop {
        let Ok((accepted, from)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let router = router.clone();
        let accepted = SharedTcpStream::new(accepted);
        let stream = accepted.handle();
        let task = tokio::spawn(async move {
            answer_one_request(router, accepted.clone(), accepted.clone()).await;
            accepted.end_and_wait_for_client_or_reset(ANSWER, std::future::pending()).await;
        });
        let task = task.abort_handle();
        open.add_and_close_one_too_many(OpenConnection { address: from.ip(), task, stream });
        // Each connection has a turn before the next one may push it out.
        tokio::task::yield_now().await;
    }
}

/// Answers the only request of a connection: a client that sends many at once must not delay the next probe.
async fn answer_one_request(
    router: Router,
    sent: impl AsyncRead + Unpin + Send + 'static,
    answers: impl AsyncWrite + Unpin + Send + 'static,
) {
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        router.clone().oneshot(request.map(axum::body::Body::new))
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER)
        .keep_alive(false)
        .max_buf_size(READ_BUFFER)
        .serve_connection(TokioIo::new(tokio::io::join(sent.take(MAX_SENT), answers)), service);
    let _ = connection.await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll};
    use tokio::io::ReadBuf;

    /// A connection of an address that does not end by itself.
    fn held(address: IpAddr) -> OpenConnection {
        let task = tokio::spawn(std::future::pending::<()>()).abort_handle();
        OpenConnection { address, task, stream: TcpStreamHandle::default() }
    }

    /// A connection of each of many addresses; then the client of the third one goes away.
    #[tokio::test]
    async fn a_connection_that_its_client_gave_up_is_closed_first() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (mut open, mut clients, mut streams) = (Open::default(), Vec::new(), Vec::new());
        for number in 0..=MAX_CONNECTIONS {
            let client = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let stream = SharedTcpStream::new(listener.accept().await.unwrap().0);
            let address = IpAddr::from([10, 0, 0, u8::try_from(number).unwrap()]);
            if number == MAX_CONNECTIONS {
                clients.remove(2);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            open.add_and_close_one_too_many(OpenConnection { stream: stream.handle(), ..held(address) });
            clients.push(client);
            streams.push(stream);
        }
        let first = open.0.iter().take(3).map(|one| one.address);
        assert_eq!(first.collect::<Vec<_>>(), [0, 1, 3].map(|last| IpAddr::from([10, 0, 0, last])));
    }

    /// What a client sends: a header, and then 64 MiB of zeros as fast as they are read.
    struct Client {
        header: &'static [u8],
        read: Arc<AtomicUsize>,
    }

    impl AsyncRead for Client {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            let header = std::mem::take(&mut self.header);
            let zeros =
                if self.read.load(Ordering::Relaxed) < 64 << 20 { buf.remaining() - header.len() } else { 0 };
            buf.put_slice(header);
            buf.put_slice(&vec![b'0'; zeros]);
            self.read.fetch_add(header.len() + zeros, Ordering::Relaxed);
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn a_connection_may_send_a_header_and_no_long_body() {
        for header in [
            "POST /livez HTTP/1.1\r\nhost: h\r\nTransfer-Encoding: chunked\r\n\r\n0",
            "POST /livez HTTP/1.1\r\nhost: h\r\nContent-Length: 99999999999\r\n\r\n",
        ] {
            let read = Arc::new(AtomicUsize::new(0));
            let client = Client { header: header.as_bytes(), read: Arc::clone(&read) };
            answer_one_request(router(Arc::new(State::bare())), client, tokio::io::sink()).await;
            let read = read.load(Ordering::Relaxed);
            assert!(read <= MAX_SENT as usize, "{read} bytes were read: {header}");
        }
    }

    #[tokio::test]
    async fn a_crowd_of_one_address_closes_its_own_connections() {
        let mut open = Open::default();
        let (crowd, probe) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        open.add_and_close_one_too_many(held(probe));
        for _ in 0..10 * MAX_CONNECTIONS {
            open.add_and_close_one_too_many(held(crowd));
        }
        assert_eq!(open.0.len(), MAX_CONNECTIONS);
        assert_eq!(open.0.front().map(|one| one.address), Some(probe));
    }

    #[tokio::test]
    async fn among_equals_the_oldest_is_closed() {
        let mut open = Open::default();
        for address in 0..=MAX_CONNECTIONS {
            open.add_and_close_one_too_many(held(IpAddr::from([10, 0, 0, u8::try_from(address).unwrap()])));
        }
        assert_eq!(open.0.front().map(|one| one.address), Some(IpAddr::from([10, 0, 0, 1])));
    }
}
