//! Slow and wrong clients are closed by their own deadlines; none of them holds up another connection.

use crate::support::generated_world::World;
use crate::support::server::{Client, bare_pod, review};
use crate::support::server_in_process::InProcess;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::server::Limits;
use fabric_admission::snapshot::Snapshot;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::tls_records_without_data_close_the_connection", empty_records);
    suite.add("webhook::records_of_one_byte_close_the_connection", records_of_one_byte);
    suite.add("webhook::the_length_of_a_chunk_does_not_go_on_for_ever", length_of_a_chunk);
    suite.add("webhook::slow_clients_are_closed", slow_clients);
    suite.add("webhook::idle_connections_live_longer_than_headers_may_take", idle);
    suite.add("webhook::a_header_byte_by_byte_is_late", trickles);
    suite.add("webhook::an_answer_that_is_not_read_is_given_up", never_read);
    suite.add("webhook::a_connection_that_is_not_used_is_idle", unused);
    suite.add("webhook::a_stalled_handshake_holds_up_nobody", stalled);
    suite.add("webhook::plain_http_on_the_tls_port", plain_http);
    suite.add("webhook::connections_return_to_zero", return_to_zero);
}

const LIMITS: Limits = Limits {
    handshake: Duration::from_millis(300),
    header: Duration::from_millis(400),
    body: Duration::from_millis(500),
    write: Duration::from_millis(600),
    idle: Duration::from_millis(2500),
    body_bytes: 8 << 20,
    body_budget: 48 << 20,
    requests: 256,
    large_decisions: 2,
    connections: 256,
    connections_per_peer: 256,
    connection_age: Duration::ZERO,
    drain: Duration::from_secs(1),
    finish: Duration::from_secs(1),
};

fn start() -> Result<InProcess, String> {
    InProcess::start(LIMITS, Snapshot::default())
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
    for reason in ["slow_handshake", "slow_header", "slow_body"] {
        let count = server.metric(&format!("fabric_admission_shed_total{{reason=\"{reason}\"}}"))?;
        assert_eq!(count, if reason == "slow_header" { 2.0 } else { 1.0 }, "{reason}");
    }
    Ok(())
}

/// Bytes that come one by one do not move a deadline.
fn trickles() -> Outcome {
    let server = start()?;
    let mut client = Client::connect(server.webhook, &server.ca)?;
    let started = Instant::now();
    for byte in b"POST /mutate HTTP/1.1\r\nHost: localhost\r\nX-Pad: 0123456789012345678901234567890" {
        let wrote = client.stream.write_all(&[*byte]).and_then(|()| client.stream.flush());
        if wrote.is_err() || started.elapsed() > Duration::from_secs(5) {
            break;
        }
        std::thread::sleep(Duration::from_millis(40));
    }
    within("a header byte by byte", started.elapsed(), 300, 2000)?;
    Ok(())
}

/// A client that asks and never reads. The kernel takes some megabytes of answers; then the deadline counts.
fn never_read() -> Outcome {
    let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
        "metadata": {"name": "h100"}, "spec": {"base": "roce-sriov"}});
    let world = World::new(&json!({"profiles": [profile]}));
    let server = InProcess::start(Limits { idle: Duration::from_secs(60), ..LIMITS }, world.snapshot)?;
    let mut pod = bare_pod();
    let container = pod["spec"]["containers"][0].clone();
    pod["spec"]["containers"] = (0..200)
        .map(|n| {
            let mut container = container.clone();
            container["name"] = json!(format!("c{n}"));
            container["resources"]["limits"]["nvidia.com/gpu"] = json!("1");
            container
        })
        .collect();
    let body = review("u", ("", "Pod"), "CREATE", &pod).to_string();
    let mut reader = Client::connect(server.webhook, &server.ca)?;
    let length = reader.post("/mutate", body.as_bytes())?.body.len();
    assert!(length > 50_000, "{length}");
    let mut client = Client::connect(server.webhook, &server.ca)?;
    client.stream.sock.set_write_timeout(Some(Duration::from_secs(5))).map_err(|e| e.to_string())?;
    let head = format!(
        "POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let started = Instant::now();
    let asked = (0..20_000).find(|_| {
        let asked =
            client.stream.write_all(head.as_bytes()).and_then(|()| client.stream.write_all(body.as_bytes()));
        asked.is_err()
    });
    let asked = asked.ok_or("every answer was taken by somebody")?;
    let took = started.elapsed();
    let shed = server.metric("fabric_admission_shed_total{reason=\"slow_answer\"}")?;
    assert!(shed == 1.0 && took < Duration::from_secs(10), "{shed} after {asked} requests and {took:?}");
    let held = || server.metric("fabric_admission_held_bytes");
    let end = Instant::now() + Duration::from_secs(5);
    while held()? > 0.0 {
        assert!(Instant::now() < end, "{} bytes are still counted", held()?);
        std::thread::sleep(Duration::from_millis(20));
    }
    // Others are served as before.
    assert_eq!(reader.post("/mutate", body.as_bytes())?.status, 200);
    Ok(())
}

/// Go dials for a request, and puts the connection into its pool unused where another one became free first.
fn unused() -> Outcome {
    let server = start()?;
    let mut client = Client::connect(server.webhook, &server.ca)?;
    std::thread::sleep(Duration::from_millis(1200));
    assert_eq!(client.post("/mutate", b"{}")?.status, 400);
    let mut client = Client::connect(server.webhook, &server.ca)?;
    within("never used", closed_after(&mut client.stream)?, 2000, 6000)?;
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
    let open = || server.metric("fabric_admission_connections");
    let clients: Vec<Client> =
        (0..20).map(|_| Client::connect(server.webhook, &server.ca)).collect::<Result<_, _>>()?;
    assert!(open()? > 0.0);
    drop(clients);
    let end = Instant::now() + Duration::from_secs(5);
    while open()? != 0.0 {
        if Instant::now() > end {
            return Err(format!("{} connections are left", open()?).into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// KeyUpdates with a byte of a header among thirty of them, so that rustls never counts more than it allows.
fn empty_records() -> Outcome {
    let server = start()?;
    let mut client = server.client_at(9)?;
    let mut sent = 0;
    let closed = (0..1_000).any(|_| {
        let mut step = || -> std::io::Result<()> {
            for _ in 0..30 {
                client.stream.conn.refresh_traffic_keys().map_err(std::io::Error::other)?;
                sent += 1;
            }
            client.stream.write_all(b"G")?;
            client.stream.flush()
        };
        step().is_err()
    });
    assert!(closed && sent < 10_000, "{sent} KeyUpdates were read");
    let until = Instant::now() + Duration::from_secs(5);
    while server.shed("empty_records")? < 1.0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!((server.shed("empty_records")?, server.shed("slow_header")?), (1.0, 0.0));
    Ok(())
}

/// A header may have 16 KiB, but not 16,384 records.
fn records_of_one_byte() -> Outcome {
    let server = InProcess::start(Limits { header: Duration::from_secs(60), ..LIMITS }, Snapshot::default())?;
    let mut client = server.client_at(9)?;
    let header = [b"POST /mutate HTTP/1.1\r\nX-Pad: ".as_slice(), &[b'x'; 12_000]].concat();
    let sent = header
        .iter()
        .take_while(|byte| client.stream.write_all(&[**byte]).and_then(|()| client.stream.flush()).is_ok());
    // What is sent before the server is known to have closed does not count.
    let sent = sent.inspect(|_| std::thread::sleep(Duration::from_micros(200))).count();
    assert!(sent < header.len(), "all were read");
    assert!(server.shed("empty_records")? > 0.0);
    Ok(())
}

/// Zeros before the length of a chunk, and blanks behind it, do not count as data of the body.
fn length_of_a_chunk() -> Outcome {
    let server = InProcess::start(Limits { body: Duration::from_secs(60), ..LIMITS }, Snapshot::default())?;
    for byte in *b"0 " {
        let mut client = server.client_at(9)?;
        let header = b"POST /mutate HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0";
        client.stream.write_all(header)?;
        let part = [byte; 16 * 1024];
        let sent = (0..1_000).take_while(|_| client.stream.write_all(&part).is_ok()).count();
        // Some MiB may be in transit.
        assert!(sent < 1_000, "all were read");
        assert_eq!(server.client_at(9)?.post("/mutate", b"{}")?.status, 400, "others are answered");
    }
    Ok(())
}
