//! File descriptors that are few: the server asks for more, and where it gets none it takes fewer connections.

use crate::support::server::{Client, Server, trusting};
use crate::support::server_in_process::connect_from;
use crate::support::suite::{Outcome, Suite};
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::a_low_limit_of_open_files_is_raised", || crowded("ulimit -Sn 256", 2560));
    suite.add("webhook::few_open_files_are_few_connections", || crowded("ulimit -n 200", 200));
}

/// More connections than there are descriptors, idle ones and unfinished ones, from three addresses.
fn crowded(said: &str, most: u64) -> Outcome {
    let server = Server::start_after(said, &[])?;
    let config = trusting(&server.scratch.path().join("tls/ca.crt"), rustls::DEFAULT_VERSIONS)?;
    let config = config.with_no_client_auth();
    let connect = |last| Client::over(connect_from(last, server.webhook)?, config.clone());
    let mut api_server = connect(2)?;
    assert_eq!(api_server.post("/mutate", b"{}")?.status, 400);
    let (mut idle, mut unfinished) = (Vec::new(), Vec::new());
    for last in [3, 4, 5] {
        for _ in 0..100 {
            unfinished.extend(connect_from(last, server.webhook));
        }
    }
    for last in [3, 4, 5] {
        for _ in 0..30 {
            // An address that has as many as it may is refused.
            idle.extend(connect(last));
        }
    }
    for path in ["/livez", "/readyz", "/metrics"] {
        let started = Instant::now();
        assert_eq!(server.admin(path)?.status, 200, "{path}");
        assert!(started.elapsed() < Duration::from_secs(2), "{path}: {:?}", started.elapsed());
    }
    assert_eq!(api_server.post("/mutate", b"{}")?.status, 400, "the connection that was there");
    assert_eq!(connect(2)?.post("/mutate", b"{}")?.status, 400, "another one of that address");
    assert_eq!(server.metric("fabric_admission_accept_errors_total")?, 0.0);
    assert_eq!(server.most_open_files().unwrap_or(most), most);
    Ok(())
}
