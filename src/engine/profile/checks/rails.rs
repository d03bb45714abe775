//! Checks of `rails`: networks, resources and interfaces, with the counted rails spelt out.

use super::resources::check_resource_name;
use crate::multus::{NetworkRef, parse_networks_annotation};
use crate::profile::checked_parts::Rail;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::{Attachment, Spec};

/// Most rails of a profile, counts included. No node has more NICs for RDMA.
const MAX_RAILS: usize = 64;

/// Checks the rails and gives every attachment, in order.
pub(in crate::profile) fn checked_rails_with_counts_expanded(
    spec: &Spec,
    fail: &Fail<'_>,
) -> Result<Vec<Rail>, ProfileError> {
    let mut rails: Vec<Rail> = Vec::new();
    for (i, rail) in spec.rails.iter().flatten().enumerate() {
        let at = |field: &str| format!("/spec/rails/{i}/{field}");
        let network = NetworkRef::parse(&rail.network).ok_or_else(|| {
            fail(&at("network"), format!("{:?} is not a network; write namespace/name", rail.network))
        })?;
        if network.name.contains('.') {
            let message = format!(
                "{:?}: the short form of the networks annotation allows no dot in a name",
                rail.network
            );
            return Err(fail(&at("network"), message));
        }
        if let Some(resource) = &rail.resource {
            check_resource_name(resource, &at("resource"), fail)?;
        }
        let count = rail.count.unwrap_or(1);
        if !(1..=64).contains(&count) {
            return Err(fail(&at("count"), "expected 1 to 64".into()));
        }
        let total = rails.len() + count as usize;
        if total > MAX_RAILS {
            return Err(fail("/spec/rails", format!("at least {total} rails; expected at most {MAX_RAILS}")));
        }
        for nth in 0..count {
            let interface = match &rail.interface {
                None => format!("rail{}", rails.len()),
                Some(first) => nth_interface_name(first, nth, count).ok_or_else(|| {
                    fail(
                        &at("interface"),
                        format!("{first:?} must end in a digit, which rises by 1 per attachment"),
                    )
                })?,
            };
            check_interface(&interface, &at("interface"), fail)?;
            if rails.iter().any(|r| r.interface == interface) {
                return Err(fail(&at("interface"), format!("two rails have the interface {interface:?}")));
            }
            rails.push(Rail { network: network.clone(), resource: rail.resource.clone(), interface });
        }
    }
    Ok(rails)
}

/// The name of the nth of `count` interfaces, counting up the digits that `first` ends in.
fn nth_interface_name(first: &str, nth: u32, count: u32) -> Option<String> {
    if count == 1 {
        return Some(first.to_owned());
    }
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let start: u32 = first.strip_prefix(stem)?.parse().ok()?;
    Some(format!("{stem}{}", start.checked_add(nth)?))
}

fn check_interface(interface: &str, pointer: &str, fail: &Fail<'_>) -> Result<(), ProfileError> {
    // Fewer characters than Linux takes: a bracket or a quote would turn the annotation's short form into JSON.
    let plain = interface
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.'));
    if !parse_networks_annotation::is_interface_name(interface) || !plain {
        let message =
            format!("{interface:?} is not an interface name: at most 15 of a-z, 0-9, '-', '_' and '.'");
        return Err(fail(pointer, message));
    }
    let positional = |stem: &str| {
        interface.strip_prefix(stem).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    if interface == "lo" || positional("eth") || positional("net") {
        return Err(fail(
            pointer,
            format!(
                "{interface:?} is reserved: the cluster network and Multus assign ethN and netN by position; use railN"
            ),
        ));
    }
    Ok(())
}

/// Checks that only an attachment that attaches networks has rails.
pub(in crate::profile) fn refuse_rails_on_host_network(
    attachment: Attachment,
    rails: &[Rail],
    fail: &Fail<'_>,
) -> Result<(), ProfileError> {
    if attachment == Attachment::HostNetwork && !rails.is_empty() {
        let message = "attachment host-network attaches no networks; set rails: []".into();
        return Err(fail("/spec/rails", message));
    }
    Ok(())
}
