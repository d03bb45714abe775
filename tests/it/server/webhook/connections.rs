//! Connections over their limits are closed at once and counted; idle and unfinished ones make room for others.

use super::requests_over_budget_get_503::{begin, closed, finish, halfway, start, until};
use crate::support::server::{Client, PROFILE, Server, trusting};
use crate::support::server_in_process::connect_from;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::server::Limits;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::one_address_cannot_take_every_connection", per_peer);
    suite.add("webhook::handshakes_have_a_thread_of_their_own", own_thread);
    suite.add("webhook::a_first_message_that_is_long_closes_its_connection", first_message);
    suite.add("webhook::idle_connections_make_room", make_room);
    suite.add("webhook::unfinished_handshakes_make_room", unfinished);
    suite.add("webhook::requests_that_do_not_end_make_room", stalled_requests);
    suite.add("webhook::halves_in_turns_keep_nobody_out", halves);
    suite.add("webhook::connections_at_work_do_not_make_room", full);
    suite.add("webhook::probes_get_through_a_crowd_on_the_admin_port", crowded_admin);
    suite.add("webhook::a_connection_of_the_admin_port_gets_one_answer", one_answer);
}

/// Whether the server has closed or reset a new connection. The reset may come before the client has looked.
fn is_refused(connected: Result<TcpStream, String>) -> Result<bool, String> {
    match connected {
        Ok(stream) => closed(&stream),
        Err(error) if error.contains("reset") => Ok(true),
        Err(error) => Err(error),
    }
}

fn per_peer() -> Outcome {
    let server = start(Limits { connections_per_peer: 3, ..Limits::default() })?;
    let crowd: Vec<Client> = (0..3).map(|_| server.client_at(2)).collect::<Result<_, _>>()?;
    assert!(is_refused(connect_from(2, server.webhook))?, "a fourth of one address");
    assert_eq!(server.shed("peer_connections")?, 1.0);
    assert_eq!(server.client_at(3)?.post("/mutate", b"{}")?.status, 400, "another address");
    drop(crowd);
    until("the address may come again", || Ok(server.client_at(2).is_ok()))?;
    Ok(())
}

/// Each message takes many times its length until it is answered.
fn first_message() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let handshake = |protocols: usize, length: usize| {
        let mut config = trusting(&server.scratch.path().join("tls/ca.crt"), rustls::DEFAULT_VERSIONS)?
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
            .alpn_protocols
            .extend((1..protocols).map(|at| vec![u8::try_from(at).unwrap_or_default(); length]));
        let socket = TcpStream::connect(server.webhook).map_err(|e| e.to_string())?;
        Client::over(socket, config)?.post("/mutate", b"{}").map(|answer| answer.status)
    };
    assert_eq!(handshake(32, 200)?, 400, "6.4 KiB");
    assert!(handshake(33, 1).is_err(), "too many protocols");
    until("the failure is counted", || {
        Ok(server.metric("fabric_admission_tls_handshakes_total{result=\"failed\"}")? == 1.0)
    })?;
    // A record with so many bytes of a message of 9,000.
    let is_closed_after = |bytes: usize| -> Result<bool, String> {
        let mut stream = TcpStream::connect(server.webhook).map_err(|e| e.to_string())?;
        let mut message = vec![22, 3, 1, 35, 44, 1, 0, 35, 40];
        message.resize(bytes, 0);
        stream.write_all(&message).map_err(|e| e.to_string())?;
        closed(&stream)
    };
    assert_eq!([is_closed_after(8_000)?, is_closed_after(8_300)?], [false, true]);
    Ok(())
}

/// How often threads of this process with this name have waited for something.
fn waits_of_threads(name: &str) -> Result<u64, String> {
    let tasks = std::fs::read_dir("/proc/self/task").map_err(|e| e.to_string())?;
    let mut waits = 0;
    for task in tasks.flatten() {
        // A thread may end in between.
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        if read("comm").trim() == name {
            let status = read("status");
            let switches = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))
                .unwrap_or_default();
            waits += switches.trim().parse::<u64>().unwrap_or_default();
        }
    }
    Ok(waits)
}

/// Threads that read large bodies do not delay them.
fn own_thread() -> Outcome {
    const HANDSHAKES: u64 = 30;
    let server = start(Limits::default())?;
    let before = waits_of_threads("handshakes")?;
    for _ in 0..HANDSHAKES {
        assert_eq!(server.client_at(2)?.post("/mutate", b"{}")?.status, 400);
    }
    let waits = waits_of_threads("handshakes")? - before;
    assert!(waits >= HANDSHAKES, "{waits}");
    Ok(())
}

fn make_room() -> Outcome {
    let server = start(Limits { connections: 8, connections_per_peer: 8, ..Limits::default() })?;
    let mut api_server = server.client_at(2)?;
    assert_eq!(api_server.post("/mutate", b"{}")?.status, 400);
    // Some have asked something, some have not.
    let mut crowd: Vec<Client> = (0..7).map(|_| server.client_at(3)).collect::<Result<_, _>>()?;
    for client in &mut crowd[..3] {
        client.post("/mutate", b"{}")?;
    }
    for _ in 0..20 {
        assert_eq!(server.client_at(3)?.post("/mutate", b"{}")?.status, 400);
    }
    // The crowd made room for its own, and the one connection of another address was left alone.
    assert_eq!(api_server.post("/mutate", b"{}")?.status, 400);
    assert!(server.shed("idle")? >= 1.0 && server.shed("connections")? == 0.0);
    until("no more than there may be", || Ok(server.metric("fabric_admission_connections")? <= 8.0))?;
    Ok(())
}

/// Two addresses that open connections and say nothing, again and again; the API server's connection is left alone, and
/// others get in.
fn unfinished() -> Outcome {
    let server = start(Limits { connections: 8, connections_per_peer: 5, ..Limits::default() })?;
    let mut api_server = server.client_at(2)?;
    assert_eq!(api_server.post("/mutate", b"{}")?.status, 400);
    let mut crowd: Vec<TcpStream> = Vec::new();
    for round in 0..5 {
        for last in [3, 4] {
            for _ in 0..5 {
                crowd.push(connect_from(last, server.webhook)?);
            }
        }
        let mut other = server.client_at(5)?;
        assert_eq!(other.post("/mutate", b"{}")?.status, 400, "round {round}");
    }
    assert_eq!(api_server.post("/mutate", b"{}")?.status, 400);
    assert!(server.shed("unfinished_handshake")? >= 5.0);
    assert_eq!((server.shed("connections")?, server.shed("slow_handshake")?), (0.0, 0.0));
    Ok(())
}

/// The same with halves of headers at one address and halves of bodies at the other, which are work for two seconds.
fn stalled_requests() -> Outcome {
    let server = start(Limits { connections: 4, ..Limits::default() })?;
    let mut crowd = Vec::new();
    for _ in 0..2 {
        let mut client = server.client_at(3)?;
        client
            .stream
            .write_all(b"POST /mu")
            .and_then(|()| client.stream.flush())
            .map_err(|e| e.to_string())?;
        crowd.push(client);
    }
    for _ in 0..2 {
        crowd.push(begin(server.client_at(4)?, 20, 10)?);
    }
    std::thread::sleep(Duration::from_millis(2300));
    let mut others = Vec::new();
    for last in [5, 6] {
        let mut other = server.client_at(last)?;
        assert_eq!(other.post("/mutate", b"{}")?.status, 400);
        others.push(other);
    }
    assert_eq!((server.shed("slow_header")?, server.shed("slow_body")?), (1.0, 1.0));
    assert_eq!(server.shed("connections")?, 0.0);
    // One of each address had to go, long before its own deadline.
    for pair in crowd.chunks_mut(2) {
        let open = pair.iter_mut().map(|client| {
            let wait = Duration::from_millis(700);
            client.stream.sock.set_read_timeout(Some(wait)).map_err(|e| e.to_string())?;
            let waits = [std::io::ErrorKind::WouldBlock, std::io::ErrorKind::TimedOut];
            Ok(client.stream.read(&mut [0; 16]).is_err_and(|e| waits.contains(&e.kind())))
        });
        let open: Vec<bool> = open.collect::<Result<_, String>>()?;
        assert_eq!(open.iter().filter(|open| **open).count(), 1, "{open:?}");
    }
    Ok(())
}

/// Two addresses whose connections are always in the middle of a header or a body, and never for two seconds.
fn halves() -> Outcome {
    let server = start(Limits { connections: 16, ..Limits::default() })?;
    let mut api_server = server.client_at(2)?;
    assert_eq!(api_server.post("/mutate", b"{}")?.status, 400);
    let half = |last: u8, header: bool| {
        let mut client = server.client_at(last)?;
        if !header {
            return begin(client, 20, 10);
        }
        let wrote = client.stream.write_all(b"POST /mu").and_then(|()| client.stream.flush());
        wrote.map(|()| client).map_err(|e| e.to_string())
    };
    let mut crowd = Vec::new();
    for n in 0..15 {
        crowd.push(half(3 + n % 2, n % 4 < 2)?);
    }
    // More of their own come in place of their own, or not at all.
    crowd.extend((0..8).filter_map(|n| half(3 + n % 2, true).ok()));
    for last in [5, 6] {
        assert_eq!(server.client_at(last)?.post("/mutate", b"{}")?.status, 400, "127.0.0.{last}");
    }
    assert_eq!(api_server.post("/mutate", b"{}")?.status, 400, "its connection was idle");
    Ok(())
}

fn full() -> Outcome {
    let server = start(Limits { connections: 3, ..Limits::default() })?;
    let reading: Vec<Client> = (0..3).map(|_| halfway(&server, 20, 10)).collect::<Result<_, _>>()?;
    until("three are read", || Ok(server.metric("fabric_admission_held_bytes")? == 3072.0))?;
    assert!(is_refused(connect_from(1, server.webhook))?, "one too many");
    assert_eq!(server.shed("connections")?, 1.0);
    for client in reading {
        assert_eq!(finish(client, 10)?, 400);
    }
    until("there is room again", || Ok(server.client_at(2).is_ok()))?;
    Ok(())
}

fn crowded_admin() -> Outcome {
    let server = start(Limits::default())?;
    let crowd: Vec<TcpStream> = (0..200)
        .map(|_| TcpStream::connect(server.admin))
        .collect::<Result<_, _>>()
        .map_err(|e| e.to_string())?;
    let started = Instant::now();
    assert_eq!(crate::support::server::admin(server.admin, "/livez")?.status, 200);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    drop(crowd);
    Ok(())
}

/// Of many requests that are sent together, the others would delay the next probe.
fn one_answer() -> Outcome {
    let server = start(Limits::default())?;
    let mut client = TcpStream::connect(server.admin)?;
    client.write_all("GET /metrics HTTP/1.1\r\nhost: h\r\n\r\n".repeat(8).as_bytes())?;
    let mut text = Vec::new();
    // The kernel may say that the other requests were not read.
    let _ = client.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    assert_eq!(text.matches("HTTP/1.1 200").count(), 1, "{text}");
    assert!(text.to_ascii_lowercase().contains("connection: close"), "{text}");
    Ok(())
}
