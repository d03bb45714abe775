//! Lists: their pages, and lists that grow too old, stall or are never good.

use super::{Live, node, pod_naming, pod_of, site, soon, within};
use crate::support::scripted_api_server::script::{Gone, How};
use crate::support::suite::{Outcome, Suite};
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::lists_come_in_pages", pages);
    suite.add("live::a_list_that_expires_between_pages_begins_anew", expired_pages);
    suite.add("live::pages_that_always_expire_are_not_asked_for_without_a_pause", always_expired);
    suite.add("live::readiness_does_not_wait_for_a_list_that_is_always_gone", gone_lists);
    suite.add("live::large_objects_come_in_smaller_pages", large_objects);
    suite.add("live::a_few_large_objects_do_not_make_all_pages_short", few_large_objects);
    suite.add("live::a_list_that_stalls_is_given_up", stalled);
    for (name, gone) in [("status", Gone::Status), ("event", Gone::Event)] {
        suite.add(format!("live::a_server_that_is_always_gone_is_not_flooded::{name}"), move || {
            always_gone(gone)
        });
    }
}

fn pages() -> Outcome {
    let script = site()?;
    for n in 0..1201 {
        script.put("Node", node(&format!("cpu-{n}"), "none", "cpu"));
    }
    let live = Live::start(script)?;
    live.gives(&pod_of("p"), "x.com/east")?;
    assert_eq!(live.of_kind("objects", "Node")?, 1204.0);
    let asked = live.script.asked("Node", false);
    let tokens: Vec<&str> = asked.iter().map(|r| r.parameter("continue")).collect();
    // Nodes are large: a hundred a page.
    assert_eq!(tokens.len(), 13, "{tokens:?}");
    assert!(
        tokens[0].is_empty() && tokens[1].ends_with("/1104==") && tokens[12].ends_with("/4=="),
        "{tokens:?}"
    );
    Ok(live.end()?)
}

fn expired_pages() -> Outcome {
    let script = site()?;
    for n in 0..9 {
        script.put("Node", node(&format!("cpu-{n}"), "none", "cpu"));
    }
    script.page(2);
    script.expire_pages(3);
    let live = Live::start(script)?;
    // Three lists that ended after their first page, and one of six pages.
    let asked = live.script.asked("Node", false);
    let first = asked.iter().filter(|r| r.parameter("continue").is_empty()).count();
    assert_eq!((first, asked.len()), (4, 12));
    live.gives(&pod_of("p"), "x.com/east")?;
    assert_eq!(live.of_kind("objects", "Node")?, 12.0);
    live.state("Node", "synced")?;
    Ok(live.end()?)
}

/// 40 nodes of a mebibyte: too much for a page of 100.
fn large_objects() -> Outcome {
    let script = site()?;
    for n in 0..40 {
        let mut large = node(&format!("large-{n}"), "none", "large");
        large["metadata"]["annotations"] = serde_json::json!({"pad": "x".repeat(1 << 20)});
        script.put("Node", large);
    }
    let live = Live::begin(script, &[])?;
    within(Duration::from_secs(60), "ready", || Ok(live.server.admin("/readyz")?.status == 200))?;
    assert_eq!(live.of_kind("objects", "Node")?, 43.0);
    let asked = live.script.asked("Node", false);
    let limits: Vec<&str> = asked.iter().map(|r| r.parameter("limit")).collect();
    assert!(
        limits.starts_with(&["100", "25", "6"]),
        "two pages that were too large, and then parts: {limits:?}"
    );
    assert!(limits.len() <= 12, "{limits:?}");
    live.gives(&pod_of("p"), "x.com/east")?;
    Ok(live.end()?)
}

/// Three nodes of eight mebibytes beside each other, and 400 small ones behind them.
fn few_large_objects() -> Outcome {
    let script = site()?;
    for n in 0..3 {
        let mut large = node(&format!("a-large-{n}"), "none", "large");
        large["metadata"]["annotations"] = serde_json::json!({"pad": "x".repeat(8 << 20)});
        script.put("Node", large);
    }
    for n in 0..400 {
        script.put("Node", node(&format!("b-small-{n}"), "none", "cpu"));
    }
    let live = Live::begin(script, &[])?;
    within(Duration::from_secs(60), "ready", || Ok(live.server.admin("/readyz")?.status == 200))?;
    assert_eq!(live.of_kind("objects", "Node")?, 406.0);
    let asked = live.script.asked("Node", false);
    let limits: Vec<&str> = asked.iter().map(|r| r.parameter("limit")).collect();
    assert!(limits.contains(&"1") && limits.len() <= 25, "{limits:?}");
    Ok(live.end()?)
}

/// A list that takes longer than its past is kept can never end; the API server must not be kept busy with it.
fn always_expired() -> Outcome {
    let script = site()?;
    script.page(2);
    script.expire_pages(usize::MAX);
    let live = Live::begin(script, &[])?;
    live.state("Node", "failing")?;
    let before = live.script.asked("Node", false).len();
    std::thread::sleep(Duration::from_secs(2));
    let more = live.script.asked("Node", false).len() - before;
    // Two pages a list, ten lists by --watch-retry, and some room.
    assert!((2..=30).contains(&more), "{more} pages in two seconds");
    // Nodes are what decisions stand on: nothing is said before they are known.
    let ready = live.server.admin("/readyz")?;
    assert!(ready.status == 503 && ready.body.contains("Node"), "{} {}", ready.status, ready.body);
    live.script.expire_pages(0);
    live.ready()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.state("Node", "synced")?;
    Ok(live.end()?)
}

/// An aggregated API server may answer so for one kind of its own. Decisions do not stand on it.
fn gone_lists() -> Outcome {
    let script = site()?;
    script.refuse("ResourceSlice", Some(410));
    let live = Live::start(script)?;
    live.state("ResourceSlice", "failing")?;
    live.gives(&pod_of("p"), "x.com/east")?;
    let before = live.script.asked("ResourceSlice", false).len();
    std::thread::sleep(Duration::from_secs(2));
    let more = live.script.asked("ResourceSlice", false).len() - before;
    assert!((1..=15).contains(&more), "{more} lists in two seconds");
    live.script.refuse("ResourceSlice", None);
    live.state("ResourceSlice", "synced")?;
    Ok(live.end()?)
}

/// Nothing but our own deadline of half a minute ends such a list.
fn stalled() -> Outcome {
    let script = site()?;
    script.halt("Node", true);
    script.halt("NetworkAttachmentDefinition", true);
    let live = Live::begin(script, &[])?;
    soon("both are asked for", || {
        let asked = |kind| !live.script.asked(kind, false).is_empty();
        Ok(asked("Node") && asked("NetworkAttachmentDefinition"))
    })?;
    live.script.halt("Node", false);
    live.script.halt("NetworkAttachmentDefinition", false);
    assert_eq!(live.server.admin("/readyz")?.status, 503);
    within(Duration::from_secs(45), "the lists are asked for again", || {
        Ok(live.server.admin("/readyz")?.status == 200)
    })?;
    assert_eq!(live.script.asked("Node", false).len(), 2);
    live.gives(&pod_of("p"), "x.com/east")?;
    live.gives(&pod_naming("west"), "x.com/west")?;
    live.settled()?;
    Ok(live.end()?)
}

/// An API server to which every revision is too old must not be asked for whole lists without a pause.
fn always_gone(gone: Gone) -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.script.always_gone(gone);
    live.script.drop_streams(How::Clean);
    soon("it lists again", || Ok(live.script.asked("Node", false).len() > 1))?;
    let before = live.script.asked("Node", false).len();
    std::thread::sleep(Duration::from_secs(2));
    let more = live.script.asked("Node", false).len() - before;
    // Ten by --watch-retry, and some room.
    assert!((1..=15).contains(&more), "{more} lists in two seconds");
    live.gives(&pod_of("p"), "x.com/east")?;
    live.script.compact(gone);
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.gives(&pod_of("p"), "x.com/west")?;
    live.settled()?;
    Ok(live.end()?)
}
