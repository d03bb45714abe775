//! `monitor`: metrics of the RDMA devices of a pod, and the transport that NCCL uses. One thread.

mod between_scrapes;
mod nccl_log_files;
mod nccl_ras;

use super::Exit;
use crate::preflight::facts_file::Facts;
use crate::rdma::Unreadable;
use between_scrapes::State;
use http::{Method, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Concurrent connections, time for one, and most bytes of a request's head.
const CONNECTIONS: usize = 8;
const DEADLINE: Duration = Duration::from_secs(5);
const REQUEST: usize = 8 << 10;
/// Longest facts file.
const FACTS: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Address on which the monitor serves its metrics, such as :9406 or 127.0.0.1:9406
    #[arg(long, value_name = "ADDRESS", default_value = ":9406", value_parser = address)]
    listen: SocketAddr,
    /// File facts.json that preflight wrote; without this file, the metrics of preflight's facts are absent
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
    /// Transport that the profile expects, such as roce or ethernet; default: the transport in the file of --facts
    #[arg(long, value_name = "NAME", value_parser = ["roce", "infiniband", "ethernet", "efa", "tcpx", "tcpxo"])]
    expect_transport: Option<String>,
    /// Directory with /sys and /dev; for tests, a copy of the root directory of another pod
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Folder with the NCCL logs of one container (see NCCL_DEBUG_FILE)
    #[arg(long, value_name = "DIR")]
    nccl_log: Option<PathBuf>,
    /// Port on which NCCL's RAS listens (127.0.0.1 or ::1), such as 28028. With this flag, the monitor asks RAS
    /// once a minute
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    ras_port: Option<u16>,
    /// Time limit for an answer of RAS at each address, in seconds; RAS waits up to 10 s for the other processes of the
    /// job
    #[arg(long, value_name = "SECONDS", default_value_t = 15, requires = "ras_port", value_parser = clap::value_parser!(u64).range(1..=30))]
    ras_timeout: u64,
    /// For --ras-port: an index or role of the pod in its job; repeatable. Only the monitor of the job's first pod asks
    /// RAS, because an answer of RAS covers all processes of the job. In the first pod, every value is 0 or master; empty
    /// values do not count. Without a value, the monitors of all pods ask RAS
    #[arg(long, value_name = "INDEX", requires = "ras_port")]
    rank_index: Vec<String>,
}

/// `:9406` listens on all addresses.
fn address(text: &str) -> Result<SocketAddr, String> {
    let whole = if text.starts_with(':') { format!("[::]{text}") } else { text.to_owned() };
    whole.parse().map_err(|_| "write an address and a port, such as :9406 or 127.0.0.1:9406".to_owned())
}

pub(super) fn run(arguments: &Arguments, err: &mut dyn Write) -> io::Result<Exit> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            writeln!(err, "error: cannot start the runtime: {error}")?;
            return Ok(Exit::Internal);
        }
    };
    let ras_port = arguments.ras_port.filter(|_| {
        arguments.rank_index.is_empty() || nccl_ras::is_first(&arguments.rank_index) == Some(true)
    });
    if ras_port.is_none()
        && arguments.ras_port.is_some()
        && nccl_ras::is_first(&arguments.rank_index).is_none()
    {
        let message = "The rank of this pod is unknown, so the monitor does not ask RAS";
        writeln!(err, "{}", serde_json::json!({"event": "ras-not-asked", "message": message}))?;
    }
    let (facts, unreadable) = match facts(arguments) {
        Ok(facts) => (facts, None),
        Err(unreadable) => (None, Some(unreadable)),
    };
    let state = State::new(&arguments.root, facts, arguments.nccl_log.clone(), ras_port.is_some())
        .expecting(arguments.expect_transport.clone())
        .without(unreadable);
    let state = Rc::new(state);
    let local = tokio::task::LocalSet::new();
    if let Some(port) = ras_port {
        let state = Rc::clone(&state);
        let deadline = Duration::from_secs(arguments.ras_timeout);
        local.spawn_local(async move {
            loop {
                state.observe_ras(nccl_ras::ask(port, deadline).await);
                tokio::time::sleep(nccl_ras::PERIOD).await;
            }
        });
    }
    let served = local.block_on(&runtime, serve(arguments.listen, state, err));
    match served {
        Ok(()) => Ok(Exit::Clean),
        Err(error) => {
            writeln!(err, "error: {}: {error}", arguments.listen)?;
            Ok(Exit::Internal)
        }
    }
}

/// The facts of preflight, or the file and the reason why there are none, such as another form or version.
fn facts(arguments: &Arguments) -> Result<Option<Facts>, (String, Unreadable)> {
    let Some(path) = &arguments.facts else { return Ok(None) };
    let read = || {
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
        io::Read::read_to_string(&mut io::Read::take(file, FACTS), &mut text)
            .map_err(|error| error.to_string())?;
        Facts::parse(&text)
    };
    let why =
        |reason: String| Unreadable::Failed(format!("{reason}; the metrics of preflight's facts are absent"));
    read().map(Some).map_err(|reason| (path.display().to_string(), why(reason)))
}

/// Whether the node has no IPv6: EAFNOSUPPORT, where the kernel runs with `ipv6.disable=1`, and EADDRNOTAVAIL.
fn lacks_ipv6(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(97 | 99))
}

async fn serve(address: SocketAddr, state: Rc<State>, err: &mut dyn Write) -> io::Result<()> {
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
            http.timer(TokioTimer::new()).keep_alive(false).max_buf_size(REQUEST);
            let served = http.serve_connection(TokioIo::new(stream), answer);
            // A client that is slow or gone is its own matter.
            let _ = timeout(DEADLINE, served).await;
            drop(slot);
        });
    }
}

fn answer(method: &Method, path: &str, state: &State) -> Response<Full<Bytes>> {
    let (status, body) = match (method, path) {
        (&Method::GET, "/metrics") => (StatusCode::OK, state.metrics()),
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
