//! The `status` of a FabricProfile. No decision reads it.

use super::index_of_admitted_namespaces::NamespacesOfAllProfiles;
use super::{MissingNetworkOrResource, missing_for_every_namespace, rail_faults};
use crate::json::decode_with_place::decode_object as decode;
use crate::nodes::ClassSet;
use crate::profile::{FabricProfile, FabricProfileStatus, Problem, Profile};
use crate::snapshot::Snapshot;
use crate::text::count_with_noun;

/// Most problems, the same limit as in the CRD.
const MAX_PROBLEMS: usize = 64;
/// Most namespaces that are named, the same limit as in the CRD.
const MAX_NAMESPACES: usize = 64;
/// Most profiles that a problem names.
const MOST_NAMES: usize = 5;

/// The relation of a profile object to the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileUse {
    /// It cannot be used.
    Unusable,
    /// The snapshot has another profile of its name, or none: a file has the name, or the snapshot is older.
    Other,
    /// Decisions use it.
    Used,
}

/// The statuses of the profiles of a snapshot.
pub struct Statuses<'s> {
    snapshot: &'s Snapshot,
    namespaces: NamespacesOfAllProfiles<'s>,
}

impl<'s> Statuses<'s> {
    /// What the statuses of several profiles have in common.
    #[must_use]
    pub fn index_namespaces_for_statuses(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, namespaces: NamespacesOfAllProfiles::of(snapshot) }
    }

    /// The status of a profile object, given as JSON text, without `observedGeneration`.
    #[must_use]
    pub fn of_object(&self, json: &str) -> (FabricProfileStatus, ProfileUse) {
        match decode::<FabricProfile>(json) {
            Ok(profile) => status_of_profile(&profile, self),
            Err(error) => (broken(&error.pointer, &error.message), ProfileUse::Unusable),
        }
    }
}

/// The status of a profile without `observedGeneration`, which the snapshot does not know.
fn status_of_profile(profile: &FabricProfile, statuses: &Statuses<'_>) -> (FabricProfileStatus, ProfileUse) {
    let snapshot = statuses.snapshot;
    let resolved = match Profile::checked_with_base(profile, snapshot.bases()) {
        Ok(resolved) => resolved,
        Err(error) => return (broken(&error.pointer, &error.message), ProfileUse::Unusable),
    };
    match snapshot.profile(&resolved.name) {
        Some(used) if **used == resolved => {}
        found => {
            let message = match found {
                Some(_) => {
                    "this profile is not used: a file in --profiles has another profile of the same name"
                }
                None => "this profile is not used: the server has not read this profile yet",
            };
            let status = FabricProfileStatus {
                problems: vec![problem("/metadata/name", message)],
                ..values(&resolved)
            };
            return (status, ProfileUse::Other);
        }
    }
    let nodes = snapshot.all_nodes();
    let classes = snapshot.catalog().node_classes_of(&resolved.name).filter(|_| !nodes.is_empty());
    let matching = classes.map(|set| nodes.count_nodes_of_classes(set));
    let mut problems: Vec<Problem> = missing_for_every_namespace(&resolved, snapshot)
        .iter()
        .map(|what| Problem {
            pointer: pointer_of_missing_in_profile(profile, what),
            message: match what {
                MissingNetworkOrResource::Network(_) => {
                    format!("{what} does not exist: the webhook does not inject the profile")
                }
                MissingNetworkOrResource::Resource(_) => {
                    format!("{what} is on none of the profile's nodes: pods of the profile stay Pending")
                }
            },
        })
        .collect();
    problems.extend(rail_faults(&resolved, snapshot).into_iter().map(|fault| Problem {
        pointer: pointer_of_missing_in_profile(profile, &fault.at),
        message: fault.message,
    }));
    if resolved.node_selector.is_some() && matching == Some(0) {
        let message = "no node has these labels: a pod gets the profile only if the pod names the profile, or if its selectors ask for these labels";
        problems.push(Problem { pointer: "/spec/nodeSelector".into(), message: message.into() });
    }
    if let Some(set) = classes {
        problems.extend(problem_of_equal_priority(&resolved, set, statuses));
    }
    problems.truncate(MAX_PROBLEMS);
    let matching_nodes = matching.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let users = statuses.namespaces.namespaces_that_use(&resolved);
    let matching_namespaces = Some(u32::try_from(users.len()).unwrap_or(u32::MAX));
    let namespaces = users.into_iter().take(MAX_NAMESPACES).map(str::to_owned).collect();
    let status = FabricProfileStatus {
        matching_nodes,
        matching_namespaces,
        namespaces,
        problems,
        ..values(&resolved)
    };
    (status, ProfileUse::Used)
}

/// The values that the profile has with those of its base: `kubectl get` can print only what is in the object.
fn values(resolved: &Profile) -> FabricProfileStatus {
    FabricProfileStatus {
        transport: word(resolved.transport),
        attachment: word(resolved.attachment),
        priority: Some(resolved.priority),
        notes: if resolved.namespaces.is_none() {
            vec![note_that_every_namespace_may_use()]
        } else {
            Vec::new()
        },
        ..FabricProfileStatus::default()
    }
}

/// Nothing else shows that a tenant can use what was meant for one team.
fn note_that_every_namespace_may_use() -> Problem {
    problem("/spec/namespaces", "not set: pods of every namespace can use the profile")
}

/// The word of a profile's schema for a value.
fn word(value: impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn broken(pointer: &str, message: &str) -> FabricProfileStatus {
    FabricProfileStatus { problems: vec![problem(pointer, message)], ..FabricProfileStatus::default() }
}

fn problem(pointer: &str, message: &str) -> Problem {
    let message = crate::text::escaped_and_cut(message, 1024);
    Problem { pointer: crate::text::escaped_and_cut(pointer, 1000), message }
}

/// Path where the profile names a network or resource; its base, if the profile does not name it itself.
#[must_use]
pub fn pointer_of_missing_in_profile(profile: &FabricProfile, what: &MissingNetworkOrResource) -> String {
    let spec = &profile.spec;
    let rail = |found: &dyn Fn(&crate::profile::schema::Rail) -> bool, field: &str| {
        let at = spec.rails.iter().flatten().position(found)?;
        Some(format!("/spec/rails/{at}/{field}"))
    };
    let found = match what {
        MissingNetworkOrResource::Network(name) => rail(&|r| r.network == *name, "network"),
        MissingNetworkOrResource::Resource(name) => rail(&|r| r.resource.as_ref() == Some(name), "resource")
            .or_else(|| {
                let at = spec.resources.iter().flatten().position(|r| r.name == *name)?;
                Some(format!("/spec/resources/{at}/name"))
            }),
    };
    found.unwrap_or_else(|| "/spec/base".to_owned())
}

/// Other profiles of the same priority on the same nodes: only the pod's own fields decide between them.
fn problem_of_equal_priority(
    profile: &Profile,
    classes: &ClassSet,
    statuses: &Statuses<'_>,
) -> Option<Problem> {
    let (catalog, nodes) = (statuses.snapshot.catalog(), statuses.snapshot.all_nodes());
    let equal = catalog.iter().filter(|o| o.priority == profile.priority && o.name != profile.name);
    let on_nodes = equal.filter_map(|other| Some((other, catalog.node_classes_of(&other.name)?)));
    let meeting = on_nodes.filter(|(other, set)| {
        !set.is_disjoint(classes) && statuses.namespaces.admit_a_common_namespace(profile, other)
    });
    let mut shared = nodes.classes().empty_set();
    let (mut count_of_others, mut names) = (0_usize, Vec::new());
    for (other, set) in meeting {
        shared.union_with(set);
        count_of_others += 1;
        if names.len() < MOST_NAMES {
            names.push(other.name.as_str());
        }
    }
    shared.intersect_with(classes);
    let shared = nodes.count_nodes_of_classes(&shared);
    if shared == 0 {
        return None;
    }
    let more = count_of_others - names.len();
    let (names, more) =
        (names.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() });
    let message = format!(
        "priority {} is also the priority of {names}{more} on {}: a pod that can run on these nodes gets a profile only if \
         the pod names a profile, or if its selectors ask for the nodes of only one profile",
        profile.priority,
        count_with_noun(shared, "node")
    );
    Some(Problem { pointer: "/spec/priority".into(), message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Builder, Layer};

    fn profile(name: &str, spec: &str) -> String {
        format!(
            r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"{name}"}},
            "spec":{{"transport":"roce","attachment":"sriov",{spec}}}}}"#
        )
    }

    /// The status of the first profile in a cluster of these profiles, two nodes and one network.
    fn status(profiles: &[&str]) -> (FabricProfileStatus, ProfileUse) {
        let mut builder = Builder::default();
        for json in profiles {
            builder.add(Layer::Live, "fabric-admission.dev", "FabricProfile", json, "").unwrap();
        }
        for name in ["n1", "n2"] {
            let node = format!(
                r#"{{"metadata":{{"name":"{name}","labels":{{"fabric":"east"}}}},"status":{{"allocatable":{{"x.com/nic":"8"}}}}}}"#
            );
            builder.add(Layer::Live, "", "Node", &node, "").unwrap();
        }
        for (name, team) in [("a", "a"), ("b", "b")] {
            let json = format!(
                r#"{{"metadata":{{"name":"{name}","labels":{{"fabric-admission.dev/mode":"enforce","team":"{team}"}}}}}}"#
            );
            builder.add(Layer::Live, "", "Namespace", &json, "").unwrap();
        }
        // From the layer whose networks are a whole list.
        let network = r#"{"metadata":{"name":"net","namespace":"fabric"}}"#;
        let group = "k8s.cni.cncf.io";
        builder.add(Layer::Cluster, group, "NetworkAttachmentDefinition", network, "").unwrap();
        Statuses::index_namespaces_for_statuses(&builder.build()).of_object(profiles[0])
    }

    fn problems(profiles: &[&str]) -> Vec<(String, String)> {
        status(profiles).0.problems.into_iter().map(|p| (p.pointer, p.message)).collect()
    }

    const EAST: &str = r#""nodeSelector":{"matchLabels":{"fabric":"east"}}"#;

    #[test]
    fn a_profile_without_problems() {
        let rails = r#""rails":[{"network":"fabric/net","resource":"x.com/nic"},{"network":"own"}]"#;
        let (found, standing) = status(&[&profile("p", &format!("{EAST},{rails}"))]);
        let expected = FabricProfileStatus {
            transport: Some("roce".into()),
            attachment: Some("sriov".into()),
            priority: Some(0),
            matching_nodes: Some(2),
            notes: vec![note_that_every_namespace_may_use()],
            matching_namespaces: Some(2),
            namespaces: vec!["a".into(), "b".into()],
            ..FabricProfileStatus::default()
        };
        assert_eq!((found, standing), (expected, ProfileUse::Used));
    }

    #[test]
    fn only_a_profile_without_namespaces_is_noted_as_open() {
        for (namespaces, notes) in
            [("", 1), (r#","namespaces":{}"#, 0), (r#","namespaces":{"matchLabels":{"team":"a"}}"#, 0)]
        {
            assert_eq!(status(&[&profile("p", &format!("{EAST}{namespaces}"))]).0.notes.len(), notes);
        }
    }

    #[test]
    fn inherited_values_are_in_the_status() {
        let base: FabricProfile =
            decode(&profile("base", r#""priority":7"#).replace("sriov", "host-device")).unwrap();
        let json = r#"{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile",
            "metadata":{"name":"p"},"spec":{"base":"base"}}"#;
        let mut builder = Builder::new(vec![base]);
        let unknown = builder.build();
        builder.add(Layer::Live, "fabric-admission.dev", "FabricProfile", json, "").unwrap();
        // Whether decisions use the object or not.
        for (snapshot, expected) in [(builder.build(), ProfileUse::Used), (unknown, ProfileUse::Other)] {
            let (status, standing) = Statuses::index_namespaces_for_statuses(&snapshot).of_object(json);
            let values = (status.transport.as_deref(), status.attachment.as_deref(), status.priority);
            assert_eq!((values, standing), ((Some("roce"), Some("host-device"), Some(7)), expected));
        }
    }

    #[test]
    fn missing_objects_are_reported_at_the_profiles_field() {
        let spec = r#""rails":[{"network":"fabric/net"},{"network":"fabric/gone","resource":"x.com/gone"}],
            "resources":[{"name":"x.com/hca","quantity":1}]"#;
        let found = problems(&[&profile("p", &format!("{EAST},{spec}"))]);
        let pointers: Vec<&str> = found.iter().map(|(p, _)| p.as_str()).collect();
        assert_eq!(
            pointers,
            ["/spec/rails/1/network", "/spec/rails/1/resource", "/spec/resources/0/name"],
            "{found:?}"
        );
        assert!(found[0].1.starts_with("network fabric/gone does not exist"), "{found:?}");
    }

    #[test]
    fn a_selector_without_nodes_is_reported() {
        let west = profile("p", r#""nodeSelector":{"matchLabels":{"fabric":"west"}}"#);
        assert_eq!(status(&[&west]).0.matching_nodes, Some(0));
        assert_eq!(problems(&[&west])[0].0, "/spec/nodeSelector");
        // Instance types are for a pool at zero.
        let (types, _) = status(&[&profile("p", r#""instanceTypes":["p5.48xlarge"]"#)]);
        assert_eq!((types.matching_nodes, types.problems.len()), (Some(0), 0));
        assert_eq!(status(&[&profile("p", r#""priority":1"#)]).0.matching_nodes, None);
    }

    #[test]
    fn rails_in_one_subnet_are_reported() {
        let group = "k8s.cni.cncf.io";
        let status = |second: &str| {
            let mut builder = Builder::default();
            for (name, range) in [("a", "10.1.0.0/16"), ("b", second)] {
                let config = format!(
                    r#"{{\"type\":\"macvlan\",\"ipam\":{{\"type\":\"whereabouts\",\"range\":\"{range}\"}}}}"#
                );
                let json = format!(
                    r#"{{"metadata":{{"name":"{name}","namespace":"fabric"}},"spec":{{"config":"{config}"}}}}"#
                );
                builder.add(Layer::Cluster, group, "NetworkAttachmentDefinition", &json, "").unwrap();
            }
            let json = profile("p", r#""rails":[{"network":"fabric/a"},{"network":"fabric/b"}]"#);
            builder.add(Layer::Live, "fabric-admission.dev", "FabricProfile", &json, "").unwrap();
            Statuses::index_namespaces_for_statuses(&builder.build()).of_object(&json).0.problems
        };
        let found = status("10.1.64.0/18");
        assert_eq!((found.len(), found[0].pointer.as_str()), (1, "/spec/rails/1/network"));
        assert!(found[0].message.contains("share subnet 10.1.0.0/16"), "{found:?}");
        assert!(status("10.2.0.0/16").is_empty());
    }

    #[test]
    fn equal_priorities_on_the_same_nodes_are_reported() {
        let first = profile("p", EAST);
        let found =
            problems(&[&first, &profile("q", EAST), &profile("r", &format!(r#"{EAST},"priority":1"#))]);
        assert_eq!((found.len(), found[0].0.as_str()), (1, "/spec/priority"));
        assert!(found[0].1.contains("is also the priority of q on 2 nodes"), "{found:?}");
        let team = |name: &str, team: &str| {
            profile(name, &format!(r#"{EAST},"namespaces":{{"matchLabels":{{"team":"{team}"}}}}"#))
        };
        assert!(problems(&[&team("p", "a"), &team("q", "b")]).is_empty());
        assert_eq!(problems(&[&team("p", "a"), &team("q", "a")]).len(), 1);
    }

    #[test]
    fn an_unused_profile_has_a_reason() {
        let snapshot = Snapshot::default();
        let statuses = Statuses::index_namespaces_for_statuses(&snapshot);
        let (broken, standing) = statuses.of_object(&profile("p", r#""bootstrap":"rail9""#));
        assert_eq!(
            (broken.problems[0].pointer.as_str(), standing),
            ("/spec/bootstrap", ProfileUse::Unusable)
        );
        let (unknown, standing) = statuses.of_object(&profile("p", EAST));
        assert_eq!((unknown.problems[0].pointer.as_str(), standing), ("/metadata/name", ProfileUse::Other));
        let (unread, standing) = statuses.of_object(&profile("p", r#""rails":3"#));
        assert_eq!((unread.problems[0].pointer.as_str(), standing), ("/spec/rails", ProfileUse::Unusable));
    }
}
