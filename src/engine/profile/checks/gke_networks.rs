//! Checks of `gkeNetworks`, the networks that GKE attaches.

use crate::multus::parse_networks_annotation::{is_dns_subdomain, is_interface_name};
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::Spec;
use std::collections::BTreeSet;

pub(in crate::profile) fn check(spec: &Spec, fail: &Fail<'_>) -> Result<(), ProfileError> {
    let Some(gke) = &spec.gke_networks else { return Ok(()) };
    if spec.rails.iter().flatten().next().is_some() {
        let message = "GKE attaches its networks by its own annotations; remove rails or gkeNetworks".into();
        return Err(fail("/spec/gkeNetworks", message));
    }
    if gke.interfaces.is_empty() || gke.interfaces.len() > 32 {
        return Err(fail("/spec/gkeNetworks/interfaces", "expected 1 to 32 interfaces".into()));
    }
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for (i, interface) in gke.interfaces.iter().enumerate() {
        let at = |field: &str| format!("/spec/gkeNetworks/interfaces/{i}/{field}");
        let name = interface.interface_name.as_str();
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
        if !is_interface_name(name) || !name.bytes().all(plain) {
            return Err(fail(
                &at("interfaceName"),
                format!("{name:?} is not an interface name, such as eth2"),
            ));
        }
        if !names.insert(name) {
            return Err(fail(&at("interfaceName"), format!("two networks have the interface {name:?}")));
        }
        if !is_dns_subdomain(&interface.network) {
            let message = format!("{:?} is not the name of a GKE Network, such as rdma-0", interface.network);
            return Err(fail(&at("network"), message));
        }
    }
    if !names.contains(gke.default_interface.as_str()) {
        let message = format!("{:?} is not one of the interfaces", gke.default_interface);
        return Err(fail("/spec/gkeNetworks/defaultInterface", message));
    }
    Ok(())
}
