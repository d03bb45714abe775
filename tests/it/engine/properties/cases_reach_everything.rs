//! The generated cases are worth something: they reach every kind of change and every rule on pods.

use crate::support::api_pods::{self, Site};
use crate::support::generated_cases;
use crate::support::generated_documents::{Dice, Documents};
use crate::support::generated_world::World;
use crate::support::suite::Outcome;
use fabric_admission::review::{Decision, Stage};
use proptest::prelude::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::Value;
use std::collections::BTreeSet;

const NETWORKS: &str = "/metadata/annotations/k8s.v1.cni.cncf.io~1networks";

/// The share of generated pods for the API server that have their own networks and units: enough to be met in every run,
/// and few enough that most pods are patched.
pub(super) fn own_fabric() -> Outcome {
    let pod = |dice: &mut Dice<'_>| api_pods::pod(&Site { profiles: &["roce"] }, dice);
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(1), ..Config::default() });
    let own = |pod: &Value| {
        let limits = pod["spec"]["containers"][0]["resources"]["limits"].as_object();
        let device = |name: &String| {
            let others = ["nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb", "amd.com/gpu"];
            name.contains('/') && !others.contains(&name.as_str()) && !name.contains("neuron")
        };
        pod.pointer(NETWORKS).is_some_and(|text| text.as_str().is_some_and(|t| !t.is_empty()))
            && limits.is_some_and(|limits| limits.keys().any(device))
    };
    let mut count = 0;
    for _ in 0..1000 {
        let tree = Documents(pod).new_tree(&mut runner).map_err(|e| e.to_string())?;
        count += usize::from(own(&tree.current().0));
    }
    if (40..150).contains(&count) { Ok(()) } else { Err(format!("{count} of 1,000").into()) }
}

/// The cases are worth something: among few of them is every kind of change, every rule on pods, and enough
/// pods in scope.
pub(super) fn cases_reach_everything() -> Outcome {
    let mut missing: BTreeSet<String> = [
        "Networks",
        "ShmVolume",
        "NodeRequirement",
        "NodeSelector",
        "Quantity",
        "Capability",
        "Env",
        "Annotation",
        "File",
        "FilesVolume",
        "FileMount",
        "ShmMount",
        "denied",
        "patched",
        "unreadable",
        "OptedOut",
        "ReviewOnly",
        "HostNetwork",
        "OwnNetwork",
        "ProviderNetworks",
        "Windows",
        "Mirror",
        "Unreadable",
        "UnknownRails",
        "NoRoom",
        "WrongContainers",
        "VariableWithoutInterface",
        "UnreadQuantity",
        "NoTarget",
        "UnreadClaim",
        "UnknownNetworks",
        "Conflict",
        "NotServed",
        "OtherFabric",
        "CompleteByUnits",
        "NonRoot",
        "PodSecurity",
        "UserNamespace",
    ]
    .map(str::to_owned)
    .into();
    let rules = fabric_admission::rules::RULES.iter().filter(|m| m.kinds.is_empty());
    // FAB901 to FAB903 judge the text of a file.
    let rules = rules.filter(|m| !m.id.starts_with("FAB9"));
    // Nothing that a generator makes grows old; FAB150 waits for a setting, and FAB701 to FAB708 judge workloads.
    let rules =
        rules.filter(|m| !matches!(m.id, "FAB150" | "FAB813") && !("FAB701"..="FAB708").contains(&m.id));
    missing.extend(rules.map(|m| m.id.to_owned()));
    let (mut cases, mut patched) = (0, 0);
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..Config::default()
    });
    while cases < 4000 {
        cases += 1;
        let tree = Documents(generated_cases::case).new_tree(&mut runner)?;
        let world = World::new(&proptest::strategy::ValueTree::current(&tree).0);
        let Some(mut decision) = world.decide() else {
            missing.remove("unreadable");
            continue;
        };
        patched += usize::from(!decision.patch.is_empty());
        let last = world.decide_as(&world.pod, Stage::Final, world.mode);
        decision.findings.extend(last.into_iter().flat_map(|d| d.findings));
        reached(&decision, &mut missing);
    }
    // A few rules speak of things that the generator does not make; properties hold of their examples as well.
    for rule in fabric_admission::rules::RULES.iter() {
        let world = World::new(&crate::support::generated_world::of_rule(rule));
        reached(&world.decide().unwrap_or_default(), &mut missing);
    }
    if missing.is_empty() && patched * 7 > cases {
        return Ok(());
    }
    Err(format!("{patched} of {cases} cases are patched; never reached: {missing:?}").into())
}

fn reached(decision: &Decision, missing: &mut BTreeSet<String>) {
    let word = |debug: String| debug.split([' ', '(', '{']).next().unwrap_or_default().to_owned();
    let plan = &decision.plan;
    for finding in &decision.findings {
        missing.remove(finding.rule);
    }
    for change in &plan.changes {
        missing.remove(&word(format!("{:?}", change.edit)));
    }
    if let Some(withheld) = &plan.withheld {
        missing.remove(&word(format!("{withheld:?}")));
    }
    if let Some(brought) = &plan.user_fabric {
        missing.remove(&word(format!("{:?}", brought.completeness)));
    }
    if !plan.without_interface.is_empty() {
        missing.remove("VariableWithoutInterface");
    }
    for (_, refusal) in &plan.ipc_lock_refusals {
        missing.remove(&word(format!("{refusal:?}")));
    }
    if decision.denied {
        missing.remove("denied");
    }
    if !decision.patch.is_empty() {
        missing.remove("patched");
    }
}
