//! Old connections end with an answer, so that replicas that came later get their part of the calls.

use super::requests_over_budget_get_503::until;
use crate::support::server::{Client, Server};
use crate::support::suite::{Outcome, Suite};
use std::io::Write;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::the_next_answer_of_an_old_connection_closes_it", old);
    suite.add("webhook::connections_may_be_kept_without_a_limit", kept);
}

/// The most that an age of one second becomes.
const OLD: Duration = Duration::from_millis(1200);

fn old() -> Outcome {
    let server = Server::start(&[], &["--max-connection-age", "1"])?;
    let (mut client, mut slow) = (server.client()?, server.client()?);
    let first = client.post("/mutate", b"{}")?;
    assert!(first.status == 400 && !first.closes(), "{first:?}");
    // It gets old in the middle of a request, which is answered all the same.
    let head = "POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{";
    slow.stream.write_all(head.as_bytes()).and_then(|()| slow.stream.flush()).map_err(|e| e.to_string())?;
    std::thread::sleep(OLD);
    let answer = slow.send(b"", b"}")?;
    assert!(answer.status == 400 && answer.closes(), "{answer:?}");
    // Idle it stays, however old; its next answer is the last.
    until("one connection is left", || Ok(server.metric("fabric_admission_connections")? == 1.0))?;
    let last = client.post("/mutate", b"{}")?;
    assert!(last.status == 400 && last.closes(), "{last:?}");
    assert!(client.post("/mutate", b"{}").is_err(), "it is closed");
    let fresh = server.client()?.post("/mutate", b"{}")?;
    assert!(!fresh.closes(), "{fresh:?}");
    Ok(())
}

fn kept() -> Outcome {
    let server = Server::start(&[], &["--max-connection-age", "0"])?;
    let mut client: Client = server.client()?;
    for _ in 0..3 {
        assert!(!client.post("/mutate", b"{}")?.closes());
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
