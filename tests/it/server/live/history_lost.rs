//! A watch history that the server no longer has (410 Gone), and bookmarks, which keep the place to resume at.

use super::{Live, network, node, pod_naming, pod_of, site, soon};
use crate::support::scripted_api_server::script::{Gone, How};
use crate::support::suite::{Outcome, Suite};

pub(super) fn add(suite: &mut Suite) {
    for (name, gone) in [("status", Gone::Status), ("event", Gone::Event)] {
        suite.add(format!("live::gone_as_{name}_lists_again_and_forgets_what_is_deleted"), move || {
            relist(gone)
        });
    }
    suite.add("live::bookmarks_move_the_place_to_resume_at", bookmarks);
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
        Ok(crate::support::scripted_api_server::script::RESOURCES.iter().filter(resumed).count()
            == crate::support::scripted_api_server::script::RESOURCES.len())
    })?;
    assert!(live.script.asked("Node", true).len() > before);
    // Quiet kinds had nothing since their list but the bookmark: without it they would have to list again.
    assert_eq!(live.of_kind("lists_total", "Node")?, lists);
    assert_eq!(live.of_kind("lists_total", "SriovNetwork")?, 1.0);
    Ok(live.end()?)
}
