//! The rights of `deploy/base/rbac.yaml` are those that the server uses: no kind of its watches without one, and none
//! besides. That they are enough, `e2e::status_is_written_by_one_replica_with_our_rights` shows.

use crate::support::round_trip::{documents, same};
use crate::support::suite::Suite;
use crate::support::{read, root};
use fabric_admission::cluster::watched_kinds::WATCHED;
use fabric_admission::cluster::write_profile_status::LEASE;
use fabric_admission::discover::FURTHER_KINDS;
use fabric_admission::pod::workload_kinds::KINDS;
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("rights_of_the_server::are_those_that_are_used", || Ok(used()?));
    suite.add("rights_of_the_server::each_has_its_reason", || Ok(reasons()?));
    suite.add("rights_of_the_server::of_the_auditor", || Ok(auditor()?));
}

/// Kind of the role, group, resource, verb and name.
type Right = (String, String, String, String, String);

fn right(role: &str, group: &str, resource: &str, verb: &str, name: &str) -> Right {
    (role.into(), group.into(), resource.into(), verb.into(), name.into())
}

fn file() -> Result<String, String> {
    read(&root().join("deploy/base/rbac.yaml"))
}

fn used() -> Result<(), String> {
    let mut expected = BTreeSet::new();
    for kind in WATCHED {
        for verb in ["list", "watch"] {
            expected.insert(right("ClusterRole", kind.group, kind.plural, verb, ""));
        }
    }
    expected.insert(right("ClusterRole", "fabric-admission.dev", "fabricprofiles/status", "patch", ""));
    let leases = |verb, name| right("Role", "coordination.k8s.io", "leases", verb, name);
    expected.extend([leases("create", ""), leases("get", LEASE), leases("update", LEASE)]);
    // Certificates of our own: one Secret, and two configurations of which only the caBundle is written.
    expected.insert(right("Role", "", "secrets", "create", ""));
    for verb in ["get", "watch", "update"] {
        expected.insert(right("Role", "", "secrets", verb, "fabric-admission-ca"));
    }
    expected.insert(right("Role", "events.k8s.io", "events", "create", ""));
    let group = "admissionregistration.k8s.io";
    for verb in ["get", "watch", "patch"] {
        for (kind, name) in [("mutating", "pod-fabric-admission"), ("validating", "fabric-admission")] {
            let plural = format!("{kind}webhookconfigurations");
            expected.insert(right("ClusterRole", group, &plural, verb, name));
        }
    }
    let mut found = BTreeSet::new();
    let words = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|v| Some(v.as_str()?.to_owned())).collect()
    };
    for (_, object) in documents(file()?.as_bytes()) {
        let role = object["kind"].as_str().unwrap_or_default();
        for rule in object["rules"].as_array().into_iter().flatten() {
            let names = Some(words(&rule["resourceNames"])).filter(|n| !n.is_empty());
            for group in words(&rule["apiGroups"]) {
                for resource in words(&rule["resources"]) {
                    for verb in words(&rule["verbs"]) {
                        for name in names.clone().unwrap_or_else(|| vec![String::new()]) {
                            found.insert(right(role, &group, &resource, &verb, &name));
                        }
                    }
                }
            }
        }
    }
    same("rights that are missing", BTreeSet::new(), &expected - &found)?;
    same("rights that nothing uses", BTreeSet::new(), &found - &expected)
}

/// The auditor lists every kind that is a fact or makes pods, pods, and what `discover` reads besides, and changes nothing.
fn auditor() -> Result<(), String> {
    let text = read(&root().join("deploy/components/auditor/clusterrole.yaml"))?;
    let (_, role) = documents(text.as_bytes()).into_iter().next().ok_or("no role")?;
    let words = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|v| Some(v.as_str()?.to_owned())).collect()
    };
    let mut found = BTreeSet::new();
    for rule in role["rules"].as_array().into_iter().flatten() {
        for group in words(&rule["apiGroups"]) {
            for resource in words(&rule["resources"]) {
                for verb in words(&rule["verbs"]) {
                    found.insert((group.clone(), resource.clone(), verb));
                }
            }
        }
    }
    let list = |group: &str, plural: &str| (group.to_owned(), plural.to_owned(), "list".to_owned());
    let mut expected: BTreeSet<_> = WATCHED.iter().map(|kind| list(kind.group, kind.plural)).collect();
    // The plural of each of these kinds is the kind with an s.
    expected.extend(KINDS.iter().map(|kind| list(kind.group, &format!("{}s", kind.kind.to_lowercase()))));
    expected.insert(list("", "pods"));
    expected.extend(FURTHER_KINDS.iter().map(|(group, _, plural, _)| list(group, plural)));
    expected.insert(("apps".to_owned(), "replicasets".to_owned(), "get".to_owned()));
    same("rights that are missing", BTreeSet::new(), &expected - &found)?;
    same("rights that nothing uses", BTreeSet::new(), &found - &expected)
}

fn reasons() -> Result<(), String> {
    let text = file()?;
    let lines: Vec<&str> = text.lines().collect();
    let bare = lines.windows(2).filter(|two| {
        two[1].trim_start().starts_with("- apiGroups:") && !two[0].trim_start().starts_with('#')
    });
    same("rules without a comment", Vec::<&str>::new(), bare.map(|two| two[1]).collect())
}
