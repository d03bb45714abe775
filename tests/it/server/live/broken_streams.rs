//! Streams that end, are silent or bring bytes that are not a line, and a server that answers with errors.

use super::{Live, node, pod_of, site, soon, within};
use crate::support::scripted_api_server::script::How;
use crate::support::suite::{Outcome, Suite};
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    for (name, how) in [
        ("cleanly", How::Clean),
        ("between_lines", How::Closed),
        ("within_a_line", How::MidLine),
        ("within_a_chunk", How::MidChunk),
    ] {
        suite.add(format!("live::streams_that_end_{name}_are_resumed"), move || dropped(how));
    }
    suite.add("live::broken_lines_do_no_harm", broken_lines);
    suite.add("live::a_line_without_an_end_is_given_up", endless);
    suite.add("live::errors_of_the_server_are_waited_out", errors);
    suite.add("live::a_silent_stream_is_given_up", silent);
    suite.add("live::fifty_drops_leave_nothing_behind", fifty);
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

/// Seventeen mebibytes are more than any object has; they are not waited for to end, and not kept.
fn endless() -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    let watches = live.script.asked("Node", true).len();
    live.script.line("Node", &"x".repeat(17 << 20));
    soon("the stream is given up", || Ok(live.script.asked("Node", true).len() > watches))?;
    live.settled()?;
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.gives(&pod_of("p"), "x.com/west")?;
    assert_eq!(live.of_kind("lists_total", "Node")?, 1.0, "the stream is resumed, not the list");
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
