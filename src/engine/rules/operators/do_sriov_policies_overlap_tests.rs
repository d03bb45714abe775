//! Policies meet where a comparison of each entry with each says so.

use super::do_sriov_policies_overlap::{OurNics, do_ranges_overlap};
use crate::facts::SriovNodePolicy;
use crate::facts::sriov_node_policy::InterfaceWithVfRange;
use crate::rules::object_context::{ObjectContext, ObjectEvent};
use crate::rules::other_sriov_policy_and_common_nodes::{CommonNodes, OtherPolicy};
use crate::snapshot::{Builder, Layer, Snapshot};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};

const GROUP: &str = "sriovnetwork.openshift.io";
const KIND: &str = "SriovNetworkNodePolicy";

/// Path of our entry, its NIC, and the ranges of both.
type Met = (String, String, [Option<(u32, u32)>; 2]);

/// An entry of `pfNames`: its place, the NIC's name and its range.
type Entry<'a> = (usize, &'a str, Option<(u32, u32)>);

fn entries<'a>(policy: &'a SriovNodePolicy, known: &'a Snapshot) -> Vec<Entry<'a>> {
    let read = |(index, text): (usize, &'a String)| {
        let InterfaceWithVfRange { interface, range } = InterfaceWithVfRange::parse(text)?;
        Some((index, known.cluster_facts_for_audience().main_name_of_interface(interface), range))
    };
    policy.nics.interfaces.iter().enumerate().filter_map(read).collect()
}

fn expected(a: &SriovNodePolicy, b: &SriovNodePolicy, ranges_matter: bool, known: &Snapshot) -> Option<Met> {
    let (own, theirs) = (entries(a, known), entries(b, known));
    let overlap = |ours, theirs| do_ranges_overlap(a.vfs_used_in_range(ours), b.vfs_used_in_range(theirs));
    let either_empty = a.nics.addresses.is_empty() || b.nics.addresses.is_empty();
    let shared = a.nics.addresses.iter().position(|address| b.nics.addresses.contains(address));
    if a.nics.vendor.is_some() && b.nics.vendor.is_some() && a.nics.vendor != b.nics.vendor
        || !either_empty && shared.is_none()
    {
        return None;
    }
    if !own.is_empty() && !theirs.is_empty() {
        return own.iter().find_map(|(index, nic, ours)| {
            let met =
                |(_, name, theirs): &&Entry<'_>| name == nic && (!ranges_matter || overlap(*ours, *theirs));
            let (.., theirs) = theirs.iter().find(met)?;
            let path = format!("/spec/nicSelector/pfNames/{index}");
            Some((path, (*nic).to_owned(), [*ours, *theirs]))
        });
    }
    let index = shared?;
    let ranges = [&own, &theirs].map(|entries| entries.first().and_then(|(.., range)| *range));
    let single = own.len() <= 1 && theirs.len() <= 1;
    (!ranges_matter || single && overlap(ranges[0], ranges[1]))
        .then(|| (format!("/spec/nicSelector/rootDevices/{index}"), a.nics.addresses[index].clone(), ranges))
}

fn found(
    own: &SriovNodePolicy,
    object: &Value,
    name: &str,
    ranges_matter: bool,
    known: &Snapshot,
) -> Option<Met> {
    let json = object.to_string();
    let context = ObjectContext::new((GROUP, KIND), &json, ObjectEvent::Given, known);
    let mut others = known.cluster_facts_for_audience().sriov_policies_to_compare_with(own);
    let other = others.find(|other| other.name == name)?;
    let (policy, nics) = (other.policy.as_ref(), &other.nics);
    let other = OtherPolicy { name, policy, nics, shared: CommonNodes::Implied };
    let met = OurNics::new(own, &context).first_nic_in_common(other, ranges_matter)?;
    Some((met.path, met.nic, met.ranges))
}

fn policies() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["x", "y", "other-x", "z"]);
    let range = prop_oneof![
        2 => Just(String::new()),
        5 => (0..6_u32, 0..6_u32).prop_map(|(first, last)| format!("#{first}-{last}")),
        1 => Just("#unreadable".to_owned()),
    ];
    let entry = (name, range).prop_map(|(name, range)| format!("{name}{range}"));
    // Some list so many NICs that the few of another policy are searched in them.
    let many = (0..60_u32, 0..3_u32).prop_map(|(nic, first)| format!("nic{nic}#{first}-2"));
    let many = prop::collection::vec(many, 40..80);
    let few = prop::collection::vec(prop_oneof![4 => entry.clone(), 1 => Just("nic7#1-1".to_owned())], 0..7);
    let names = prop_oneof![5 => few, 1 => (many, prop::collection::vec(entry, 0..3)).prop_map(|(many, few)| [many, few].concat())];
    let addresses = prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 0..4);
    let addresses = prop_oneof![2 => Just(Vec::new()), 1 => addresses];
    let vendor = prop::option::weighted(0.2, prop::sample::select(vec!["15b3", "8086"]));
    let number = prop::option::weighted(0.9, 0..7_u32);
    (names, addresses, vendor, number).prop_map(|(names, addresses, vendor, number)| {
        json!({"spec": {"resourceName": "r", "numVfs": number,
            "nicSelector": {"pfNames": names, "rootDevices": addresses, "vendor": vendor}}})
    })
}

#[test]
fn as_each_entry_with_each() {
    let state = json!({"metadata": {"name": "n", "namespace": "o"}, "status": {"syncStatus": "Succeeded",
        "interfaces": [{"name": "x", "altNames": ["other-x"], "pciAddress": "0000:01:00.0", "linkType": "ETH"}]}});
    let config =
        Config { cases: 400, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::default() };
    let met = std::cell::RefCell::new([0; 2]);
    let made = TestRunner::new(config).run(&prop::collection::vec(policies(), 4), |objects| {
        let mut builder = Builder::default();
        builder.add(Layer::Live, GROUP, "SriovNetworkNodeState", &state.to_string(), "o").unwrap();
        // The first policy is only under review: what it lists may be in no policy that is known.
        for (at, object) in objects.iter().enumerate().skip(1) {
            let mut object = object.clone();
            object["metadata"] = json!({"name": at.to_string(), "namespace": "o"});
            builder.add(Layer::Live, GROUP, KIND, &object.to_string(), "o").unwrap();
        }
        let known = builder.build();
        let parsed: Vec<_> =
            objects.iter().map(|object| SriovNodePolicy::parse(&object.to_string()).unwrap()).collect();
        for (own, object) in parsed.iter().zip(&objects) {
            for (at, other) in parsed.iter().enumerate().skip(1) {
                for ranges_matter in [false, true] {
                    let wanted = expected(own, other, ranges_matter, &known);
                    let by_address = wanted.as_ref().map(|(path, ..)| path.contains("rootDevices"));
                    by_address.into_iter().for_each(|by| met.borrow_mut()[usize::from(by)] += 1);
                    prop_assert_eq!(found(own, object, &at.to_string(), ranges_matter, &known), wanted);
                }
            }
        }
        Ok(())
    });
    made.unwrap();
    assert!(met.into_inner().iter().all(|met| *met > 100));
}
