//! Requests and bytes over their budget are answered 503 at once and counted.

use crate::support::server::Client;
use crate::support::server_in_process::InProcess;
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
}

pub(super) fn start(limits: Limits) -> Result<InProcess, String> {
    InProcess::start(limits, Snapshot::default())
}

pub(super) fn head(length: usize) -> String {
    format!(
        "POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// A client in the middle of its body.
pub(super) fn halfway(server: &InProcess, length: usize, sent: usize) -> Result<Client, String> {
    begin(Client::connect(server.webhook, &server.ca)?, length, sent)
}

pub(super) fn begin(mut client: Client, length: usize, sent: usize) -> Result<Client, String> {
    client.stream.write_all(head(length).as_bytes()).map_err(|e| e.to_string())?;
    client.stream.write_all(&vec![b'1'; sent]).map_err(|e| e.to_string())?;
    client.stream.flush().map_err(|e| e.to_string())?;
    Ok(client)
}

pub(super) fn finish(mut client: Client, bytes: usize) -> Result<u16, String> {
    client.stream.write_all(&vec![b'1'; bytes]).map_err(|e| e.to_string())?;
    client.stream.flush().map_err(|e| e.to_string())?;
    Ok(crate::support::server::Answer::read(&mut client.stream)?.status)
}

pub(super) fn until(what: &str, mut holds: impl FnMut() -> Result<bool, String>) -> Result<(), String> {
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
pub(super) fn closed(mut stream: &TcpStream) -> Result<bool, String> {
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
        let answer = client.send(head(length).as_bytes(), &vec![b'1'; length])?;
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
    let reading = halfway(&server, 500 << 10, (500 << 10) - 10)?;
    until("it is held", || Ok(server.metric("fabric_admission_held_bytes")? == f64::from(500 << 10)))?;
    let large = vec![b'1'; 200 << 10];
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
    // A debug build reads one of them in 50 ms, so none has stalled when the next one needs room.
    const STALLED: usize = 7 << 15;
    let server = start(Limits { body_budget: 1 << 20, ..Limits::default() })?;
    let mut crowd = Vec::new();
    for n in 1..=2 {
        crowd.push(begin(server.client_at(2)?, STALLED, STALLED - 10)?);
        until("it is held", || Ok(server.metric("fabric_admission_held_bytes")? == (n * STALLED) as f64))?;
    }
    let refused = begin(server.client_at(2)?, STALLED, STALLED - 10)?;
    for last in 3..6 {
        for length in [8 << 10, 64 << 10, 128 << 10] {
            let answer = server.client_at(last)?.post("/mutate", &vec![b'1'; length])?;
            assert_eq!(answer.status, 400, "{length} bytes of 127.0.0.{last}: {}", answer.body);
        }
    }
    assert_eq!(
        finish(refused, 10)?,
        503,
        "three quarters of the memory for large bodies are for one address"
    );
    for client in crowd {
        assert_eq!(finish(client, 10)?, 400);
    }
    until("nothing is held", || Ok(server.metric("fabric_admission_held_bytes")? == 0.0))?;
    Ok(())
}
