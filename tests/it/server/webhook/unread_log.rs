//! A stderr that nobody reads: its pipe fills up, and a write to it never returns. And a client that causes one line after
//! another.

use crate::support::server::Server;
use crate::support::suite::{Outcome, Suite};
use std::io::{BufRead, Write};
use std::net::TcpStream;
use std::time::Duration;

const DROPPED: &str = "fabric_admission_log_lines_dropped_total";
const LEFT_OUT: &str = "fabric_admission_log_lines_left_out_total";
/// Most handshakes until lines are dropped; each logs a line of more than 100 bytes, and 1 MiB of them may wait.
const MOST: usize = 20_000;

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::a_log_that_nobody_reads_holds_up_no_request", unread);
    suite.add("webhook::log_lines_of_one_kind_are_limited", limited);
}

fn unread() -> Outcome {
    // Lines of this level have no limit.
    let debug = [("FABRIC_ADMISSION_LOG", "debug")];
    let (mut server, _log) = Server::unread(&["--lame-duck", "0", "--drain", "1"], &debug)?;
    let mut client = server.client()?;
    assert_eq!(server.metric(DROPPED)?, 0.0);
    let mut asked = 0;
    while server.metric(DROPPED)? == 0.0 {
        assert!(asked < MOST, "no line was dropped after {asked} handshakes");
        for _ in 0..100 {
            let mut stream = TcpStream::connect(server.webhook).map_err(|e| e.to_string())?;
            let _ = stream.write_all(b"not TLS");
        }
        asked += 100;
        // A request that waits for the log fails by the time limit of the client.
        assert_eq!(client.post("/mutate", b"{}")?.status, 400);
    }
    assert_eq!(server.admin("/livez")?.status, 200);
    drop(client);
    server.signal("-TERM")?;
    assert_eq!(server.wait(Duration::from_secs(10))?, 0);
    Ok(())
}

/// A client that sends bad requests as fast as it can, and a server that stops: the lines of the one do not bury the
/// other, and those that are missing are reported.
fn limited() -> Outcome {
    const REQUESTS: usize = 2_000;
    let (mut server, log) = Server::unread(&["--lame-duck", "0", "--drain", "0"], &[])?;
    let lines = std::thread::spawn(move || log.lines().map_while(Result::ok).collect::<Vec<_>>());
    let mut client = server.client()?;
    for _ in 0..REQUESTS {
        assert_eq!(client.post("/mutate", b"{}")?.status, 400);
    }
    let left_out = server.metric(LEFT_OUT)?;
    drop(client);
    server.signal("-TERM")?;
    server.wait(Duration::from_secs(20))?;
    let lines = lines.join().map_err(|_| "the log cannot be read")?;
    let having = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    let written = having("refused a request: its body is not a valid AdmissionReview");
    assert!((100..REQUESTS).contains(&written), "{written} lines");
    assert_eq!(written as f64 + left_out, REQUESTS as f64);
    assert!(having("log lines left out") >= 1, "{:?}", lines.last());
    assert!(having("stopped") >= 1, "{:?}", lines.last());
    Ok(())
}
