//! `rules export` on network objects: over variants of the rules' examples, policies say what the rules say.

use super::exported_policies::{Said, exported, said, subjects};
use super::object_rules::{Name, Restore, crds, install};
use super::support::creates::each;
use super::support::plane::Plane;
use super::support::policies::Policies;
use super::trial;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::decide_object_that_makes_no_pods;
use fabric_admission::rules::{ObjectContext, ObjectEvent, Severity};
use fabric_admission::snapshot::Snapshot;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Group of the CRD that every plane has already.
const MULTUS: &str = "k8s.cni.cncf.io";

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "policies_judge_network_objects_as_the_rules_do", alike);
}

/// Puts the CRDs of the kinds that policies are about in place, until this ends.
pub(super) fn network_crds(plane: &Plane) -> Result<Restore<'_>, String> {
    let kinds: BTreeSet<Name> = exported()
        .flat_map(|rule| rule.kinds)
        .filter(|(group, _)| group.contains('.') && *group != MULTUS)
        .map(|(group, kind)| ((*group).to_owned(), (*kind).to_owned()))
        .collect();
    let crds = crds(&kinds)?;
    let names = crds.values().filter_map(|c| Some(c["metadata"]["name"].as_str()?.to_owned()));
    let restore = Restore(plane, names.collect());
    install(plane, &crds)?;
    Ok(restore)
}

/// Values of fields, by pointer below `spec`. Where the schema refuses one the object is not compared.
fn values() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("vdpaType", vec![json!("virtio"), json!("")]),
        ("isRdma", vec![json!(true), json!(false)]),
        ("deviceType", vec![json!("vfio-pci"), json!("netdevice")]),
        ("eSwitchMode", vec![json!("switchdev"), json!("legacy")]),
        ("linkType", vec![json!("ib"), json!("IB"), json!("eth")]),
        ("bridge", vec![json!({}), json!({"ovs": {}}), json!({"ovs": {"bridge": {}}})]),
        ("externallyManaged", vec![json!(true)]),
        ("numVfs", vec![json!(0), json!(128), json!(129), json!(1000)]),
        ("priority", vec![json!(0), json!(99)]),
        (
            "resourceName",
            ["", "a-b", "_a", "a.b", "A1", "p/q", "nvidia.com/x", "nvidia.com/", "a/b/c", "\u{e9}"]
                .map(Value::from)
                .to_vec(),
        ),
        ("resourceName", vec![json!("a".repeat(63)), json!("a".repeat(64)), json!(3)]),
        (
            "nicSelector",
            vec![
                json!({}),
                json!({"pfNames": []}),
                json!({"pfNames": [""]}),
                json!({"rootDevices": ["0000:3b:00.0"]}),
                json!({"vendor": "15b3"}),
                json!({"vendor": "15B3"}),
                json!({"deviceID": "1021"}),
                json!({"deviceID": "101E"}),
                json!({"vendor": "8086", "deviceID": "101e"}),
                json!({"vendor": "15b3", "deviceID": "101e"}),
                json!({"vendor": "15b3", "deviceID": "1017"}),
                json!({"vendor": "8086", "deviceID": "1592"}),
                json!({"vendor": "8086", "deviceID": "1563"}),
                json!({"deviceID": "1000"}),
                json!({"deviceID": "1041"}),
                json!({"deviceID": "A2DC", "pfNames": ["a"]}),
                json!({"deviceID": "ffff"}),
                json!({"deviceID": "0x1021"}),
                json!({"netFilter": "openstack/NetworkID:a"}),
                json!({"netFilter": "openstack/NetworkID:a", "vendor": "15b3"}),
            ],
        ),
        ("vlan", vec![json!(0), json!(5)]),
        ("vlanQoS", vec![json!(0), json!(7)]),
        ("vlanProto", vec![json!("802.1q"), json!("802.1ad"), json!("802.1AD")]),
        ("minTxRate", vec![json!(0), json!(5), json!(10000)]),
        ("maxTxRate", vec![json!(0), json!(5), json!(10000)]),
        ("linkState", vec![json!("auto"), json!("disable")]),
        ("maxUnavailable", vec![json!(0), json!(-1), json!("2")]),
        (
            "maxUnavailable",
            ["1%", "0%", "100%", "101%", "+5%", "007%", "%", "", "x%", "5%%"].map(Value::from).to_vec(),
        ),
        ("ovsHardwareOffloadConfig", vec![json!({}), json!({"name": ""}), json!({"name": "a"})]),
        ("networkNamespace", vec![json!(""), json!("team")]),
        ("master", vec![json!(""), json!("eth0"), json!("ib0")]),
    ]
}

/// An example, and what it is with each field absent, null and of each value, and with some of them together.
fn variants(example: &Value) -> Vec<Value> {
    let mut out = vec![example.clone()];
    for start in [example.clone(), on_infiniband(example)] {
        for (field, values) in values() {
            for value in values.into_iter().chain([Value::Null]) {
                let mut object = start.clone();
                object["spec"][field] = value;
                out.push(object);
            }
            let mut object = start.clone();
            object["spec"].as_object_mut().map(|spec| spec.remove(field));
            out.push(object);
        }
    }
    for name in ["default", "other"] {
        let mut object = example.clone();
        object["metadata"]["name"] = name.into();
        out.push(object);
    }
    let mut bare = example.clone();
    bare.as_object_mut().map(|object| object.remove("spec"));
    out.push(bare);
    out
}

/// An example for InfiniBand with a bridge, where fields meet that no example has together.
fn on_infiniband(example: &Value) -> Value {
    let mut object = example.clone();
    for (field, value) in
        [("linkType", json!("ib")), ("bridge", json!({"ovs": {}})), ("vdpaType", json!("vhost"))]
    {
        object["spec"][field] = value;
    }
    object
}

/// Path of the collection that an object belongs into.
fn collection(object: &Value, crds: &BTreeMap<String, String>, namespace: &str) -> Option<String> {
    let version = object["apiVersion"].as_str()?;
    let plural = crds.get(object["kind"].as_str()?)?;
    Some(match version.starts_with("mellanox.com") {
        true => format!("/apis/{version}/{plural}"),
        false => format!("/apis/{version}/namespaces/{namespace}/{plural}"),
    })
}

/// Errors and warnings of a decision on a stored object.
fn judged(object: &Value) -> Said {
    let (version, kind) =
        (object["apiVersion"].as_str().unwrap_or_default(), object["kind"].as_str().unwrap_or_default());
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let (json, snapshot) = (object.to_string(), Snapshot::default());
    let context = ObjectContext::new((group, kind), &json, ObjectEvent::Given, &snapshot);
    let findings = decide_object_that_makes_no_pods(&context, EnforcementMode::Audit).findings;
    findings.iter().filter(|f| f.severity > Severity::Info).map(|f| (f.rule.to_owned(), f.severity)).collect()
}

fn alike(plane: &Plane) -> Outcome {
    let restore = network_crds(plane)?;
    let plurals =
        restore.1.iter().filter_map(|name| name.split_once('.')).map(|(plural, _)| plural.to_owned());
    let plurals: Vec<String> = plurals.collect();
    let policies = Policies::apply(plane, &[])?;
    let namespace = plane.namespace(&[])?;
    let rules: Vec<_> =
        exported().filter(|r| r.kinds.iter().any(|(g, _)| g.contains('.') && *g != MULTUS)).collect();
    let kinds: BTreeMap<String, String> = rules
        .iter()
        .flat_map(|r| r.kinds)
        .filter_map(|(_, kind)| {
            let stem = kind.to_lowercase();
            let stem = stem.strip_suffix('y').unwrap_or(&stem);
            Some(((*kind).to_owned(), plurals.iter().find(|p| p.starts_with(stem))?.clone()))
        })
        .collect();
    let mut objects = BTreeMap::new();
    for rule in &rules {
        for example in [rule.files.bad, rule.files.good].iter().flat_map(|m| subjects(rule, m, &namespace)) {
            objects.extend(variants(&example).into_iter().map(|o| (o.to_string(), o)));
        }
    }
    let objects: Vec<Value> = objects.into_values().collect();
    let mut api = super::support::creates::Creator::new(plane);
    for rule in &rules {
        let bad = subjects(rule, rule.files.bad, &namespace);
        policies.until(&format!("{} is in force", rule.id), || {
            for object in &bad {
                let path = collection(object, &kinds, &namespace).ok_or("no such kind")?;
                let said = said(api.create_at(&path, object)?)?.map(|(_, said)| said).unwrap_or_default();
                if said.iter().any(|(id, _)| id == rule.id) {
                    return Ok(true);
                }
            }
            Ok(false)
        })?;
    }
    let results = each(plane, &objects, |api, object| {
        let path = collection(object, &kinds, &namespace).ok_or("no such kind")?;
        said(api.create_at(&path, object)?).map_err(|e| format!("{e}: {object}"))
    });
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (mut taken, mut problems) = (0, Vec::new());
    for result in results {
        let Some((stored, said)) = result? else { continue };
        taken += 1;
        let ours = judged(&stored);
        for (id, severity) in said.difference(&ours) {
            problems.push(format!("the policy says {id} as {severity}, the rule does not: {stored}"));
        }
        for rule in &rules {
            let cel = rule.cel().ok_or("no CEL")?;
            let count = counts.entry(rule.id).or_default();
            count.0 += usize::from(said.iter().any(|(id, _)| id == rule.id));
            count.1 += usize::from(ours.iter().any(|(id, _)| id == rule.id));
            let silent = ours.difference(&said).find(|(id, _)| id == rule.id);
            if let Some((id, severity)) = silent.filter(|_| cel.beyond.is_none()) {
                problems.push(format!("the rule says {id} as {severity}, the policy does not: {stored}"));
            }
        }
    }
    eprintln!(
        "{taken} of {} objects; by rule, spoken of by the policy and by the rule: {counts:?}",
        objects.len()
    );
    assert!(
        problems.is_empty(),
        "{} problems, such as\n{}",
        problems.len(),
        problems[..problems.len().min(4)].join("\n")
    );
    assert!(taken > 500, "too few objects are taken");
    let silent: Vec<_> = counts.iter().filter(|(_, (policy, _))| *policy == 0).collect();
    assert!(silent.is_empty(), "never seen to speak: {silent:?}");
    Ok(())
}
