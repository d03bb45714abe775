//! A stderr that nobody reads: its pipe fills up, and a write to it never returns.

use crate::support::server::Server;
use crate::support::suite::{Outcome, Suite};
use std::time::Duration;

const DROPPED: &str = "fabric_admission_log_lines_dropped_total";
/// Most requests until lines are dropped; each logs a warning of more than 100 bytes, and 1 MiB of them may wait.
const MOST: usize = 20_000;

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::a_log_that_nobody_reads_holds_up_no_request", unread);
}

fn unread() -> Outcome {
    let (mut server, _log) = Server::unread(&["--lame-duck", "0", "--drain", "1"])?;
    let mut client = server.client()?;
    assert_eq!(server.metric(DROPPED)?, 0.0);
    let mut asked = 0;
    while server.metric(DROPPED)? == 0.0 {
        assert!(asked < MOST, "no line was dropped after {asked} requests");
        // A request that waits for the log fails by the time limit of the client.
        for _ in 0..100 {
            assert_eq!(client.post("/mutate", b"{}")?.status, 400);
        }
        asked += 100;
    }
    assert_eq!(server.admin("/livez")?.status, 200);
    drop(client);
    server.signal("-TERM")?;
    assert_eq!(server.wait(Duration::from_secs(10))?, 0);
    Ok(())
}
