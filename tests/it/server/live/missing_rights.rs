//! Rights that are missing, go and come back; tokens that end; servers that are not the one we know.

use super::{Live, namespace, node, pod_naming, pod_of, pod_of_namespace, profile, site, soon};
use crate::support::Scratch;
use crate::support::scripted_api_server::script::RESOURCES;
use crate::support::server::{Server, certificate};
use crate::support::suite::{Outcome, Suite};
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::a_right_that_was_never_given_keeps_one_kind_unknown", never_given);
    suite.add("live::a_right_that_is_taken_away_leaves_what_was_known", taken_away);
    suite.add("live::a_token_that_ends_is_waited_out", token);
    suite.add("live::a_server_without_tls_is_not_trusted", no_tls);
}

fn never_given() -> Outcome {
    let script = site()?;
    script.put("FabricProfile", profile("north", "x.com/other"));
    script.refuse("NetworkAttachmentDefinition", Some(403));
    script.refuse("ResourceSlice", Some(403));
    let live = Live::start(script)?;
    live.state("NetworkAttachmentDefinition", "forbidden")?;
    live.state("ResourceSlice", "forbidden")?;
    live.state("Node", "synced")?;
    live.gives(&pod_of("p"), "x.com/east")?;
    // Whether its network exists is not known, so it is not missing.
    live.gives(&pod_naming("north"), "x.com/other")?;
    Ok(live.end()?)
}

fn taken_away() -> Outcome {
    let script = site()?;
    script.put("FabricProfile", profile("north", "x.com/other"));
    let live = Live::start(script)?;
    live.settled()?;
    let networks = "NetworkAttachmentDefinition";
    for round in 0..2 {
        live.gives(&pod_of("p"), "x.com/east")?;
        live.gives_nothing(&pod_naming("north"))
            .map_err(|e| format!("round {round}: its network is missing: {e}"))?;
        for kind in [networks, "Node", "Namespace"] {
            live.script.refuse(kind, Some(403));
            live.state(kind, "forbidden")?;
        }
        // What was known stays; what was not known may exist by now.
        live.gives(&pod_of("p"), "x.com/east")?;
        live.gives(&pod_naming("north"), "x.com/other")?;
        assert_eq!(live.of_kind("objects", "Node")?, 3.0);
        live.script.put("Node", node("gpu-1", "west", "p"));
        live.script.put("Namespace", namespace("training", Some("west")));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(live.resources(&pod_of("p"))?, ["x.com/east"], "it cannot be known");
        for kind in [networks, "Node", "Namespace"] {
            live.script.refuse(kind, None);
            live.state(kind, "synced")?;
        }
        live.gives(&pod_of("p"), "x.com/west")?;
        live.gives(&pod_of_namespace(), "x.com/west")?;
        live.gives_nothing(&pod_naming("north"))
            .map_err(|e| format!("round {round}: it is missing again: {e}"))?;
        live.script.put("Node", node("gpu-1", "east", "p"));
    }
    Ok(live.end()?)
}

/// A service account's token is renewed on disk; until the new one is read, calls are unauthorized. That proves nothing
/// about rights or about what exists.
fn token() -> Outcome {
    let script = site()?;
    script.put("FabricProfile", profile("north", "x.com/other"));
    let all = |live: &Live, status| RESOURCES.iter().for_each(|(kind, _)| live.script.refuse(kind, status));
    RESOURCES.iter().for_each(|(kind, _)| script.refuse(kind, Some(401)));
    let live = Live::begin(script, &[])?;
    live.state("Node", "failing")?;
    assert_eq!(live.server.admin("/readyz")?.status, 503);
    all(&live, None);
    live.ready()?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.gives_nothing(&pod_naming("north"))?;
    all(&live, Some(401));
    for (kind, _) in RESOURCES {
        live.state(kind, "failing")?;
    }
    live.gives(&pod_of("p"), "x.com/east")?;
    live.gives_nothing(&pod_naming("north"))?;
    live.script.put("Node", node("gpu-1", "west", "p"));
    all(&live, None);
    live.gives(&pod_of("p"), "x.com/west")?;
    live.settled()?;
    Ok(live.end()?)
}

fn no_tls() -> Outcome {
    let script = site()?;
    let scratch = Scratch::new()?;
    scratch.write("kubeconfig", script.kubeconfig().replace("http://", "https://"))?;
    certificate(&scratch.path().join("tls"))?;
    let server = Server::start_in(scratch, &["--kubeconfig", "kubeconfig", "--watch-retry", "0.2"])?;
    let live = Live { script, server };
    live.state("Node", "failing")?;
    // Long enough for kinds that are not waited for permanently.
    std::thread::sleep(Duration::from_secs(2));
    let ready = live.server.admin("/readyz")?;
    assert!(ready.status == 503 && ready.body.contains("Node"), "{} {}", ready.status, ready.body);
    assert_eq!(live.server.admin("/livez")?.status, 200);
    // Connections that lead to nothing are closed.
    soon("connections are closed", || Ok(live.script.connections() <= RESOURCES.len()))?;
    assert!(live.script.requests().iter().all(|r| !r.path.starts_with("/api")));
    Ok(())
}
