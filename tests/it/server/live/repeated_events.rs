//! Events that arrive again, in another order.

use super::{Live, namespace, network, node, pod_naming, pod_of, pod_of_namespace, profile, site};
use crate::support::scripted_api_server::script::How;
use crate::support::suite::{Outcome, Suite};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::events_that_arrive_again_in_another_order_change_nothing", again);
}

/// After a reconnect the past comes again with what was missed, object by object: old states of one, then its new one,
/// then those of another, which are older.
fn again() -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    let right = |fabric: &str| -> Result<(), String> {
        let resource = format!("x.com/{fabric}");
        for pod in [pod_of("p"), pod_of("z"), pod_naming("east"), pod_of_namespace()] {
            live.gives(&pod, &resource)?;
        }
        live.gives_nothing(&pod_of("q"))
    };
    let change = |fabric: &str| {
        live.script.put("Node", node("z-1", fabric, "z"));
        live.script.put("Node", node("gpu-1", fabric, "p"));
        live.script.put("FabricProfile", profile("north", &format!("x.com/{fabric}")));
        live.script.put("FabricProfile", profile("east", &format!("x.com/{fabric}")));
        live.script.put("Namespace", namespace("training", Some(fabric)));
        live.script.put("NetworkAttachmentDefinition", network("passing"));
        live.script.delete("NetworkAttachmentDefinition", "fabric", "passing");
        live.script.put("Node", node("passing", fabric, "q"));
        live.script.delete("Node", "", "passing");
    };
    for round in 0..6 {
        let (now, other) = if round % 2 == 0 { ("west", "east") } else { ("east", "west") };
        change(now);
        change(other);
        right(other).map_err(|e| format!("round {round}, as it comes: {e}"))?;
        // The streams that are open do not tell this any more; new ones do, with much that was sent before.
        live.script.stall(true);
        change(other);
        change(now);
        live.script.repeat(30 + round);
        live.script.drop_streams(How::Clean);
        live.script.stall(false);
        right(now).map_err(|e| format!("round {round}, again: {e}"))?;
        live.settled()?;
        // The place to resume at may now be an older one.
        live.script.repeat(0);
        live.script.drop_streams(How::Closed);
        live.settled()?;
        right(now).map_err(|e| format!("round {round}, resumed: {e}"))?;
    }
    assert_eq!(live.of_kind("lists_total", "Node")?, 1.0, "no reason to list");
    Ok(live.end()?)
}
