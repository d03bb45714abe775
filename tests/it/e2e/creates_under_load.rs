//! Many creates through the API server: not one error.

use super::support::plane::{Plane, TOKEN};
use super::support::site::{PROFILE_LABEL, Site, training_pod};
use super::trial;
use crate::support::server::Client;
use crate::support::suite::{Outcome, Suite};
use std::net::SocketAddr;
use std::path::Path;

/// Creates, and connections they go over.
const CREATES: usize = 2000;
const CONNECTIONS: usize = 8;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "two_thousand_dry_run_creates_without_an_error", load);
}

fn load(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let address = SocketAddr::from(([127, 0, 0, 1], plane.port));
    let ca = plane.ca();
    let body = training_pod("load").to_string();
    let outcomes: Vec<Result<usize, String>> = std::thread::scope(|scope| {
        let worker = || -> Result<usize, String> {
            let mut client = Client::connect(address, &ca)?;
            let head = format!(
                "POST /api/v1/namespaces/{namespace}/pods?dryRun=All HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
                 Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            for nth in 0..CREATES / CONNECTIONS {
                let answer = client.send(head.as_bytes(), body.as_bytes())?;
                if answer.status != 201 || !answer.body.contains("rail7") {
                    return Err(format!("create {nth}: {} {}", answer.status, answer.body));
                }
            }
            Ok(CREATES / CONNECTIONS)
        };
        let workers: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|w| w.join().unwrap_or_else(|_| Err("a worker panicked".into()))).collect()
    });
    let done: usize = outcomes.into_iter().sum::<Result<usize, String>>()?;
    assert_eq!(done, CREATES);
    // The API server may call once more for one that it retries.
    assert!(site.requests("mutate")? >= CREATES as u64);
    Ok(())
}
