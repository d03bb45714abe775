//! The checks, one folder each. Their ids have groups: 0 preflight itself, 1 devices and ports, 2 addresses and GIDs,
//! 3 limits and shared memory, 4 GPUDirect, 5 libraries of the image, 6 environment, 7 peers.

mod pf001_expectation;
mod pf101_usable_devices;
mod pf102_port_state;
mod pf103_port_rate;
mod pf104_link_layer;
mod pf202_gid_rows;
mod pf301_memlock;

use super::check::Check;

/// All checks, by id.
pub static CHECKS: &[&Check] = &[
    &pf001_expectation::CHECK,
    &pf101_usable_devices::CHECK,
    &pf102_port_state::CHECK,
    &pf103_port_rate::CHECK,
    &pf104_link_layer::CHECK,
    &pf202_gid_rows::CHECK,
    &pf301_memlock::CHECK,
];

/// A check by its id, in any case.
#[must_use]
pub fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.id.eq_ignore_ascii_case(id)).copied()
}
