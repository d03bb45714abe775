//! How long a decision works between two looks at its deadline, for every shape that was made up: so long it works at most
//! once nobody waits for it any more.

use super::{beside_known_objects, costly_products, given, now};
use crate::support::suite::Outcome;
use fabric_admission::decision_limits::DecisionLimits;
use fabric_admission::review::decide_webhook_request::{
    SnapshotForAudience, WebhookEntry, decide_body_within_deadline,
};
use fabric_admission::snapshot::Audience;
use std::sync::Mutex;
use std::time::Duration;

/// The longest CPU time between two looks, of a debug build, which is about ten times slower. Reading one level of a body of
/// some 100 KiB, and one rule on one pod, is a single step. Such a step took 72 ms on an idle machine, and 112 ms where
/// other tests used the caches of both cores; without looks, the worst shapes take 800 ms.
const MOST: Duration = Duration::from_millis(200);
/// What a shape is measured at, as the larger of [`super::beside_known_objects`].
const SIZE: usize = 800;

pub(super) fn asked_often() -> Outcome {
    let only: Option<String> = given("FABRIC_ADMISSION_COST_ONLY");
    let mut found: Vec<(Duration, String)> = Vec::new();
    let mut add = |what: &str, entry, body: &[u8], known: SnapshotForAudience<'_>| {
        if only.as_ref().is_none_or(|part| what.contains(part)) {
            let (longest, all) = (0..3).map(|_| longest(body, entry, known)).min().unwrap_or_default();
            found.push((longest, format!("{longest:.1?} of {all:.1?} for {} bytes: {what}", body.len())));
        }
    };
    for ((what, make), audience) in beside_known_objects::all() {
        let (object, objects) = make(SIZE);
        let (entry, body) = beside_known_objects::request(object);
        add(
            what,
            entry,
            &body,
            SnapshotForAudience { snapshot: &beside_known_objects::snapshot(&objects), audience },
        );
    }
    let snapshot = costly_products::snapshot()?;
    for (group, kind, what, make) in costly_products::SHAPES {
        let known = SnapshotForAudience { snapshot: &snapshot, audience: Audience::Anyone };
        add(
            what,
            costly_products::entry(group, kind),
            &costly_products::body(group, kind, make(SIZE)),
            known,
        );
    }
    found.sort_by_key(|(longest, _)| std::cmp::Reverse(*longest));
    if std::env::var_os("FABRIC_ADMISSION_COST_TABLE").is_some() {
        found.iter().for_each(|(_, line)| eprintln!("{line}"));
    }
    let wrong: Vec<&str> = found.iter().filter(|(l, _)| *l > MOST).map(|(_, line)| line.as_str()).collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("longer than {MOST:?} without a look at the deadline:\n{}", wrong.join("\n")).into())
    }
}

/// The longest time between two looks at the deadline, and the time of the decision.
fn longest(body: &[u8], entry: WebhookEntry, known: SnapshotForAudience<'_>) -> (Duration, Duration) {
    let started = now();
    let looked = Mutex::new((started, Duration::ZERO));
    let over = || {
        let (mut looked, now) = (looked.lock().unwrap(), now());
        *looked = (now, looked.1.max(now - looked.0));
        false
    };
    drop(decide_body_within_deadline(body, entry, known, &DecisionLimits::ends_when(&over)));
    over();
    let longest = looked.lock().unwrap().1;
    (longest, now() - started)
}
