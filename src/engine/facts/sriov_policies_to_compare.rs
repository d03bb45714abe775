//! SriovNetworkNodePolicies that may take the same NICs or fill the same pool as another one. A cluster may have thousands,
//! and most are for other nodes or other NICs.

use super::nics_listed_by_sriov_policy::{NicNumber, NicsListedByPolicy};
use super::sriov_node_policy::{InterfaceWithVfRange, SriovNodePolicy};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A policy with its namespace and name.
type Named = ((String, String), Arc<SriovNodePolicy>);

/// Places in the list of all policies.
type Places = Vec<usize>;

/// A policy that others are compared with.
#[derive(Debug, PartialEq, Eq)]
pub struct PolicyToCompare {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its fields.
    pub policy: Arc<SriovNodePolicy>,
    /// The NICs that it lists, read once for all comparisons.
    pub nics: NicsListedByPolicy,
}

/// NICs by name or by address, each with its number and the policies that list it.
#[derive(Debug, Default, PartialEq, Eq)]
struct ListedNics(HashMap<String, (NicNumber, Places)>);

impl ListedNics {
    /// Adds a policy to a NIC. Returns the number of the NIC.
    fn put(&mut self, nic: &str, policy: usize) -> NicNumber {
        if let Some((number, places)) = self.0.get_mut(nic) {
            if places.last() != Some(&policy) {
                places.push(policy);
            }
            return *number;
        }
        let number = NicNumber::try_from(self.0.len()).unwrap_or(NicNumber::MAX);
        self.0.insert(nic.to_owned(), (number, vec![policy]));
        number
    }

    fn number(&self, nic: &str) -> Option<NicNumber> {
        Some(self.0.get(nic)?.0)
    }

    fn policies(&self, nic: &str) -> Option<&Places> {
        Some(&self.0.get(nic)?.1)
    }
}

/// The policies with a label in their node selector.
#[derive(Debug, Default, PartialEq, Eq)]
struct Selecting {
    by_value: HashMap<String, Places>,
    /// Those without the label. `None` if most policies are without it: such a list excludes few.
    without: Option<Places>,
}

/// Policies by what they select.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SriovPoliciesToCompare {
    all: Vec<PolicyToCompare>,
    by_resource: HashMap<String, Places>,
    /// By the names of interfaces, which nodes may have as alternative names.
    by_interface: ListedNics,
    by_address: ListedNics,
    without_interface: Places,
    without_address: Places,
    without_either: Places,
    by_label: BTreeMap<String, Selecting>,
}

/// The names of the interfaces that a policy selects.
fn interfaces<'p>(
    policy: &'p SriovNodePolicy,
    named: impl Fn(&'p str) -> &'p str,
) -> impl Iterator<Item = &'p str> {
    policy
        .nics
        .interfaces
        .iter()
        .filter_map(move |entry| Some(named(InterfaceWithVfRange::parse(entry)?.interface)))
}

impl SriovPoliciesToCompare {
    pub(super) fn new(all: Vec<Named>, other_names: &HashMap<String, Option<Arc<str>>>) -> Self {
        let mut found = Self::default();
        for (at, ((namespace, name_of_policy), policy)) in all.into_iter().enumerate() {
            let put = |map: &mut HashMap<String, Places>, key: &str| {
                let places = map.entry(key.to_owned()).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            };
            put(&mut found.by_resource, &policy.resource);
            let name = |name| other_names.get(name).and_then(Option::as_deref).unwrap_or(name);
            let nics = NicsListedByPolicy::new(
                &policy,
                |interface| Some(found.by_interface.put(name(interface), at)),
                |address| Some(found.by_address.put(address, at)),
            );
            let nameless = nics.entries() == 0;
            let without_address = policy.nics.addresses.is_empty();
            found.without_interface.extend(nameless.then_some(at));
            found.without_address.extend(without_address.then_some(at));
            found.without_either.extend((nameless && without_address).then_some(at));
            for (key, value) in &policy.nodes {
                put(&mut found.by_label.entry(key.clone()).or_default().by_value, value);
            }
            found.all.push(PolicyToCompare { namespace, name: name_of_policy, policy, nics });
        }
        let all = &found.all;
        for (key, selecting) in &mut found.by_label {
            let having: usize = selecting.by_value.values().map(Vec::len).sum();
            if having.saturating_mul(2) >= all.len() {
                let without = all.iter().enumerate().filter(|(_, one)| !one.policy.nodes.contains_key(key));
                selecting.without = Some(without.map(|(at, _)| at).collect());
            }
        }
        found
    }

    /// The policies that a policy is compared with, in the order of their names: those that may have the same NICs or
    /// the same resource, or those that may have the same nodes, whichever are fewer. The rules ignore
    /// policies without a common node.
    pub(super) fn to_compare_with<'s>(
        &'s self,
        own: &SriovNodePolicy,
        other_names: &HashMap<String, Option<Arc<str>>>,
    ) -> impl Iterator<Item = &'s PolicyToCompare> + use<'s> {
        let mut lists = self.sharing_nics_or_resource(own, other_names);
        if let Some(by_nodes) = self.sharing_nodes(own)
            && count(&by_nodes) < lists.as_deref().map_or(self.all.len(), count)
        {
            lists = Some(by_nodes);
        }
        // A policy may be in many of the lists.
        let mut places: Places = match lists.filter(|lists| count(lists) < self.all.len()) {
            Some(lists) => lists.into_iter().flatten().copied().collect(),
            None => (0..self.all.len()).collect(),
        };
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|at| self.all.get(at))
    }

    /// The NICs that a policy lists. Those that no policy among these lists are passed over: they meet none.
    pub(super) fn nics_listed_by(
        &self,
        policy: &SriovNodePolicy,
        other_names: &HashMap<String, Option<Arc<str>>>,
    ) -> NicsListedByPolicy {
        let name = |name| other_names.get(name).and_then(Option::as_deref).unwrap_or(name);
        NicsListedByPolicy::new(
            policy,
            |interface| self.by_interface.number(name(interface)),
            |address| self.by_address.number(address),
        )
    }

    /// The number of an interface that some policy lists.
    pub(super) fn number_of_interface(&self, name: &str) -> Option<NicNumber> {
        self.by_interface.number(name)
    }

    /// Those whose nodes may be the same: no label has another value.
    fn sharing_nodes(&self, own: &SriovNodePolicy) -> Option<Vec<&Places>> {
        let lists = own.nodes.iter().filter_map(|(key, value)| {
            let selecting = self.by_label.get(key)?;
            Some(selecting.by_value.get(value).into_iter().chain([selecting.without.as_ref()?]).collect())
        });
        lists.min_by_key(|lists: &Vec<&Places>| count(lists))
    }

    /// Those with a NIC in common, or the resource; `None` for all. NICs are the same by a name, or by an address where one of
    /// the two names none.
    fn sharing_nics_or_resource(
        &self,
        own: &SriovNodePolicy,
        other_names: &HashMap<String, Option<Arc<str>>>,
    ) -> Option<Vec<&Places>> {
        let name = |name| other_names.get(name).and_then(Option::as_deref).unwrap_or(name);
        let names: Vec<&str> = interfaces(own, name).collect();
        let addresses = &own.nics.addresses;
        let mut lists: Vec<&Places> = self.by_resource.get(&own.resource).into_iter().collect();
        lists.extend(names.iter().filter_map(|name| self.by_interface.policies(name)));
        lists.extend(addresses.iter().filter_map(|address| self.by_address.policies(address)));
        match (names.is_empty(), addresses.is_empty()) {
            (true, true) => return None,
            (true, false) => lists.push(&self.without_address),
            (false, true) => lists.push(&self.without_interface),
            (false, false) => lists.push(&self.without_either),
        }
        Some(lists)
    }
}

fn count(lists: &[&Places]) -> usize {
    lists.iter().map(|places| places.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(resource: &str, nics: &str, nodes: &str) -> SriovNodePolicy {
        let json = format!(
            r#"{{"spec":{{"resourceName":"{resource}","nicSelector":{nics},"nodeSelector":{nodes}}}}}"#
        );
        SriovNodePolicy::parse(&json).unwrap()
    }

    #[test]
    fn a_policy_meets_those_that_share_something() {
        let all = [
            ("a", policy("r", r#"{"pfNames":["x"]}"#, "{}")),
            ("b", policy("s", r#"{"pfNames":["x#0-1","y"]}"#, "{}")),
            ("c", policy("t", r#"{"pfNames":["z"]}"#, "{}")),
            ("d", policy("t", r#"{"vendor":"15b3"}"#, "{}")),
            ("e", policy("t", r#"{"rootDevices":["0000:01:00.0"]}"#, "{}")),
        ];
        let all: Vec<Named> = all
            .into_iter()
            .map(|(name, policy)| ((String::new(), name.to_owned()), Arc::new(policy)))
            .collect();
        let other_names = HashMap::from([("alias".to_owned(), Some("y".into()))]);
        let index = SriovPoliciesToCompare::new(all, &other_names);
        let met = |own: SriovNodePolicy| -> String {
            index.to_compare_with(&own, &other_names).map(|one| one.name.as_str()).collect()
        };
        assert_eq!(met(policy("r", r#"{"pfNames":["alias"]}"#, "{}")), "abde");
        assert_eq!(met(policy("u", r#"{"pfNames":["z"],"rootDevices":["0000:02:00.0"]}"#, "{}")), "cd");
        assert_eq!(met(policy("u", r#"{"rootDevices":["0000:01:00.0"]}"#, "{}")), "abcde");
        assert_eq!(met(policy("u", r#"{"vendor":"15b3"}"#, "{}")), "abcde");
    }

    #[test]
    fn a_label_with_another_value_keeps_policies_apart() {
        let nics = r#"{"pfNames":["x"]}"#;
        let nodes = [r#"{"pool":"a"}"#, r#"{"pool":"b"}"#, r#"{"pool":"b"}"#, "{}"];
        let all: Vec<Named> = nodes
            .iter()
            .enumerate()
            .map(|(at, nodes)| ((String::new(), at.to_string()), Arc::new(policy("r", nics, nodes))))
            .collect();
        let none = HashMap::new();
        let index = SriovPoliciesToCompare::new(all, &none);
        let met = |nodes: &str| -> String {
            index.to_compare_with(&policy("r", nics, nodes), &none).map(|one| one.name.as_str()).collect()
        };
        assert_eq!(met(r#"{"pool":"a"}"#), "03");
        assert_eq!(met(r#"{"pool":"c","other":"x"}"#), "3");
        assert_eq!(met("{}"), "0123");
    }
}
