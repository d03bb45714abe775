//! What is too much is answered 503 at once or closed at once, is counted, and is over as soon as it is over.

use super::in_process::{InProcess, connect_from};
use crate::support::server::Client;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::server::Limits;
use fabric_admission::snapshot::Snapshot;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::requests_over_the_budget_are_asked_to_retry", requests);
    suite.add("webhook::slow_bodies_are_no_requests_at_work", slow_bodies);
    suite.add("webhook::bodies_over_the_budget_are_asked_to_retry", memory);
    suite.add("webhook::one_address_cannot_take_the_memory_of_all", memory_of_others);
    suite.add("webhook::one_address_cannot_take_every_connection", per_peer);
    suite.add("webhook::idle_connections_make_room", make_room);
    suite.add("webhook::unfinished_handshakes_make_room", unfinished);
    suite.add("webhook::requests_that_do_not_end_make_room", stalled_requests);
    suite.add("webhook::halves_in_turns_keep_nobody_out", halves);
    suite.add("webhook::connections_at_work_do_not_make_room", full);
    suite.add("webhook::probes_get_through_a_crowd_on_the_admin_port", crowded_admin);
}

fn start(limits: Limits) -> Result<InProcess, String> {
    InProcess::start(limits, Snapshot::default())
}

fn head(length: usize) -> String {
    format!(
        "POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// A client in the middle of its body.
fn halfway(server: &InProcess, length: usize, sent: usize) -> Result<Client, String> {
    begin(Client::connect(server.webhook, &server.ca)?, length, sent)
}

fn begin(mut client: Client, length: usize, sent: usize) -> Result<Client, String> {
    client.stream.write_all(head(length).as_bytes()).map_err(|e| e.to_string())?;
    client.stream.write_all(&vec![b' '; sent]).map_err(|e| e.to_string())?;
    client.stream.flush().map_err(|e| e.to_string())?;
    Ok(client)
}

fn finish(mut client: Client, bytes: usize) -> Result<u16, String> {
    client.stream.write_all(&vec![b' '; bytes]).map_err(|e| e.to_string())?;
    client.stream.flush().map_err(|e| e.to_string())?;
    Ok(crate::support::server::Answer::read(&mut client.stream)?.status)
}

fn until(what: &str, mut holds: impl FnMut() -> Result<bool, String>) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(5);
    while !holds()? {
        if Instant::now() > end {
            return Err(format!("not so after 5 s: {what}"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Whether the other side closes before anything is said.
fn closed(mut stream: &TcpStream) -> Result<bool, String> {
    stream.set_read_timeout(Some(Duration::from_secs(2))).map_err(|e| e.to_string())?;
    match stream.read(&mut [0; 16]) {
        Ok(read) => Ok(read == 0),
        Err(error) => Ok(error.kind() == std::io::ErrorKind::ConnectionReset),
    }
}

/// Nobody may be at work: what is then said to all is what is said to one too many.
fn requests() -> Outcome {
    let server = start(Limits { requests: 0, ..Limits::default() })?;
    let started = Instant::now();
    // A large body as well: it is read to its end, or its sender would not see the answer.
    for length in [2, 6 << 20] {
        let mut client = Client::connect(server.webhook, &server.ca)?;
        let answer = client.send(head(length).as_bytes(), &vec![b' '; length])?;
        assert_eq!(answer.status, 503, "{}", answer.body);
        assert!(answer.closes() && answer.body.contains("--max-requests"), "{answer:?}");
        assert!(answer.head.to_ascii_lowercase().contains("\r\nretry-after: 1"), "{}", answer.head);
    }
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert_eq!(server.shed("requests")?, 2.0);
    assert_eq!(server.metric("fabric_admission_held_bytes")?, 0.0, "what is refused is not held");
    Ok(())
}

fn slow_bodies() -> Outcome {
    let server = start(Limits { requests: 1, ..Limits::default() })?;
    let reading = [halfway(&server, 20, 10)?, halfway(&server, 20, 10)?];
    until("two are read", || Ok(server.metric("fabric_admission_held_bytes")? == 2048.0))?;
    assert_eq!(Client::connect(server.webhook, &server.ca)?.post("/mutate", b"{}")?.status, 400);
    for client in reading {
        assert_eq!(finish(client, 10)?, 400);
    }
    assert_eq!(server.shed("requests")?, 0.0);
    Ok(())
}

fn memory() -> Outcome {
    let server = start(Limits { body_budget: 1 << 20, ..Limits::default() })?;
    let reading = halfway(&server, 600 << 10, (600 << 10) - 10)?;
    until("it is held", || Ok(server.metric("fabric_admission_held_bytes")? == f64::from(600 << 10)))?;
    let large = vec![b' '; 200 << 10];
    let answer = Client::connect(server.webhook, &server.ca)?.post("/mutate", &large)?;
    assert_eq!(answer.status, 503, "{}", answer.body);
    assert!(answer.closes() && answer.body.contains("--max-body-memory"), "{answer:?}");
    // A small one has room.
    assert_eq!(Client::connect(server.webhook, &server.ca)?.post("/mutate", b"{}")?.status, 400);
    assert_eq!(finish(reading, 10)?, 400);
    until("nothing is held", || Ok(server.metric("fabric_admission_held_bytes")? == 0.0))?;
    assert_eq!(Client::connect(server.webhook, &server.ca)?.post("/mutate", &large)?.status, 400);
    assert_eq!(server.shed("memory")?, 1.0);
    Ok(())
}

/// Bodies of one address that stall, more than there is memory for; others come with pods meanwhile.
fn memory_of_others() -> Outcome {
    const STALLED: usize = 7 << 19;
    let server = start(Limits { body_budget: 16 << 20, ..Limits::default() })?;
    let mut crowd = Vec::new();
    for n in 1..=3 {
        crowd.push(begin(server.client_at(2)?, STALLED, STALLED - 10)?);
        until("it is held", || Ok(server.metric("fabric_admission_held_bytes")? == (n * STALLED) as f64))?;
    }
    let refused = begin(server.client_at(2)?, STALLED, STALLED - 10)?;
    for last in 3..6 {
        for length in [8 << 10, 64 << 10, 1 << 20] {
            let answer = server.client_at(last)?.post("/mutate", &vec![b' '; length])?;
            assert_eq!(answer.status, 400, "{length} bytes of 127.0.0.{last}: {}", answer.body);
        }
    }
    assert_eq!(
        finish(refused, 10)?,
        503,
        "three quarters of seven eighths of the memory are for one address"
    );
    for client in crowd {
        assert_eq!(finish(client, 10)?, 400);
    }
    until("nothing is held", || Ok(server.metric("fabric_admission_held_bytes")? == 0.0))?;
    Ok(())
}

fn per_peer() -> Outcome {
    let server = start(Limits { connections_per_peer: 3, ..Limits::default() })?;
    let crowd: Vec<Client> = (0..3).map(|_| server.client_at(2)).collect::<Result<_, _>>()?;
    assert!(closed(&connect_from(2, server.webhook)?)?, "a fourth of one address");
    assert_eq!(server.shed("peer_connections")?, 1.0);
    assert_eq!(server.client_at(3)?.post("/mutate", b"{}")?.status, 400, "another address");
    drop(crowd);
    until("the address may come again", || Ok(server.client_at(2).is_ok()))?;
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
    assert!(closed(&connect_from(1, server.webhook)?)?, "one too many");
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
