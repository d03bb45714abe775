//! Slow and wrong clients are closed by their own deadlines; none of them holds up another connection.

use super::{Client, certificate};
use crate::suite::{Outcome, Suite};
use crate::support::Scratch;
use fabric_admission::server::{Facts, Limits, Settings, run};
use fabric_admission::snapshot::Snapshot;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::slow_clients_are_closed", slow_clients);
    suite.add("webhook::idle_connections_live_longer_than_headers_may_take", idle);
    suite.add("webhook::a_stalled_handshake_holds_up_nobody", stalled);
    suite.add("webhook::plain_http_on_the_tls_port", plain_http);
    suite.add("webhook::connections_return_to_zero", return_to_zero);
}

/// A server in this process, with short deadlines; it lives as long as the process.
struct InProcess {
    webhook: SocketAddr,
    admin: SocketAddr,
    ca: PathBuf,
    _scratch: Scratch,
}

const LIMITS: Limits = Limits {
    handshake: Duration::from_millis(300),
    header: Duration::from_millis(400),
    body: Duration::from_millis(500),
    idle: Duration::from_millis(2500),
    body_bytes: 8 << 20,
    body_budget: 48 << 20,
    connections: 256,
    drain: Duration::from_secs(1),
};

fn start() -> Result<InProcess, String> {
    let scratch = Scratch::new()?;
    certificate(scratch.path())?;
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let settings = Settings {
        bind: any,
        admin_bind: any,
        tls_cert: scratch.path().join("tls.crt"),
        tls_key: scratch.path().join("tls.key"),
        tls12: false,
        tls_poll: Duration::from_secs(60),
        workloads: None,
        network_objects: None,
        lame_duck: Duration::ZERO,
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(run(settings, LIMITS, Snapshot::default(), Facts::Fixed, |webhook, admin| {
            let _ = sender.send((webhook, admin));
        }))
    });
    let (webhook, admin) = receiver.recv_timeout(Duration::from_secs(10)).map_err(|e| e.to_string())?;
    Ok(InProcess { webhook, admin, ca: scratch.path().join("ca.crt"), _scratch: scratch })
}

/// How long until the other side closes.
fn closed_after(stream: &mut impl Read) -> Result<Duration, String> {
    let started = Instant::now();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(started.elapsed()),
            Ok(_) => {}
            Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                return Err(format!("still open after {:?}", started.elapsed()));
            }
            Err(_) => return Ok(started.elapsed()),
        }
    }
}

fn within(what: &str, took: Duration, low: u64, high: u64) -> Result<(), String> {
    let (low, high) = (Duration::from_millis(low), Duration::from_millis(high));
    if (low..high).contains(&took) { Ok(()) } else { Err(format!("{what}: closed after {took:?}")) }
}

fn slow_clients() -> Outcome {
    let server = start()?;
    let mut silent = TcpStream::connect(server.webhook).map_err(|e| e.to_string())?;
    silent.set_read_timeout(Some(Duration::from_secs(10))).map_err(|e| e.to_string())?;
    within("no ClientHello", closed_after(&mut silent)?, 100, 3000)?;
    let mut nothing = Client::connect(server.webhook, &server.ca)?;
    within("no request", closed_after(&mut nothing.stream)?, 200, 3000)?;
    let mut half = Client::connect(server.webhook, &server.ca)?;
    half.stream.write_all(b"POST /mutate HTTP/1.1\r\nHost: lo").map_err(|e| e.to_string())?;
    half.stream.flush().map_err(|e| e.to_string())?;
    within("half a header", closed_after(&mut half.stream)?, 200, 3000)?;
    let mut second = Client::connect(server.webhook, &server.ca)?;
    assert_eq!(second.post("/mutate", b"{}")?.status, 400);
    second.stream.write_all(b"POST /mu").map_err(|e| e.to_string())?;
    second.stream.flush().map_err(|e| e.to_string())?;
    within("half a second header", closed_after(&mut second.stream)?, 200, 2200)?;
    let mut body = Client::connect(server.webhook, &server.ca)?;
    let head = b"POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n";
    assert_eq!(body.send(head, b"{")?.status, 408, "half a body");
    Ok(())
}

fn idle() -> Outcome {
    let server = start()?;
    let mut client = Client::connect(server.webhook, &server.ca)?;
    for _ in 0..3 {
        assert_eq!(client.post("/mutate", b"{}")?.status, 400);
        // Longer than a header may take, shorter than the idle deadline.
        std::thread::sleep(Duration::from_millis(900));
    }
    within("idle", closed_after(&mut client.stream)?, 500, 6000)?;
    Ok(())
}

fn stalled() -> Outcome {
    let server = start()?;
    let stalled: Vec<TcpStream> = (0..50)
        .map(|_| TcpStream::connect(server.webhook))
        .collect::<Result<_, _>>()
        .map_err(|e| e.to_string())?;
    let started = Instant::now();
    assert_eq!(Client::connect(server.webhook, &server.ca)?.post("/mutate", b"{}")?.status, 400);
    assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
    drop(stalled);
    Ok(())
}

fn plain_http() -> Outcome {
    let server = start()?;
    let mut plain = TcpStream::connect(server.webhook).map_err(|e| e.to_string())?;
    plain.set_read_timeout(Some(Duration::from_secs(10))).map_err(|e| e.to_string())?;
    plain.write_all(b"POST /mutate HTTP/1.1\r\nHost: localhost\r\n\r\n").map_err(|e| e.to_string())?;
    within("plain HTTP", closed_after(&mut plain)?, 0, 3000)?;
    assert_eq!(Client::connect(server.webhook, &server.ca)?.post("/mutate", b"{}")?.status, 400);
    Ok(())
}

fn return_to_zero() -> Outcome {
    let server = start()?;
    let open = || -> Result<i64, String> {
        let mut stream = TcpStream::connect(server.admin).map_err(|e| e.to_string())?;
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .map_err(|e| e.to_string())?;
        let mut text = String::new();
        stream.read_to_string(&mut text).map_err(|e| e.to_string())?;
        let line = text.lines().find(|l| l.starts_with("fabric_admission_connections "));
        line.and_then(|l| l.rsplit(' ').next()?.parse().ok()).ok_or_else(|| text.clone())
    };
    let clients: Vec<Client> =
        (0..20).map(|_| Client::connect(server.webhook, &server.ca)).collect::<Result<_, _>>()?;
    assert!(open()? > 0);
    drop(clients);
    let end = Instant::now() + Duration::from_secs(5);
    while open()? != 0 {
        if Instant::now() > end {
            return Err(format!("{} connections are left", open()?).into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
