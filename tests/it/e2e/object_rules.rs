//! Every rule on objects that can deny: the API server refuses the bad example because of it, and takes the good one.
//!
//! The CRDs are the real ones where the shared data has them, so that what their schemas refuse already is seen.

use super::support::plane::Plane;
use super::support::site::Site;
use super::trial;
use crate::support::round_trip::documents;
use crate::support::suite::{Need, Outcome, Suite};
use crate::support::{names, read};
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::decide_object_that_makes_no_pods;
use fabric_admission::rules::{ObjectContext, ObjectEvent, RULES, Rule, Severity};
use fabric_admission::snapshot::Snapshot;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Bad examples that never come to us, since the schema of the CRD refuses them. The rules speak offline, where nobody
/// else does.
const SCHEMA: &[&str] = &["FAB366"];

/// Groups of kinds that are judged elsewhere: FabricProfiles in `custom_resource`.
const OTHERS: &[&str] = &["fabric-admission.dev"];

/// Rules that deny pods alone; of objects they warn.
const OF_PODS: &[&str] = &["FAB136", "FAB222", "FAB223"];

/// Group and kind.
pub(super) type Name = (String, String);

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "rules_on_objects_deny_their_bad_examples", deny);
}

fn name(object: &Value) -> Name {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    (group.to_owned(), object["kind"].as_str().unwrap_or_default().to_owned())
}

fn judged() -> Vec<&'static Rule> {
    let own = |rule: &&Rule| rule.kinds.iter().any(|(group, _)| !OTHERS.contains(group));
    let denies =
        |m: &&Rule| m.severity == Severity::Error && !m.files.bad.is_empty() && !OF_PODS.contains(&m.id);
    RULES.iter().copied().filter(denies).filter(own).collect()
}

fn objects(manifest: &str) -> Vec<Value> {
    documents(manifest.as_bytes()).into_iter().map(|(_, json)| json).collect()
}

/// Manifests of the CRDs of some kinds, real ones first.
pub(super) fn crds(kinds: &BTreeSet<Name>) -> Result<BTreeMap<Name, Value>, String> {
    let mut found = BTreeMap::new();
    let directory = Need::Shared.find().map(|d| d.join("crds"));
    for directory in directory.iter().filter(|d| d.is_dir()) {
        for file in names(directory).iter().filter(|n| n.ends_with(".yaml")) {
            let text = read(&directory.join(file))?;
            for crd in objects(&text).into_iter().filter(|o| o["kind"] == "CustomResourceDefinition") {
                let spec =
                    |path: &str| crd.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
                let kind = (spec("/spec/group"), spec("/spec/names/kind"));
                if kinds.contains(&kind) && !found.contains_key(&kind) {
                    found.insert(kind, crd);
                }
            }
        }
    }
    for kind in kinds {
        found.entry(kind.clone()).or_insert_with(|| permissive(kind));
    }
    Ok(found)
}

fn permissive((group, kind): &Name) -> Value {
    let singular = kind.to_lowercase();
    let plural = match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{singular}s"),
    };
    let version = if group == "mellanox.com" { "v1alpha1" } else { "v1" };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "singular": singular, "kind": kind},
            "versions": [{"name": version, "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
}

/// Leaves the CRDs as the other trials expect them.
pub(super) struct Restore<'a>(pub(super) &'a Plane, pub(super) Vec<String>);

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        for crd in &self.1 {
            let _ = self.0.kubectl(&["delete", "crd", crd, "--wait=true"], "");
        }
        let _ = self.0.install_crds();
    }
}

pub(super) fn install(plane: &Plane, crds: &BTreeMap<Name, Value>) -> Result<(), String> {
    // A CRD of the same name and another schema would be merged with; none of them has objects.
    for crd in crds.values() {
        let name = crd["metadata"]["name"].as_str().unwrap_or_default();
        plane.kubectl(&["delete", "crd", name, "--ignore-not-found", "--wait=true"], "")?;
    }
    for crd in crds.values() {
        let done = plane.kubectl(&["create", "-f", "-"], &crd.to_string())?;
        if !done.ok {
            return Err(done.stderr);
        }
    }
    for crd in crds.values() {
        let resource = crd["metadata"]["name"].as_str().unwrap_or_default();
        plane.until(&format!("{resource} is served"), Duration::from_secs(30), || {
            Ok(plane.kubectl(&["get", resource, "-A"], "")?.ok)
        })?;
    }
    Ok(())
}

fn deny(plane: &Plane) -> Outcome {
    let rules = judged();
    let custom = |(group, _): &&(&'static str, &'static str)| group.contains('.') && !OTHERS.contains(group);
    let kinds: BTreeSet<Name> = rules
        .iter()
        .flat_map(|m| m.kinds.iter().filter(custom))
        .map(|(group, kind)| ((*group).to_owned(), (*kind).to_owned()))
        .collect();
    let crds = crds(&kinds)?;
    let installed = crds.values().filter_map(|c| Some(c["metadata"]["name"].as_str()?.to_owned()));
    let _restore = Restore(plane, installed.collect());
    install(plane, &crds)?;
    let mut namespaces = BTreeSet::new();
    let mut wrong = Vec::new();
    let shared = Site::start(plane, &[], &["--network-objects", "enforce"])?;
    let mut alone: Vec<(&Rule, bool)> = Vec::new();
    for rule in &rules {
        for (manifest, bad) in [(rule.files.bad, true), (rule.files.good, false)] {
            for object in objects(manifest) {
                if let Some(namespace) = object["metadata"]["namespace"].as_str()
                    && namespaces.insert(namespace.to_owned())
                {
                    plane.apply(&format!(
                        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}\n"
                    ))?;
                }
            }
            if objects(manifest).len() > 1 {
                // Without a client certificate an object is judged by itself: `client_certificates` has the rest.
                if !bad || is_bad_by_itself(rule) {
                    alone.push((rule, bad));
                }
            } else {
                judge(plane, rule, bad, &mut wrong)?;
            }
        }
    }
    assert!(shared.requests("objects")? > 0, "nothing was asked");
    drop(shared);
    // Examples of several objects: what is said of one stands on the others.
    for (rule, bad) in alone {
        let facts = if bad { rule.files.bad } else { rule.files.good };
        let args = ["--network-objects", "enforce", "--cluster", "facts.yaml"];
        let _site = Site::start(plane, &[("facts.yaml", facts)], &args)?;
        judge(plane, rule, bad, &mut wrong)?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Whether the bad example shows what is wrong without facts about other objects.
fn is_bad_by_itself(rule: &Rule) -> bool {
    objects(rule.files.bad).iter().any(|object| {
        let (group, kind) = name(object);
        let (json, snapshot) = (object.to_string(), Snapshot::default());
        let context = ObjectContext::new((&group, &kind), &json, ObjectEvent::Given, &snapshot)
            .already_checked_by_api_server();
        let decided = decide_object_that_makes_no_pods(&context, EnforcementMode::Enforce);
        decided.findings.iter().any(|f| f.rule == rule.id && f.severity == Severity::Error)
    })
}

/// Creates the objects of an example that a rule is about, one at a time.
fn judge(plane: &Plane, rule: &Rule, bad: bool, wrong: &mut Vec<String>) -> Result<(), String> {
    let id = rule.id;
    let mut refused = false;
    for object in objects(if bad { rule.files.bad } else { rule.files.good }) {
        let (group, kind) = name(&object);
        if !rule.kinds.contains(&(group.as_str(), kind.as_str())) {
            continue;
        }
        // Fields that the schema does not know are dropped, as they are for every client but kubectl.
        let args = ["create", "--dry-run=server", "--validate=ignore", "-f", "-"];
        let done = plane.kubectl(&args, &object.to_string())?;
        let ours = done.stderr.contains("admission webhook \"objects.fabric-admission.dev\" denied");
        match (bad, done.ok) {
            (false, false) => wrong.push(format!("{id}, good {kind}: {}", done.stderr)),
            (false, true) if done.stderr.contains("Warning: FAB") => {
                wrong.push(format!("{id}, good {kind}: {}", done.stderr));
            }
            (true, false) if SCHEMA.contains(&id) && !ours => refused = true,
            (true, false) if ours && done.stderr.contains(id) => refused = true,
            (true, false) => wrong.push(format!("{id}, bad {kind}: {}", done.stderr)),
            _ => {}
        }
    }
    if bad && !refused {
        wrong.push(format!("{id}: the bad example is taken"));
    }
    Ok(())
}
