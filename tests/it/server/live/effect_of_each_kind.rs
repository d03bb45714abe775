//! What each kind of object changes in the answers, and kinds that come and go.

use super::{Live, namespace, network, node, pod_naming, pod_of, pod_of_namespace, profile, site, soon};
use crate::support::scripted_api_server::script::RESOURCES;
use crate::support::suite::{Outcome, Suite};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::nodes_profiles_networks_and_namespaces_count", objects);
    suite.add("live::a_kind_is_installed_later", installed_later);
    suite.add("live::a_kind_that_is_taken_away_is_forgotten", taken_away);
    suite.add("live::a_forbidden_kind_is_allowed_later", allowed_later);
    suite.add("live::a_cluster_with_nothing_installed_is_ready", nothing_installed);
}

fn objects() -> Outcome {
    let live = Live::start(site()?)?;
    for (kind, _) in RESOURCES {
        live.state(kind, "synced")?;
        let line = format!("fabric_admission_task_failures_total{{task=\"watch {kind}\"}} 0");
        assert!(live.server.admin("/metrics")?.body.lines().any(|l| l == line), "{line}");
    }
    live.gives(&pod_of("p"), "x.com/east")?;
    live.gives_nothing(&pod_of_namespace())?;
    // A node.
    live.script.put("Node", node("gpu-2", "west", "q"));
    live.gives(&pod_of("q"), "x.com/west")?;
    live.script.delete("Node", "", "gpu-2");
    soon("the node is gone", || Ok(live.of_kind("objects", "Node")? == 3.0))?;
    // A namespace.
    live.script.put("Namespace", namespace("training", Some("west")));
    live.gives(&pod_of_namespace(), "x.com/west")?;
    live.script.put("Namespace", namespace("training", None));
    live.gives_nothing(&pod_of_namespace())?;
    // A network.
    live.gives(&pod_naming("west"), "x.com/west")?;
    live.script.delete("NetworkAttachmentDefinition", "fabric", "west");
    live.gives_nothing(&pod_naming("west"))?;
    live.script.put("NetworkAttachmentDefinition", network("west"));
    live.gives(&pod_naming("west"), "x.com/west")?;
    // A profile.
    let changed = |name| {
        live.metric(&format!("fabric_admission_profile_changed_timestamp_seconds{{profile=\"{name}\"}}"))
    };
    assert_eq!(
        [changed("east")?, changed("west")?],
        [0.0, 0.0],
        "profiles that the server found at its start"
    );
    live.script.put("FabricProfile", profile("west", "x.com/other"));
    live.gives_nothing(&pod_of("q"))?;
    live.gives(&pod_naming("west"), "x.com/other")?;
    assert!(changed("east")? == 0.0 && changed("west")? > 1.6e9);
    live.script.delete("FabricProfile", "", "west");
    live.gives_nothing(&pod_naming("west"))?;
    for (kind, _) in RESOURCES {
        assert_eq!(live.of_kind("objects", kind)?, live.script.count(kind) as f64, "{kind}");
        assert!(live.of_kind("last_contact_timestamp_seconds", kind)? > 1.6e9, "{kind}");
    }
    // One for each answer that came to be another one; it is counted once it is in use.
    soon("Snapshots are counted", || Ok(live.metric("fabric_admission_snapshots_published_total")? >= 8.0))?;
    Ok(live.end()?)
}

fn installed_later() -> Outcome {
    let script = site()?;
    script.refuse("FabricProfile", Some(404));
    script.refuse("NetworkAttachmentDefinition", Some(404));
    let live = Live::start(script)?;
    live.state("FabricProfile", "absent")?;
    live.state("NetworkAttachmentDefinition", "absent")?;
    live.state("Node", "synced")?;
    live.gives_nothing(&pod_of("p"))?;
    live.script.refuse("FabricProfile", None);
    // Profiles are there, networks are not known: none is missing.
    live.gives(&pod_of("p"), "x.com/east")?;
    live.state("FabricProfile", "synced")?;
    live.script.delete("NetworkAttachmentDefinition", "fabric", "east");
    live.script.refuse("NetworkAttachmentDefinition", None);
    live.gives_nothing(&pod_naming("east"))?;
    live.state("NetworkAttachmentDefinition", "synced")?;
    live.script.put("NetworkAttachmentDefinition", network("east"));
    live.gives(&pod_naming("east"), "x.com/east")?;
    Ok(live.end()?)
}

fn taken_away() -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    // As the API server deletes a CRD: its objects first, then the path, then the streams.
    for fabric in ["east", "west"] {
        live.script.delete("FabricProfile", "", fabric);
    }
    live.script.refuse("FabricProfile", Some(404));
    live.gives_nothing(&pod_of("p"))?;
    live.state("FabricProfile", "absent")?;
    live.script.put("FabricProfile", profile("east", "x.com/west"));
    live.script.refuse("FabricProfile", None);
    live.gives(&pod_of("p"), "x.com/west")?;
    live.state("FabricProfile", "synced")?;
    Ok(live.end()?)
}

fn allowed_later() -> Outcome {
    let script = site()?;
    script.refuse("Node", Some(403));
    script.refuse("Namespace", Some(403));
    let live = Live::start(script)?;
    live.state("Node", "forbidden")?;
    live.state("Namespace", "forbidden")?;
    live.gives(&pod_naming("east"), "x.com/east")?;
    live.script.put("Namespace", namespace("training", Some("west")));
    live.script.refuse("Namespace", None);
    live.gives(&pod_of_namespace(), "x.com/west")?;
    live.script.refuse("Node", None);
    live.gives(&pod_of("p"), "x.com/east")?;
    live.state("Node", "synced")?;
    Ok(live.end()?)
}

fn nothing_installed() -> Outcome {
    let script = site()?;
    for (kind, _) in RESOURCES {
        script.refuse(kind, Some(if kind.starts_with('N') { 403 } else { 404 }));
    }
    let live = Live::start(script)?;
    live.gives_nothing(&pod_of("p"))?;
    for (kind, _) in RESOURCES {
        live.state(kind, if kind.starts_with('N') { "forbidden" } else { "absent" })?;
    }
    // Absence does not make it ask all the time: twice a second and a kind would be 36 requests.
    let asked = live.script.requests().len();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let more = live.script.requests().len() - asked;
    assert!((RESOURCES.len()..=RESOURCES.len() * 7).contains(&more), "{more} requests in a second");
    Ok(live.end()?)
}
