//! Checks of `subsets`, the named parts of a profile's rails.

use crate::multus::parse_networks_annotation;
use crate::profile::checked_parts::{Rail, Subset};
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::Spec;
use crate::text::nearest_if_probably_meant;
use std::collections::BTreeSet;

/// Checks the subsets and gathers their rails, in the order of the profile.
pub(in crate::profile) fn checked_subsets(
    spec: &Spec,
    rails: &[Rail],
    fail: &Fail<'_>,
) -> Result<Vec<Subset>, ProfileError> {
    let mut subsets: Vec<Subset> = Vec::new();
    let mut names = BTreeSet::new();
    let known: BTreeSet<&str> = rails.iter().map(|r| r.interface.as_str()).collect();
    for (i, subset) in spec.subsets.iter().flatten().enumerate() {
        let at = |rest: &str| format!("/spec/subsets/{i}/{rest}");
        let name = &subset.name;
        if !parse_networks_annotation::is_dns_label(name) {
            let message = format!("{name:?} is not a subset name: at most 63 of a-z, 0-9 and '-'");
            return Err(fail(&at("name"), message));
        }
        if !names.insert(name.as_str()) {
            return Err(fail(&at("name"), format!("duplicate subset {name:?}")));
        }
        if subset.interfaces.is_empty() {
            return Err(fail(&at("interfaces"), "expected at least one interface".into()));
        }
        let mut wanted = BTreeSet::new();
        for (nth, interface) in subset.interfaces.iter().enumerate() {
            let pointer = || at(&format!("interfaces/{nth}"));
            if !known.contains(interface.as_str()) {
                let hint = nearest_if_probably_meant(interface, rails.iter().map(|r| r.interface.as_str()));
                let hint = hint.map(|h| format!("; did you mean {h:?}?")).unwrap_or_default();
                return Err(fail(&pointer(), format!("no rail has the interface {interface:?}{hint}")));
            }
            if !wanted.insert(interface.as_str()) {
                return Err(fail(&pointer(), format!("duplicate interface {interface:?}")));
            }
        }
        let chosen = rails.iter().filter(|r| wanted.contains(r.interface.as_str())).cloned().collect();
        subsets.push(Subset { name: name.clone(), rails: chosen });
    }
    Ok(subsets)
}
