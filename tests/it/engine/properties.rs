//! What holds of every decision, whatever the pod and the cluster: checked on cases made by chance, with the
//! smallest case and the seed printed where one fails. `PROPTEST_CASES` asks for more of them.

use crate::support::api_pods::{self, Site};
use crate::support::generated_cases;
use crate::support::generated_documents::{Dice, Documents, pointers};
use crate::support::generated_world::World;
use crate::support::run_property::check;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::deadline::NEVER;
use fabric_admission::facts::Mode;
use fabric_admission::plan::{Change, Edit, SHM_PATH};
use fabric_admission::pod::Bytes;
use fabric_admission::pod::prescan_for_fabric_signs::may_have_signs;
use fabric_admission::review::webhook_body::{Known, WebhookEntry, handle, handle_within};
use fabric_admission::review::{Decision, Stage, admission_response, admission_review};
use fabric_admission::rules::{Finding, Severity};
use fabric_admission::snapshot::Audience;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;

const NETWORKS: &str = "/metadata/annotations/k8s.v1.cni.cncf.io~1networks";
const NCCL_CONF: &str = "/metadata/annotations/fabric-admission.dev~1file.nccl.conf";
const INJECTED: &str = "/metadata/annotations/fabric-admission.dev~1injected";

/// Adds the trials.
pub(crate) fn add(suite: &mut Suite) {
    for (name, property) in PROPERTIES {
        let name = format!("properties::{name}");
        let property = *property;
        suite.add(name.clone(), move || {
            check(&name, 600, Documents(generated_cases::case), |case| property(&World::new(&case.0)))
        });
    }
    suite.add("properties::any_object_is_answered", || {
        check("properties::any_object_is_answered", 2000, Documents(generated_cases::anything), |object| {
            answered(&review("u", &object.0))
        })
    });
    suite.add("properties::any_bytes_are_answered", || {
        let strategy = (Documents(generated_cases::anything), any::<[(u32, u8); 6]>(), 0..8_usize);
        check("properties::any_bytes_are_answered", 2000, strategy, |(object, edits, count)| {
            let mut body = review("u", &object.0);
            for (at, byte) in edits.iter().take(count) {
                let at = usize::try_from(*at).unwrap() % (body.len() + 1);
                match byte % 4 {
                    0 => body.truncate(at),
                    1 => body.insert(at, *byte),
                    2 => drop(body.drain(at..(at + usize::from(*byte)).min(body.len()))),
                    _ => body.get_mut(at).into_iter().for_each(|b| *b = *byte),
                }
            }
            answered(&body)
        })
    });
    suite.add("properties::cases_reach_everything", cases_reach_everything);
    suite.add("properties::some_pods_bring_their_own_fabric", own_fabric);
}

/// The share of generated pods for the API server that have their own networks and units: enough to be met in every run,
/// and few enough that most pods are patched.
fn own_fabric() -> Outcome {
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

type Property = fn(&World) -> Result<(), String>;

const PROPERTIES: &[(&str, Property)] = &[
    ("the_patch_applies", |world| world.patched().map(drop)),
    ("a_second_decision_changes_nothing", converges),
    ("only_allowed_paths_are_written", |world| {
        let Some(decision) = world.decide() else { return Ok(()) };
        decision.patch.operations().iter().try_for_each(|o| {
            crate::engine::what_a_patch_may_write::allowed(o, &world.pod).map_err(|e| format!("{o:?}: {e}"))
        })
    }),
    ("everything_of_the_user_survives", survives),
    ("placement_narrows_to_the_profiles_nodes", crate::support::placement::narrows),
    ("changes_point_at_what_they_say", changes_point),
    ("changes_are_unique_and_in_order", changes_are_unique),
    ("the_webhook_says_the_same", webhook_agrees),
    ("the_order_of_facts_does_not_matter", order_of_facts),
    ("modes_differ_in_the_verdict_alone", modes),
];

fn review(uid: &str, object: &Value) -> Vec<u8> {
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let request = json!({
        "uid": uid, "kind": kind, "namespace": "team", "operation": "CREATE", "object": object, "oldObject": null,
    });
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    review.to_string().into_bytes()
}

/// Whatever comes is a decision or an error; the point is that it returns.
fn answered(body: &[u8]) -> Result<(), String> {
    static WORLD: OnceLock<World> = OnceLock::new();
    let world = WORLD.get_or_init(|| {
        let spec = json!({"base": "roce-sriov"});
        let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
        let profile = json!({"apiVersion": api, "kind": kind, "metadata": {"name": "p0"}, "spec": spec});
        World::new(&json!({"profiles": [profile]}))
    });
    for entry in [
        WebhookEntry::Mutate,
        WebhookEntry::Validate,
        WebhookEntry::Audit,
        WebhookEntry::Object(Mode::Enforce),
    ] {
        match handle(body, entry, &world.snapshot) {
            Ok(outcome) => drop(admission_response::render(&outcome)),
            Err(error) if error.to_string().is_empty() => return Err("an error without words".to_owned()),
            Err(_) => {}
        }
    }
    Ok(())
}

fn converges(world: &World) -> Result<(), String> {
    let (Some(first), patched) = (world.decide(), world.patched()?) else { return Ok(()) };
    if first.patch.is_empty() {
        return Ok(());
    }
    let unreadable = "the patched pod cannot be read";
    let second = world.decide_on(&patched).ok_or(unreadable)?;
    if !second.patch.is_empty() {
        return Err(format!("patched again: {:#?}", second.patch));
    }
    // What validates the final pod finds the same, and sees that it was patched.
    let last = world.decide_as(&patched, Stage::Final, world.mode).ok_or(unreadable)?;
    if last.findings != second.findings {
        return Err(format!("at last {:#?}, not {:#?}", last.findings, second.findings));
    }
    // What the plan adds has no place of its own in the first pod; its finding names the list instead.
    let same = |a: &Finding, b: &Finding| {
        let path = b.path == a.path || b.path.starts_with(&format!("{}/", a.path));
        path && (a.rule, a.severity, &a.message, &a.fix) == (b.rule, b.severity, &b.message, &b.fix)
    };
    let (before, after) = (&first.findings, &second.findings);
    let alike = before.len() == after.len() && before.iter().zip(after).all(|(a, b)| same(a, b));
    if !alike || first.profile != second.profile {
        return Err(format!("findings before {before:#?} and after {after:#?}"));
    }
    Ok(())
}

/// Every leaf of the pod is in the patched pod, at its place and unchanged.
fn survives(world: &World) -> Result<(), String> {
    let (Some(decision), patched) = (world.decide(), world.patched()?) else { return Ok(()) };
    for pointer in pointers(&world.pod) {
        let old = world.pod.pointer(&pointer).ok_or("no such node")?;
        let new = patched.pointer(&pointer).ok_or_else(|| format!("{pointer} is gone"))?;
        let written = decision.patch.operations().iter().any(|o| *o.path == *pointer);
        let kept = match (old, new) {
            // A null counts as absent; it gives way where something is set below it.
            (Value::Null, _) if written => true,
            (Value::Object(old), Value::Object(new)) => old.keys().eq(new.keys().take(old.len())),
            (Value::Array(old), Value::Array(new)) => old.len() <= new.len(),
            // What may be raised is held by `allowed`.
            (_, Value::String(_)) if written && pointer.contains("/resources/") => true,
            (Value::String(old), Value::String(new)) if written && pointer == NETWORKS => {
                holds_networks(old, new)
            }
            // Lines are added behind the user's.
            (Value::String(old), Value::String(new)) if written && pointer == NCCL_CONF => {
                new.starts_with(old.as_str())
            }
            (Value::String(_), Value::String(_)) if written && pointer == INJECTED => true,
            _ => old == new,
        };
        if !kept {
            return Err(format!("{pointer} was {old} and is {new}"));
        }
    }
    Ok(())
}

/// Whether the old attachments stand first, in order, in the same words.
fn holds_networks(old: &str, new: &str) -> bool {
    match (serde_json::from_str::<Vec<Value>>(old), serde_json::from_str::<Vec<Value>>(new)) {
        (Ok(old), Ok(new)) => new.starts_with(&old),
        (Err(_), Err(_)) => new.starts_with(old.trim_end()),
        _ => false,
    }
}

fn changes_point(world: &World) -> Result<(), String> {
    let (Some(decision), patched) = (world.decide(), world.patched()?) else { return Ok(()) };
    for Change { edit, .. } in &decision.plan.changes {
        let found = patched.pointer(&edit.path()).ok_or_else(|| format!("nothing at {}", edit.path()))?;
        let expected = match edit {
            Edit::Networks { value, .. } => json!(value),
            Edit::Annotation { value, .. } | Edit::File { text: value, .. } => json!(value),
            Edit::FilesVolume { name, items, .. } => {
                let item = |file: &String| {
                    let field = format!("metadata.annotations['fabric-admission.dev/file.{file}']");
                    json!({"path": file, "fieldRef": {"fieldPath": field}})
                };
                json!({"name": name, "downwardAPI": {"items": items.iter().map(item).collect::<Vec<_>>()}})
            }
            Edit::FileMount { volume, path, sub_path: None, .. } => {
                json!({"name": volume, "mountPath": path, "readOnly": true})
            }
            Edit::FileMount { volume, path, sub_path: Some(sub_path), .. } => {
                json!({"name": volume, "mountPath": path, "subPath": sub_path, "readOnly": true})
            }
            Edit::ShmVolume { name, size, .. } => {
                json!({"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": Bytes(*size).to_string()}})
            }
            Edit::NodeSelector { value, .. } => json!(value),
            Edit::NodeRequirement { requirement, .. } => json!(requirement),
            Edit::Quantity { units, .. } => json!(units.to_string()),
            Edit::Capability { .. } => json!("IPC_LOCK"),
            Edit::Env { name, value, .. } => json!({"name": name, "value": value}),
            Edit::ShmMount { volume, .. } => json!({"name": volume, "mountPath": SHM_PATH}),
            Edit::InPodVolume { name, image: None, .. } => {
                json!({"name": name, "emptyDir": {"sizeLimit": "64Mi"}})
            }
            Edit::InPodVolume { name, image: Some(image), .. } => {
                json!({"name": name, "image": {"reference": image, "pullPolicy": "IfNotPresent"}})
            }
            Edit::InitContainer { text, .. } => serde_json::from_str(text).map_err(|e| e.to_string())?,
        };
        if *found != expected {
            return Err(format!("{} is {found}, the change says {expected}", edit.path()));
        }
    }
    Ok(())
}

fn changes_are_unique(world: &World) -> Result<(), String> {
    let Some(decision) = world.decide() else { return Ok(()) };
    let changes = &decision.plan.changes;
    let places: BTreeSet<String> =
        changes.iter().map(|c| format!("{:?} {}", c.edit.carrier(), c.edit.path())).collect();
    if places.len() != changes.len() {
        return Err(format!("a change is there twice: {changes:#?}"));
    }
    // Patches and rules find a container's changes by bisection.
    if !changes.is_sorted_by_key(|c| c.edit.container()) {
        return Err(format!("containers are not in order: {changes:#?}"));
    }
    let unsaid = changes.iter().any(|c| c.reason.is_empty() || c.edit.summary().is_empty());
    if unsaid { Err(format!("a change without words: {changes:#?}")) } else { Ok(()) }
}

fn webhook_agrees(world: &World) -> Result<(), String> {
    if world.namespace != "team" || world.profile.is_some() {
        return Ok(());
    }
    let uid = format!("{}-\u{e9}\"\\", world.pod.to_string().len());
    let body = review(&uid, &world.pod);
    for (entry, stage, mode) in [
        (WebhookEntry::Mutate, Stage::Mutate, Mode::Enforce),
        (WebhookEntry::Validate, Stage::Final, Mode::Enforce),
        (WebhookEntry::Audit, Stage::Whole, Mode::Audit),
    ] {
        let known = Known { snapshot: &world.snapshot, audience: Audience::Tenant };
        let answered = handle_within(&body, entry, known, &NEVER);
        match (answered, world.decide_as(&world.pod, stage, mode)) {
            (Ok(outcome), Some(mut decision)) => {
                let answer = admission_response::render(&outcome);
                let answer: Value = serde_json::from_slice(&answer).map_err(|e| e.to_string())?;
                answer_fits(&answer["response"], &uid, &decision)?;
                if entry != WebhookEntry::Mutate {
                    decision.patch.clear();
                }
                let (webhook, direct) = (format!("{:?}", outcome.decision), format!("{decision:?}"));
                if webhook != direct {
                    return Err(format!("webhook {webhook}\ndirect {direct}"));
                }
            }
            (Err(admission_review::EnvelopeError::Object(_)), None) => {}
            (Err(admission_review::EnvelopeError::NoObject), _) if world.pod.is_null() => {}
            // A pod without any sign of a fabric is admitted undecoded.
            (Ok(outcome), None) if !may_have_signs(&world.pod.to_string()) => {
                if outcome.decision.in_scope {
                    return Err(format!("webhook {outcome:?}"));
                }
            }
            (outcome, decision) => return Err(format!("webhook {outcome:?}\ndirect {decision:?}")),
        }
    }
    Ok(())
}

/// Bounds of an answer, which the API server and kubectl set.
fn answer_fits(response: &Value, uid: &str, decision: &Decision) -> Result<(), String> {
    let message = response["status"]["message"].as_str();
    let first = message.and_then(|m| m.lines().next()).unwrap_or_default();
    let none = Vec::new();
    let warnings = response["warnings"].as_array().unwrap_or(&none);
    let short = |w: &Value| {
        w.as_str().is_some_and(|w| !w.is_empty() && w.chars().count() < 200 && !w.contains(char::is_control))
    };
    let fits = response["uid"] == uid
        && response["allowed"] == !decision.denied
        && response["patch"].is_string() == (response["patchType"] == "JSONPatch")
        && decision.denied == message.is_some()
        && message.is_none_or(|m| m.len() <= 8192 && first.len() <= 300)
        && warnings.len() <= 15
        && warnings.iter().all(short);
    if fits { Ok(()) } else { Err(format!("answer {response}")) }
}

fn order_of_facts(world: &World) -> Result<(), String> {
    let turned = World::turned(&world.case);
    let (here, there) = (format!("{:?}", world.decide()), format!("{:?}", turned.decide()));
    if here == there { Ok(()) } else { Err(format!("{here}\nwith the facts the other way round:\n{there}")) }
}

fn modes(world: &World) -> Result<(), String> {
    let decide = |stage, mode| world.decide_as(&world.pod, stage, mode);
    let (Some(enforce), Some(audit)) =
        (decide(Stage::Whole, Mode::Enforce), decide(Stage::Whole, Mode::Audit))
    else {
        return Ok(());
    };
    let Some(mutate) = decide(Stage::Mutate, Mode::Enforce) else { return Err("read once only".to_owned()) };
    let errors = |only: &[&str]| {
        let mut errors = enforce.findings.iter().filter(|f| f.severity == Severity::Error);
        errors.any(|f| only.is_empty() || only.contains(&f.rule))
    };
    let verdicts = [enforce.denied, enforce.would_deny, audit.denied, audit.would_deny, mutate.denied];
    // Before the last mutating webhook has run, only these cannot be corrected any more.
    if verdicts != [errors(&[]), false, false, errors(&[]), errors(&["FAB101", "FAB804", "FAB810", "FAB814"])]
    {
        return Err(format!("verdicts {verdicts:?} for {:#?}", enforce.findings));
    }
    for (decision, denied) in [(&enforce, enforce.denied), (&mutate, mutate.denied)] {
        if decision.findings != audit.findings || decision.profile != audit.profile {
            return Err(format!("{:#?} is found, in audit {:#?}", decision.findings, audit.findings));
        }
        let expected = if denied { "[]".to_owned() } else { format!("{:?}", audit.patch) };
        if format!("{:?}", decision.patch) != expected || denied && !decision.plan.changes.is_empty() {
            return Err(format!("patch {:#?}, in audit {:#?}", decision.patch, audit.patch));
        }
    }
    Ok(())
}

/// The cases are worth something: among few of them is every kind of change, every rule on pods, and enough
/// pods in scope.
fn cases_reach_everything() -> Outcome {
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
