//! Three replicas start at once, again and again: one CA, and no failed call once one of them is ready.

use super::super::support::plane::Plane;
use super::load::{failed_calls, under_load};
use super::number;
use super::site::{QUICK, Site, metric, readyz};
use crate::support::server::Server;
use crate::support::suite::Outcome;
use std::time::{Duration, Instant};

/// Replicas that start at the same time.
pub(super) fn together(site: &Site<'_>, args: &[&str]) -> Result<Vec<Server>, String> {
    std::thread::scope(|scope| {
        let starting: Vec<_> = (0..3).map(|_| scope.spawn(|| site.replica(args))).collect();
        starting.into_iter().map(|s| s.join().map_err(|_| "a thread panicked".to_owned())?).collect()
    })
}

pub(super) fn starts(plane: &Plane) -> Outcome {
    let rounds = number("FABRIC_ADMISSION_CERTIFICATE_STARTS", 20);
    let site = Site::new(plane)?;
    let (mut calls, mut slowest) = (0, Duration::ZERO);
    let before = failed_calls(plane)?;
    for round in 0..rounds {
        site.clear()?;
        site.install()?;
        let start = Instant::now();
        let servers = together(&site, &QUICK)?;
        site.front.set(&servers.iter().collect::<Vec<_>>());
        plane.until("one is ready", Duration::from_secs(20), || {
            Ok(servers.iter().any(|s| readyz(s.admin).is_ok_and(|(status, _)| status == 200)))
        })?;
        slowest = slowest.max(start.elapsed());
        site.front.set(&servers.iter().collect::<Vec<_>>());
        let ((), load) = under_load(&site, 50, || {
            servers.iter().try_for_each(|server| site.ready(server).map(drop))?;
            std::thread::sleep(Duration::from_millis(300));
            Ok(())
        })?;
        load.clean(&format!("round {round}"))?;
        calls += load.calls;
        let made = |server: &Server| metric(server, "cert_rotations_total{kind=\"ca\",reason=\"create\"}");
        let made: i64 = servers.iter().map(made).sum::<Result<i64, String>>()?;
        let secret = site.secret()?;
        let generation = &secret["metadata"]["annotations"]["fabric-admission.dev/generation"];
        assert_eq!((made, generation.as_str()), (1, Some("1")), "round {round}: {secret}");
        let data = secret["data"].as_object().map(|data| data.keys().cloned().collect::<Vec<_>>());
        assert_eq!(data, Some(vec!["current.crt".to_owned(), "current.key".to_owned()]), "round {round}");
    }
    assert_eq!(failed_calls(plane)?, before);
    eprintln!(
        "{rounds} starts of three: one CA each; the first ready after {slowest:?} at most; {calls} creates, none failed"
    );
    Ok(())
}
