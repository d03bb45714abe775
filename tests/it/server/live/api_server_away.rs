//! The API server is away, or slow to begin.

use super::{Live, namespace, node, pod_of, pod_of_namespace, site, soon};
use crate::support::scripted_api_server::script::{Gone, RESOURCES};
use crate::support::server::review;
use crate::support::suite::{Outcome, Suite};
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::readiness_waits_for_the_first_lists", readiness);
    suite.add("live::readiness_waits_for_one_kind_that_fails", one_kind);
    suite.add("live::answers_go_on_while_the_server_is_away", away);
    suite.add("live::a_server_that_is_down_at_the_start_is_waited_for", down_at_start);
    suite.add("live::a_server_that_is_set_up_anew_is_followed", restored);
    suite.add("live::answers_report_old_facts", old_facts);
    suite.add("live::facts_cannot_be_old_between_two_watches", too_soon_old);
}

fn readiness() -> Outcome {
    let script = site()?;
    script.stall(true);
    let mut live = Live::begin(script, &[])?;
    soon("every kind is asked for", || {
        Ok(RESOURCES.iter().all(|(kind, _)| !live.script.asked(kind, false).is_empty()))
    })?;
    let ready = live.server.admin("/readyz")?;
    assert_eq!(ready.status, 503);
    for (kind, _) in RESOURCES {
        assert!(ready.body.contains(kind), "{kind} is not named: {}", ready.body);
    }
    assert_eq!(live.server.admin("/livez")?.status, 200);
    live.script.stall(false);
    live.ready()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.script.down();
    live.state("Node", "failing")?;
    assert_eq!(live.server.admin("/readyz")?.status, 200);
    Ok(live.end()?)
}

fn one_kind() -> Outcome {
    let script = site()?;
    script.refuse("ResourceSlice", Some(500));
    let live = Live::begin(script, &[])?;
    soon("one kind alone is waited for", || {
        let ready = live.server.admin("/readyz")?;
        let named = RESOURCES.iter().filter(|(kind, _)| ready.body.contains(kind)).count();
        Ok(ready.status == 503 && named == 1 && ready.body.contains("ResourceSlice"))
    })?;
    live.state("ResourceSlice", "failing")?;
    live.script.refuse("ResourceSlice", None);
    live.ready()?;
    live.state("ResourceSlice", "synced")?;
    // From here on it stays ready.
    live.script.refuse("ResourceSlice", Some(500));
    live.state("ResourceSlice", "failing")?;
    Ok(live.end()?)
}

fn away() -> Outcome {
    let mut live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    let contact = live.of_kind("last_contact_timestamp_seconds", "Node")?;
    live.script.down();
    live.state("Node", "failing")?;
    // What was known still counts, for every answer.
    for _ in 0..20 {
        assert_eq!(live.resources(&pod_of("p"))?, ["x.com/east"]);
    }
    assert_eq!(live.server.admin("/readyz")?.status, 200);
    assert_eq!(live.of_kind("objects", "Node")?, 3.0);
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.script.put("Namespace", namespace("training", Some("east")));
    live.script.up()?;
    live.gives(&pod_of("p"), "x.com/west")?;
    live.gives(&pod_of_namespace(), "x.com/east")?;
    live.state("Node", "synced")?;
    assert!(live.of_kind("last_contact_timestamp_seconds", "Node")? >= contact);
    Ok(live.end()?)
}

fn down_at_start() -> Outcome {
    let mut script = site()?;
    script.down();
    let mut live = Live::begin(script, &[])?;
    live.state("Node", "failing")?;
    let ready = live.server.admin("/readyz")?;
    assert_eq!(ready.status, 503);
    assert!(ready.body.contains("Node"), "{}", ready.body);
    live.script.up()?;
    live.ready()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    Ok(live.end()?)
}

/// The server comes back from a backup: other objects, and every revision before now is gone.
fn restored() -> Outcome {
    let mut live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    for round in 0..3 {
        live.script.down();
        live.script.delete("Node", "", "gpu-1");
        live.script.compact([Gone::Status, Gone::Event][round % 2]);
        live.script.up()?;
        live.gives_nothing(&pod_of("p"))?;
        soon("two nodes are left", || Ok(live.of_kind("objects", "Node")? == 2.0))?;
        live.settled()?;
        live.script.put("Node", node("gpu-1", "east", "p"));
        live.gives(&pod_of("p"), "x.com/east")?;
    }
    Ok(live.end()?)
}

/// A quiet kind is not outdated while its watches are renewed; without renewal it is.
fn old_facts() -> Outcome {
    let mut live = Live::begin(site()?, &["--watch-timeout", "1", "--stale-after", "3"])?;
    live.ready()?;
    live.settled()?;
    let old = |live: &Live| -> Result<bool, String> {
        let body = review("u", ("", "Pod"), "CREATE", &pod_of("p")).to_string();
        Ok(live.server.post("/mutate", body.as_bytes())?.json()?["response"]["warnings"]
            .to_string()
            .contains("FAB813"))
    };
    for _ in 0..50 {
        assert!(!old(&live)?, "facts are not old: {}", live.watching());
        std::thread::sleep(Duration::from_millis(100));
    }
    let age = |live: &Live| live.metric("fabric_admission_facts_age_seconds{kind=\"Node\"}");
    assert!(age(&live)? < 3.0, "{}", age(&live)?);
    live.script.down();
    live.gives(&pod_of("p"), "x.com/east")?;
    assert!(!old(&live)?, "at once");
    soon("answers say that facts are old", || old(&live))?;
    assert!(age(&live)? > 2.0, "{}", age(&live)?);
    live.gives(&pod_of("p"), "x.com/east")?;
    live.script.up()?;
    soon("answers say it no longer", || Ok(!old(&live)?))?;
    assert!(age(&live)? < 3.0, "{}", age(&live)?);
    Ok(live.end()?)
}

fn too_soon_old() -> Outcome {
    let script = site()?;
    let scratch = crate::support::Scratch::new()?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    crate::support::server::certificate(scratch.path())?;
    let args = ["serve", "--tls-cert", "tls.crt", "--tls-key", "tls.key", "--kubeconfig", "kubeconfig"];
    let ran = crate::support::run(&[&args[..], &["--stale-after", "60"]].concat(), b"", scratch.path())?;
    assert!(ran.code == 2 && ran.stderr.contains("--watch-timeout 120"), "{} {}", ran.code, ran.stderr);
    assert!(ran.stderr.contains("at least 240"), "{}", ran.stderr);
    assert!(script.requests().is_empty(), "before anything is asked");
    Ok(())
}
