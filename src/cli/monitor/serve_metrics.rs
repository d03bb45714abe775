//! The HTTP server of `monitor`: how many connections it has at once, and how long one may take.

use super::monitor_state_and_log_lines::MonitorState;
use http::{Method, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Concurrent connections.
const CONNECTIONS: usize = 8;
/// Time for one connection.
const DEADLINE: Duration = Duration::from_secs(5);
/// Most bytes of a request's head.
const MAX_REQUEST_HEAD_BYTES: usize = 8 << 10;

/// Whether the node has no IPv6: EAFNOSUPPORT, where the kernel runs with `ipv6.disable=1`, and EADDRNOTAVAIL.
fn lacks_ipv6(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(97 | 99))
}

pub(super) async fn serve_metrics_over_http(
    address: SocketAddr,
    state: Rc<MonitorState>,
    err: &mut dyn Write,
) -> io::Result<()> {
    let listener =
        match (TcpListener::bind(address).await, address.is_ipv6() && address.ip().is_unspecified()) {
            (Err(error), true) if lacks_ipv6(&error) => {
                TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port())).await?
            }
            (bound, _) => bound?,
        };
    let mut term = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    writeln!(err, "{{\"event\":\"listening\",\"address\":\"{}\"}}", listener.local_addr()?)?;
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            _ = term.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files: without a pause this would spin.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else { continue };
        let state = Rc::clone(&state);
        tokio::task::spawn_local(async move {
            let answer = service_fn(|request: http::Request<hyper::body::Incoming>| {
                let answer = answer(request.method(), request.uri().path(), &state);
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).keep_alive(false).max_buf_size(MAX_REQUEST_HEAD_BYTES);
            let served = http.serve_connection(TokioIo::new(stream), answer);
            // A client that is slow or gone is its own matter.
            let _ = timeout(DEADLINE, served).await;
            drop(slot);
        });
    }
}

fn answer(method: &Method, path: &str, state: &MonitorState) -> Response<Full<Bytes>> {
    let (status, body) = match (method, path) {
        (&Method::GET, "/metrics") => (StatusCode::OK, state.take_sample_log_problems_and_render()),
        (&Method::GET, "/healthz") => (StatusCode::OK, "ok\n".to_owned()),
        (&Method::GET, _) => (StatusCode::NOT_FOUND, "GET /metrics or /healthz\n".to_owned()),
        _ => (StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let kind = header::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_without_ipv6_is_known_by_its_error() {
        let error = io::Error::from_raw_os_error;
        // socket(AF_INET6) and bind(::) where there is no IPv6.
        assert!(lacks_ipv6(&error(97)) && lacks_ipv6(&error(99)));
        // The port is in use, or not allowed: another address would hide that.
        assert!(!lacks_ipv6(&error(98)) && !lacks_ipv6(&error(13)));
    }
}
