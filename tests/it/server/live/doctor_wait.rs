//! `doctor --wait` with a scripted API server: what a further try reads again.

use super::network;
use super::{node, profile};
use crate::support::round_trip::same;
use crate::support::scripted_api_server::script::Script;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, run};
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::doctor_reads_again_only_what_failed_checks_need", partial);
}

/// The network of the profile is missing at first. Nobody waits for nodes, which are read once in the beginning and once
/// in the end.
fn partial() -> Outcome {
    let script = Script::start()?;
    script.put("Node", node("gpu-1", "east", "p"));
    script.put("FabricProfile", profile("east", "x.com/east"));
    let scratch = Scratch::new()?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    let ran = std::thread::scope(|scope| {
        let doctor = scope
            .spawn(|| run(&["doctor", "--kubeconfig", "kubeconfig", "--wait", "4s"], b"", scratch.path()));
        std::thread::sleep(Duration::from_millis(1500));
        script.put("NetworkAttachmentDefinition", network("east"));
        doctor.join().map_err(|_| "doctor panicked".to_owned())?
    })?;
    let waiting = ran.stderr.lines().find(|line| line.starts_with("waiting for: ")).unwrap_or_default();
    same(&ran.stderr, true, waiting.contains("networks") && waiting.contains("configurations"))?;
    same("a later try has the network", true, ran.stdout.contains("✔ ok       networks of the profiles"))?;
    let asked = |kind: &str| script.asked(kind, false).len();
    // In the beginning, after 1 s, after 3 s, and when the time is over.
    same("lists of networks", true, (3..=5).contains(&asked("NetworkAttachmentDefinition")))?;
    let nodes = asked("Node");
    Ok(same(&format!("lists of nodes: {nodes}, {}", ran.stderr), 1, nodes)?)
}
