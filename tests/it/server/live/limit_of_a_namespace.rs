//! A namespace with more objects than the server keeps of one namespace.

use super::{Live, pod_naming, site, soon};
use crate::support::scripted_api_server::script::{Gone, How};
use crate::support::server::{bare_pod, review};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};

/// Networks of 200 kB; 16 MiB have room for 80.
const NETWORKS: usize = 100;

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::a_full_namespace_is_counted_and_harms_no_other", full);
}

fn network(nth: usize) -> Value {
    let long = "x".repeat(200_000);
    let config = json!({"cniVersion": "1.0.0", "name": long, "type": "sriov"}).to_string();
    json!({"metadata": {"namespace": "crowd", "name": format!("n{nth:03}")}, "spec": {"config": config}})
}

/// The findings about a pod of the full namespace that names one of its networks.
fn said(live: &Live, name: &str) -> Result<String, String> {
    let mut pod = bare_pod();
    pod["metadata"]["namespace"] = json!("crowd");
    pod["metadata"]["annotations"] = json!({"k8s.v1.cni.cncf.io/networks": name});
    let mut body = review("u", ("", "Pod"), "CREATE", &pod);
    body["request"]["namespace"] = json!("crowd");
    Ok(live.server.post("/validate", body.to_string().as_bytes())?.json()?["response"].to_string())
}

fn full() -> Outcome {
    let script = site()?;
    script.put("Namespace", super::namespace("crowd", None));
    for nth in 0..NETWORKS {
        script.put("NetworkAttachmentDefinition", network(nth));
    }
    let live = Live::start(script)?;
    let left_out = || live.of_kind("left_out_total", "NetworkAttachmentDefinition");
    let listed = left_out()?;
    assert!((10.0..40.0).contains(&listed), "{listed} left out");
    // Other namespaces are as before.
    live.gives(&pod_naming("east"), "x.com/east")?;
    // Not every network of this one is known, so none is said not to exist.
    for name in ["n000", "n099", "absent"] {
        let said = said(&live, name)?;
        assert!(!said.contains("FAB106"), "{name}: {said}");
    }
    // Its watch counts one more, and an object that goes makes room for the next one that changes.
    live.script.put("NetworkAttachmentDefinition", network(NETWORKS));
    soon("a new one is counted", || Ok(left_out()? == listed + 1.0))?;
    for nth in 0..50 {
        live.script.delete("NetworkAttachmentDefinition", "crowd", &format!("n{nth:03}"));
    }
    soon("they are gone", || Ok(live.of_kind("objects", "NetworkAttachmentDefinition")? <= 53.0))?;
    live.script.put("NetworkAttachmentDefinition", network(99));
    live.script.put("NetworkAttachmentDefinition", network(98));
    assert_eq!(left_out()?, listed + 1.0);
    // All are known after the second list from now on: the first one may have begun before the last was left out.
    for _ in 0..2 {
        let lists = live.of_kind("lists_total", "NetworkAttachmentDefinition")?;
        live.script.compact(Gone::Status);
        live.script.drop_streams(How::Closed);
        soon("it is listed again", || {
            Ok(live.of_kind("lists_total", "NetworkAttachmentDefinition")? > lists)
        })?;
    }
    soon("an absent network is reported", || Ok(said(&live, "absent")?.contains("FAB106")))?;
    assert!(!said(&live, "n099")?.contains("FAB106"), "n099 is known");
    Ok(live.end()?)
}
