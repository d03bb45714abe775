//! Which namespaces each of all profiles admits. The statuses of all profiles ask for these sets together, so each selector
//! is evaluated once, by an index of the namespaces' labels.

use crate::facts::{EnforcementMode, NamespaceFacts};
use crate::nodes::Relation;
use crate::profile::Profile;
use crate::profile::schema::LabelSelector;
use crate::snapshot::Snapshot;
use fixedbitset::FixedBitSet;
use std::collections::HashMap;

/// The namespaces of a snapshot, and the sets of them that its profiles admit.
pub(super) struct NamespacesOfAllProfiles<'s> {
    /// Names in order; their positions are the numbers in all sets.
    names: Vec<&'s str>,
    enforcing: FixedBitSet,
    /// Namespaces whose default is the profile of this name.
    defaults: HashMap<&'s str, Vec<usize>>,
    /// The admitted namespaces of each profile with a selector, among those that opted in.
    admitted: HashMap<&'s str, FixedBitSet>,
}

/// The opted-in namespaces, by the labels that selectors ask for. A namespace may have thousands of other labels.
struct NamespacesByLabel<'s> {
    opted_in: FixedBitSet,
    /// Those with more labels than are kept.
    with_more: FixedBitSet,
    by_key: HashMap<&'s str, OfKey<'s>>,
}

/// The namespaces that have a label, and those with each value.
#[derive(Default)]
struct OfKey<'s> {
    all: Vec<usize>,
    by_value: HashMap<&'s str, Vec<usize>>,
}

impl<'s> NamespacesOfAllProfiles<'s> {
    pub(super) fn of(snapshot: &'s Snapshot) -> Self {
        let known = snapshot.namespaces();
        let none = FixedBitSet::with_capacity(known.len());
        let selectors = || snapshot.catalog().iter().filter_map(|p| Some((&*p.name, p.namespaces.as_ref()?)));
        let keys = selectors()
            .flat_map(|(_, selector)| selector.label_requirements().map(|condition| condition.key));
        let by_key = keys.map(|key| (key, OfKey::default())).collect();
        let mut index = NamespacesByLabel { opted_in: none.clone(), with_more: none.clone(), by_key };
        let (mut enforcing, mut defaults): (_, HashMap<&str, Vec<usize>>) = (none, HashMap::new());
        for (number, (_, facts)) in known.iter().enumerate() {
            if let Some(profile) = facts.profile.as_deref() {
                defaults.entry(profile).or_default().push(number);
            }
            if let Some(mode) = facts.mode() {
                enforcing.set(number, mode == EnforcementMode::Enforce);
                index.add(number, facts);
            }
        }
        let admitted = selectors().map(|(name, selector)| (name, index.admitted(selector))).collect();
        Self { names: known.into_keys().collect(), enforcing, defaults, admitted }
    }

    /// The namespaces that use a profile of the snapshot, in order: those whose default it is, and those with mode `enforce`
    /// that it admits.
    pub(super) fn namespaces_that_use(&self, profile: &Profile) -> Vec<&'s str> {
        let mut users = self.enforcing.clone();
        if let Some(admitted) = self.admitted.get(&*profile.name) {
            users.intersect_with(admitted);
        }
        if let Some(named) = self.defaults.get(&*profile.name) {
            users.extend(named.iter().copied());
        }
        users.ones().filter_map(|number| self.names.get(number).copied()).collect()
    }

    /// Whether one pod may use both profiles of the snapshot: teams may have their own profiles on shared nodes.
    pub(super) fn admit_a_common_namespace(&self, one: &Profile, other: &Profile) -> bool {
        match (self.admitted.get(&*one.name), self.admitted.get(&*other.name)) {
            (Some(one), Some(other)) => !one.is_disjoint(other),
            // A profile without a selector admits every namespace, unknown ones too.
            _ => true,
        }
    }
}

impl<'s> NamespacesByLabel<'s> {
    fn add(&mut self, number: usize, facts: &'s NamespaceFacts) {
        self.opted_in.insert(number);
        self.with_more.set(number, facts.has_more_labels);
        for (key, value) in &facts.labels {
            if let Some(of_key) = self.by_key.get_mut(key.as_str()) {
                of_key.all.push(number);
                of_key.by_value.entry(value).or_default().push(number);
            }
        }
    }

    /// The namespaces that meet every condition of a selector.
    fn admitted(&self, selector: &LabelSelector) -> FixedBitSet {
        let mut found = self.opted_in.clone();
        for condition in selector.label_requirements() {
            let mut fits = FixedBitSet::with_capacity(found.len());
            let of_key = self.by_key.get(condition.key);
            if !self.with_more.is_clear() {
                // Whether they have a label that is not kept is unknown, see `admits`.
                let mut unknown = self.with_more.clone();
                of_key.into_iter().flat_map(|of_key| &of_key.all).for_each(|number| unknown.remove(*number));
                found.difference_with(&unknown);
            }
            if matches!(condition.relation, Relation::Exists | Relation::DoesNotExist) {
                fits.extend(of_key.into_iter().flat_map(|of_key| &of_key.all).copied());
            } else {
                let of_value =
                    |value| of_key.and_then(|of_key| of_key.by_value.get(value)).into_iter().flatten();
                fits.extend(condition.values.iter().flat_map(of_value).copied());
            }
            match condition.relation {
                Relation::In | Relation::Exists => found.intersect_with(&fits),
                // A namespace without the label satisfies NotIn. Selectors of namespaces have no Gt and Lt.
                _ => found.difference_with(&fits),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{admits, namespaces_that_use};
    use crate::snapshot::{Builder, Layer};
    use std::collections::BTreeSet;

    const TERMS: [&str; 7] = [
        r#""matchLabels":{"team":"a"}"#,
        r#""matchLabels":{"team":"a","zone":"1"}"#,
        r#""matchExpressions":[{"key":"team","operator":"In","values":["b","c","none"]}]"#,
        r#""matchExpressions":[{"key":"team","operator":"NotIn","values":["a","b"]}]"#,
        r#""matchExpressions":[{"key":"team","operator":"Exists"},{"key":"zone","operator":"DoesNotExist"}]"#,
        r#""matchExpressions":[{"key":"none","operator":"In","values":["a"]}]"#,
        "",
    ];

    /// The sets are what each question by itself says.
    #[test]
    fn sets_are_as_each_namespace_says() {
        let mut builder = Builder::default();
        let add = |builder: &mut Builder, group: &str, kind: &str, json: &str| {
            builder.add(Layer::Live, group, kind, json, "").unwrap();
        };
        let base = r#""transport":"roce","attachment":"sriov""#;
        for (number, term) in TERMS.iter().enumerate() {
            let json = format!(
                r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"p{number}"}},"spec":{{{base},"namespaces":{{{term}}}}}}}"#
            );
            add(&mut builder, "fabric-admission.dev", "FabricProfile", &json);
        }
        let open = format!(
            r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"open"}},"spec":{{{base}}}}}"#
        );
        add(&mut builder, "fabric-admission.dev", "FabricProfile", &open);
        let mut number = 0;
        for mode in ["enforce", "audit", "other"] {
            for team in ["a", "b", "c", ""] {
                for zone in ["1", "2", ""] {
                    let label = |key: &str, value: &str| match value {
                        "" => String::new(),
                        value => format!(r#","{key}":"{value}""#),
                    };
                    let labels = format!(
                        r#""fabric-admission.dev/mode":"{mode}"{}{}"#,
                        label("team", team),
                        label("zone", zone)
                    );
                    let default = if number % 5 == 0 { "p1" } else { "none" };
                    let json = format!(
                        r#"{{"metadata":{{"name":"n{number}","labels":{{{labels}}},"annotations":{{"fabric-admission.dev/profile":"{default}"}}}}}}"#
                    );
                    add(&mut builder, "", "Namespace", &json);
                    number += 1;
                }
            }
        }
        // Namespaces with more labels than are kept: of the first one, `team` is one of those.
        for (name, first) in [("many", 0), ("many-behind", 1_000)] {
            let labels: String = (first..first + 1_000)
                .map(|i| format!(r#""{}{i}":"x","#, if first == 0 { "" } else { "u" }))
                .collect();
            let json = format!(
                r#"{{"metadata":{{"name":"{name}","labels":{{"fabric-admission.dev/mode":"enforce",{}}}}}}}"#,
                match first {
                    0 => format!(r#"{labels}"team":"c""#),
                    _ => format!(r#""team":"c",{}"#, labels.trim_end_matches(',')),
                }
            );
            add(&mut builder, "", "Namespace", &json);
        }
        let snapshot = builder.build();
        let with = |profile: &str| namespaces_that_use(snapshot.catalog().get(profile).unwrap(), &snapshot);
        assert!(with("p3").contains(&"many-behind") && !with("p3").contains(&"many"), "NotIn");
        assert!(with("p2").contains(&"many-behind") && !with("p2").contains(&"many"), "In");
        assert!(with("open").contains(&"many") && !with("p4").contains(&"many-behind"));
        let all = NamespacesOfAllProfiles::of(&snapshot);
        let mut sizes = BTreeSet::new();
        for one in snapshot.catalog().iter() {
            let set =
                |names: Vec<&str>| -> BTreeSet<String> { names.into_iter().map(str::to_owned).collect() };
            let found = set(all.namespaces_that_use(one));
            assert_eq!(found, set(namespaces_that_use(one, &snapshot)), "{}", one.name);
            sizes.insert(found.len());
            for other in snapshot.catalog().iter() {
                let both = |(name, facts): (&str, &NamespaceFacts)| {
                    facts.mode().is_some()
                        && admits(one, name, Some(facts))
                        && admits(other, name, Some(facts))
                };
                let open = one.namespaces.is_none() || other.namespaces.is_none();
                let expected = open || snapshot.namespaces().into_iter().any(both);
                assert_eq!(all.admit_a_common_namespace(one, other), expected, "{} {}", one.name, other.name);
            }
        }
        assert!(sizes.len() > 4, "{sizes:?}");
    }
}
