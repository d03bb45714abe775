//! The user's own nodes.

use super::arguments::Arguments;
use crate::cli::input;
use crate::cli::input::links_in_directories::why_link_of_repository_is_refused;
use crate::estimate::{Fabric, Link};
use crate::preflight::facts_json_for_monitor::Facts;
use crate::profile::Profile;
use crate::profile::schema::Transport;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longest facts file.
const MAX_FACTS_BYTES: u64 = 1 << 20;
const NO_SHARE: &str =
    "no share of the line rate is published for the transport of these nodes: set --transport";

/// The user's own nodes, if a rate or facts are given.
pub(super) fn fabric_of_rate_profile_or_facts(arguments: &Arguments) -> Result<Option<Fabric>, String> {
    if let Some(file) = &arguments.facts {
        let transport = arguments.transport.map(Link::from);
        return fabric_of_facts_file(file, transport)
            .map(Some)
            .map_err(|e| format!("--facts: {}: {e}", file.display()));
    }
    let Some(rate) = arguments.rate else { return Ok(None) };
    let profile = arguments.profile.as_deref().map(rails_and_link_of_built_in).transpose()?;
    let (rails, link) = profile.unwrap_or((1, Some(Link::Roce)));
    let link = arguments.transport.map(Link::from).or(link).ok_or(NO_SHARE)?;
    let rails = arguments.rails.unwrap_or(rails);
    let title = link.rails_in_words(rails, rate);
    Ok(Some(Fabric { id: "own".to_owned(), title, throughput: link.throughput(rate, rails) }))
}

/// The ports of the devices that preflight found. A virtual function shows the rate of its port.
fn fabric_of_facts_file(file: &Path, transport: Option<Link>) -> Result<Fabric, String> {
    // As for inputs of a review.
    if let Some(refused) = why_link_of_repository_is_refused(file) {
        return Err(refused);
    }
    let mut text = String::new();
    let opened = File::open(file).map_err(|error| error.to_string())?;
    opened.take(MAX_FACTS_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_FACTS_BYTES {
        return Err("the file has more than 1 MiB; name a facts.json that preflight wrote".to_owned());
    }
    let facts = Facts::parse(&text)?;
    let ports = || facts.devices.iter().flatten().flat_map(|device| &device.ports);
    let rates: Vec<u32> = ports().filter_map(|port| port.rate).filter(|rate| *rate > 0).collect();
    let (Some(first), Ok(rails)) = (rates.first(), u32::try_from(rates.len())) else {
        return Err("it has no port with a line rate".to_owned());
    };
    let layer = ports().find_map(|port| match port.link_layer.as_deref() {
        Some("InfiniBand") => Some(Link::InfiniBand),
        Some("Ethernet") => Some(Link::Roce),
        _ => None,
    });
    let link = transport.or(layer).ok_or(NO_SHARE)?;
    let sum: f64 = rates.iter().copied().map(f64::from).sum();
    let title = if rates.iter().all(|rate| rate == first) {
        link.rails_in_words(rails, f64::from(*first))
    } else {
        format!("{rails} ports, {sum:.0} Gb/s {}", link.title())
    };
    Ok(Fabric { id: "facts".to_owned(), title, throughput: link.throughput(sum, 1) })
}

/// Rails and transport of a built-in base profile.
fn rails_and_link_of_built_in(name: &str) -> Result<(u32, Option<Link>), String> {
    let bases = input::read_and_find_profiles::built_in_profiles()?;
    let found = bases.iter().find(|base| base.metadata.name == name);
    let Some(profile) = found else {
        let names: Vec<&str> = bases.iter().map(|base| base.metadata.name.as_str()).collect();
        return Err(format!("--profile {name:?} is not compiled in; known: {}", names.join(", ")));
    };
    let rails: u32 = profile.spec.rails.iter().flatten().map(|rail| rail.count.unwrap_or(1)).sum();
    Ok((rails.max(1), profile.spec.transport.and_then(link)))
}

/// Rails and transport of a profile.
pub(super) fn rails_and_link_of_profile(profile: &Profile) -> (u32, Option<Link>) {
    let rails = u32::try_from(profile.rails.len()).unwrap_or(u32::MAX);
    (rails.max(1), link(profile.transport))
}

fn link(transport: Transport) -> Option<Link> {
    match transport {
        Transport::Infiniband => Some(Link::InfiniBand),
        Transport::Roce => Some(Link::Roce),
        Transport::Ethernet => Some(Link::Tcp),
        _ => None,
    }
}
