//! Checks of `preflight` and `monitor`, the containers that a profile adds to pods.

use crate::pod::Quantity;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::{Inject, Spec};

/// Least memory of the sidecar (bytes): three times what it uses.
const MIN_MEMORY: i64 = 32 << 20;

/// The log of the monitor. Smaller sizes are units that were forgotten.
const MIN_STORAGE: i64 = 1 << 20;

/// Checks the containers of a folded profile.
pub(in crate::profile) fn check(spec: &Spec, fail: &Fail<'_>) -> Result<(), ProfileError> {
    let any = spec.preflight.is_some() || spec.monitor.is_some();
    if any && spec.inject.unwrap_or_default() != Inject::Full {
        let message = "the webhook adds containers only with inject: full; remove preflight and monitor";
        return Err(fail("/spec/inject", message.to_owned()));
    }
    let images = [
        ("/spec/preflight/image", spec.preflight.as_ref().map(|p| &p.image)),
        ("/spec/monitor/image", spec.monitor.as_ref().map(|m| &m.image)),
    ];
    for (pointer, image) in images {
        if let Some(image) = image.filter(|image| !has_digest(image)) {
            let message = format!(
                "{image:?} is not an image with a digest; write NAME@sha256:DIGEST, so that a moved tag changes no pod"
            );
            return Err(fail(pointer, message));
        }
    }
    let mut checks = spec.preflight.iter().flat_map(|preflight| preflight.checks.keys());
    if let Some(id) = checks.find(|id| !is_check(id)) {
        let message = format!("{id:?} is not the id of a check; write PF and three digits, such as PF101");
        return Err(fail("/spec/preflight/checks", message));
    }
    if let Some(preflight) = &spec.preflight {
        if preflight.rate.is_some_and(|rate| !(1..=100_000).contains(&rate)) {
            return Err(fail("/spec/preflight/rate", "expected 1 to 100000".to_owned()));
        }
        if let Some((at, peer)) = preflight.peers.iter().enumerate().find(|(_, peer)| !is_peer(peer)) {
            let message = format!("{peer:?} is not HOST:PORT, such as rendezvous.training.svc:29500");
            return Err(fail(&format!("/spec/preflight/peers/{at}"), message));
        }
    }
    let Some(monitor) = &spec.monitor else { return Ok(()) };
    if monitor.port < 1024 {
        return Err(fail("/spec/monitor/port", "expected 1024 to 65535".to_owned()));
    }
    let amount = |text: &str| Quantity::parse(text).ok().map(|q| (q.units_rounded_up(), q.is_negative()));
    let resources = &monitor.resources;
    if amount(&resources.cpu).is_none_or(|(units, negative)| negative || units <= 0) {
        let message = format!("{:?} is not a CPU quantity, such as 20m", resources.cpu);
        return Err(fail("/spec/monitor/resources/cpu", message));
    }
    if amount(&resources.memory).is_none_or(|(units, _)| units < MIN_MEMORY) {
        let message = format!("{:?} is not a size of at least 32Mi, such as 64Mi", resources.memory);
        return Err(fail("/spec/monitor/resources/memory", message));
    }
    if amount(&resources.ephemeral_storage).is_none_or(|(units, _)| units < MIN_STORAGE) {
        let message =
            format!("{:?} is not a size of at least 1Mi, such as 16Mi", resources.ephemeral_storage);
        return Err(fail("/spec/monitor/resources/ephemeralStorage", message));
    }
    Ok(())
}

/// Whether an image is as the pattern `IMAGE_PATTERN` says.
fn has_digest(image: &str) -> bool {
    let Some((name, digest)) = image.split_once("@sha256:") else { return false };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'/' | b'-');
    image.len() <= 1024
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(plain)
        && digest.len() == 64
        && digest.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
}

/// As [`crate::profile::preflight_settings::PEER_PATTERN`].
fn is_peer(peer: &str) -> bool {
    let Some((host, port)) = peer.rsplit_once(':') else { return false };
    let number =
        |port: &str| port.len() <= 5 && !port.starts_with('0') && port.bytes().all(|b| b.is_ascii_digit());
    let in_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let alphanumeric = |c: char| c.is_ascii_alphanumeric();
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(v6) => !v6.is_empty() && v6.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.')),
        None => host.starts_with(alphanumeric) && host.ends_with(alphanumeric) && host.bytes().all(in_name),
    };
    peer.len() <= 261 && is_host && !port.is_empty() && number(port)
}

/// Whether a text is the id of a check.
fn is_check(id: &str) -> bool {
    id.strip_prefix("PF").is_some_and(|n| n.len() == 3 && n.bytes().all(|b| b.is_ascii_digit()))
}
