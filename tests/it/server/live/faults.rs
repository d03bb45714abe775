//! What goes wrong between the API server and us, one fault a test; the answers must come right.

use super::http::NOT_UTF8;
use super::script::{Gone, How};
use super::{Live, network, node, pod_naming, pod_of, profile, site, soon, within};
use crate::support::suite::{Outcome, Suite};
use serde_json::json;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::lists_come_in_pages", pages);
    for (name, how) in [
        ("cleanly", How::Clean),
        ("between_lines", How::Closed),
        ("within_a_line", How::MidLine),
        ("within_a_chunk", How::MidChunk),
    ] {
        suite.add(format!("live::streams_that_end_{name}_are_resumed"), move || dropped(how));
    }
    for (name, gone) in [("status", Gone::Status), ("event", Gone::Event)] {
        suite.add(format!("live::gone_as_{name}_lists_again_and_forgets_what_is_deleted"), move || {
            relist(gone)
        });
    }
    suite.add("live::bookmarks_move_the_place_to_resume_at", bookmarks);
    suite.add("live::objects_that_cannot_be_read_are_skipped", malformed);
    suite.add("live::bytes_that_are_not_utf8_hide_no_object", not_utf8);
    suite.add("live::a_changed_object_that_cannot_be_read_is_skipped", turned_malformed);
    suite.add("live::broken_lines_do_no_harm", broken_lines);
    suite.add("live::an_object_of_two_mebibytes_is_read", large);
    suite.add("live::errors_of_the_server_are_waited_out", errors);
    suite.add("live::a_silent_stream_is_given_up", silent);
    suite.add("live::fifty_drops_leave_nothing_behind", fifty);
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

fn dropped(how: How) -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    let lists = live.of_kind("lists_total", "Node")?;
    let watches = live.script.asked("Node", true).len();
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.gives(&pod_of("p"), "x.com/west")?;
    live.script.drop_streams(how);
    live.script.put("Node", node("gpu-1", "east", "p"));
    live.gives(&pod_of("p"), "x.com/east")?;
    live.settled()?;
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.gives(&pod_of("p"), "x.com/west")?;
    assert!(live.script.asked("Node", true).len() > watches, "no stream was resumed");
    assert_eq!(live.of_kind("lists_total", "Node")?, lists, "a dropped stream does not cause a list");
    Ok(live.end()?)
}

fn relist(gone: Gone) -> Outcome {
    let mut live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    let lists = live.of_kind("lists_total", "Node")?;
    // What happens while the server is away is not in any stream afterwards.
    live.script.down();
    live.script.delete("Node", "", "gpu-1");
    live.script.put("Node", node("gpu-2", "west", "p"));
    live.script.delete("NetworkAttachmentDefinition", "fabric", "east");
    live.script.compact(gone);
    live.script.up()?;
    live.gives(&pod_of("p"), "x.com/west")?;
    live.gives_nothing(&pod_naming("east"))?;
    soon("the deleted node is forgotten", || Ok(live.of_kind("objects", "Node")? == 3.0))?;
    assert!(live.of_kind("lists_total", "Node")? > lists);
    live.state("Node", "synced")?;
    // And the streams after the new list are good ones.
    live.settled()?;
    live.script.put("Node", node("gpu-2", "east", "p"));
    live.script.put("NetworkAttachmentDefinition", network("east"));
    live.gives(&pod_of("p"), "x.com/east")?;
    Ok(live.end()?)
}

fn bookmarks() -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    let lists = live.of_kind("lists_total", "Node")?;
    let before = live.script.asked("Node", true).len();
    live.script.compact(Gone::Status);
    let marked = live.script.bookmark();
    // Something that is seen after the bookmark on its stream.
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.gives(&pod_of("p"), "x.com/west")?;
    live.script.drop_streams(How::Clean);
    live.script.put("Namespace", super::namespace("training", Some("east")));
    live.gives(&super::pod_of_namespace(), "x.com/east")?;
    soon("every kind is resumed", || {
        let resumed = |kind: &&(&str, &str)| {
            let asked = live.script.asked(kind.0, true);
            let last = asked.last().and_then(|r| r.parameter("resourceVersion").parse::<u64>().ok());
            last.is_some_and(|revision| revision >= marked)
        };
        Ok(super::script::RESOURCES.iter().filter(resumed).count() == super::script::RESOURCES.len())
    })?;
    assert!(live.script.asked("Node", true).len() > before);
    // Quiet kinds had nothing since their list but the bookmark: without it they would have to list again.
    assert_eq!(live.of_kind("lists_total", "Node")?, lists);
    assert_eq!(live.of_kind("lists_total", "SriovNetwork")?, 1.0);
    Ok(live.end()?)
}

fn malformed() -> Outcome {
    let script = site()?;
    script.put("Node", json!({"metadata": {"name": "bad", "labels": 3}}));
    let live = Live::start(script)?;
    live.gives(&pod_of("p"), "x.com/east")?;
    let listed = live.of_kind("malformed_total", "Node")?;
    assert!(listed >= 1.0, "not counted");
    live.settled()?;
    live.script.put("Node", json!({"metadata": {"name": "worse", "labels": ["a"]}}));
    live.script.put("NetworkAttachmentDefinition", json!({"metadata": {"namespace": "fabric", "name": []}}));
    live.script.put("FabricProfile", json!({"metadata": {"name": "bad"}, "spec": {"rails": 8}}));
    live.script.put("Namespace", json!({"metadata": {"name": "bad", "labels": "no"}}));
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.gives(&pod_of("p"), "x.com/west")?;
    for (kind, least) in [
        ("Node", listed + 1.0),
        ("NetworkAttachmentDefinition", 1.0),
        ("FabricProfile", 1.0),
        ("Namespace", 1.0),
    ] {
        soon(&format!("a {kind} is counted"), || Ok(live.of_kind("malformed_total", kind)? >= least))?;
    }
    live.script.put("FabricProfile", profile("west", "x.com/east"));
    live.gives(&pod_of("p"), "x.com/east")?;
    // What has no name that can be read is not an object of the metrics.
    assert_eq!(live.of_kind("objects", "NetworkAttachmentDefinition")?, 2.0);
    // Deleting what could not be read is nothing special.
    live.script.delete("Node", "", "bad");
    live.script.delete("FabricProfile", "", "bad");
    live.script.put("Node", node("gpu-1", "east", "p"));
    live.script.put("FabricProfile", profile("east", "x.com/west"));
    live.gives(&pod_of("p"), "x.com/west")?;
    Ok(live.end()?)
}

/// A tenant can write such bytes into claims, and a kubelet into its Node. They must not stop the facts of a kind.
fn not_utf8() -> Outcome {
    let managed = |manager: &str| json!([{"manager": manager, "fieldsV1": {format!("f:{NOT_UTF8}"): {}}}]);
    let script = site()?;
    let mut listed = node("gpu-0", "west", "q");
    listed["metadata"]["managedFields"] = managed("kubelet");
    script.put("Node", listed);
    let live = Live::start(script)?;
    live.settled()?;
    live.gives(&pod_of("q"), "x.com/west")?;
    let lists = live.of_kind("lists_total", "Node")?;
    let mut changed = node("gpu-1", "west", "p");
    changed["metadata"]["managedFields"] = managed("kubelet");
    live.script.put("Node", changed);
    live.gives(&pod_of("p"), "x.com/west")?;
    assert_eq!(live.of_kind("lists_total", "Node")?, lists, "the watch goes on");
    assert_eq!(live.of_kind("malformed_total", "Node")?, 0.0);
    Ok(live.end()?)
}

/// The API server keeps profiles well formed, but an older or newer schema may not: the last good one stays.
fn turned_malformed() -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.script.put("FabricProfile", json!({"metadata": {"name": "east"}, "spec": {"rails": 8}}));
    soon("it is counted", || Ok(live.of_kind("malformed_total", "FabricProfile")? >= 1.0))?;
    live.script.put("Node", node("gpu-2", "west", "q"));
    live.gives(&pod_of("q"), "x.com/west")?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.script.put("FabricProfile", profile("east", "x.com/west"));
    live.gives(&pod_of("p"), "x.com/west")?;
    Ok(live.end()?)
}

fn broken_lines() -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    for line in [
        "no JSON at all",
        "{\"type\":\"ADDED\"",
        "{\"type\":\"SURPRISE\",\"object\":{}}",
        "{\"type\":\"ADDED\",\"object\":7}",
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500,\"status\":\"Failure\",\"message\":\"x\"}}",
        "null",
        "",
        "\u{0}\u{1}",
    ] {
        let line_is = |e: String| format!("after {line:?}: {e}");
        live.settled()?;
        live.script.line("Node", line);
        for fabric in ["west", "east"] {
            live.script.put("Node", node("gpu-1", fabric, "p"));
            live.gives(&pod_of("p"), &format!("x.com/{fabric}")).map_err(line_is)?;
        }
    }
    // What was on such a line is not lost.
    live.settled()?;
    live.script.put_unheard("Node", node("gpu-1", "west", "p"));
    live.gives(&pod_of("p"), "x.com/west")?;
    Ok(live.end()?)
}

fn large() -> Outcome {
    let big = |name: &str, fabric: &str| {
        let mut object = node(name, fabric, "p");
        object["metadata"]["annotations"] = json!({"blob": "x".repeat(2 << 20)});
        object
    };
    let script = site()?;
    script.put("Node", big("gpu-1", "east"));
    let live = Live::start(script)?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.settled()?;
    live.script.put("Node", big("gpu-1", "west"));
    live.gives(&pod_of("p"), "x.com/west")?;
    assert_eq!(live.of_kind("malformed_total", "Node")?, 0.0);
    assert_eq!(live.of_kind("lists_total", "Node")?, 1.0, "it is read from the stream");
    Ok(live.end()?)
}

fn errors() -> Outcome {
    for code in [500, 503, 429] {
        let script = site()?;
        script.fail(code, 40);
        let live = Live::begin(script, &[])?;
        within(Duration::from_secs(20), "the failures end", || Ok(live.script.failures_left() == 0))
            .map_err(|e| format!("{code}: {e}: {}", live.script.failures_left()))?;
        live.ready().map_err(|e| format!("{code}: {e}"))?;
        live.gives(&pod_of("p"), "x.com/east")?;
        // The same of a watch.
        live.settled()?;
        live.script.fail(code, 40);
        live.script.drop_streams(How::Clean);
        live.script.put("Node", node("gpu-1", "west", "p"));
        live.gives(&pod_of("p"), "x.com/west").map_err(|e| format!("{code}: {e}"))?;
        // An error proves nothing about existing objects.
        live.settled()?;
        for kind in ["Node", "FabricProfile", "NetworkAttachmentDefinition"] {
            live.script.refuse(kind, Some(code));
        }
        for _ in 0..75 {
            assert_eq!(live.resources(&pod_of("p"))?, ["x.com/west"], "{code}");
            std::thread::sleep(Duration::from_millis(20));
        }
        for kind in ["Node", "FabricProfile", "NetworkAttachmentDefinition"] {
            live.script.refuse(kind, None);
        }
        live.script.put("Node", node("gpu-1", "east", "p"));
        live.gives(&pod_of("p"), "x.com/east").map_err(|e| format!("{code}: {e}"))?;
        assert_eq!(
            live.script.asked("Node", false).iter().filter(|r| !r.parameter("continue").is_empty()).count(),
            0
        );
        live.end()?;
    }
    Ok(())
}

fn silent() -> Outcome {
    let live = Live::begin(site()?, &["--watch-timeout", "1"])?;
    live.ready()?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.script.freeze_streams();
    live.script.put("Node", node("gpu-1", "west", "p"));
    within(Duration::from_secs(40), "the silent stream is given up", || {
        Ok(live.resources(&pod_of("p"))? == ["x.com/west"])
    })?;
    assert_eq!(live.of_kind("lists_total", "Node")?, 1.0, "the stream is resumed, not the list");
    Ok(live.end()?)
}

fn fifty() -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    let baseline = live.script.connections();
    let (threads, files) = live.server.belongings().unwrap_or_default();
    for n in 0..50 {
        live.script.drop_streams([How::Clean, How::Closed, How::MidLine, How::MidChunk][n % 4]);
        let fabric = ["west", "east"][n % 2];
        live.script.put("Node", node("gpu-1", fabric, "p"));
        live.gives(&pod_of("p"), &format!("x.com/{fabric}")).map_err(|e| format!("drop {n}: {e}"))?;
        live.settled().map_err(|e| format!("drop {n}: {e}"))?;
    }
    // A connection that lay idle in the baseline may be gone.
    within(Duration::from_secs(20), "connections", || Ok(live.script.connections() <= baseline))
        .map_err(|e| format!("{e}: {} and {baseline} in the beginning", live.script.connections()))?;
    // Each runtime keeps a thread for what blocks (files, Snapshots) while that comes again within ten seconds; and two
    // files for what the last questions left open.
    within(Duration::from_secs(20), "threads and open files", || {
        Ok(live.server.belongings().is_none_or(|(t, f)| t <= threads + 2 && f <= files + 2))
    })
    .map_err(|e| {
        format!("{e}: {:?} and {:?} in the beginning", live.server.belongings(), (threads, files))
    })?;
    Ok(live.end()?)
}
