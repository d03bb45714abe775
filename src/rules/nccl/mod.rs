//! FAB4xx: variables of NCCL and its companions.

/// A training pod for examples: lines of its `env`, and more of its resources.
macro_rules! pod {
    ($env:literal) => {
        pod!($env, "")
    };
    ($env:literal, $resources:literal) => {
        concat!(
            "apiVersion: v1\nkind: Pod\nmetadata: {name: trainer}\nspec:\n  containers:\n  - name: trainer\n    ",
            "image: example.com/trainer:1\n    env:\n",
            $env,
            "    resources: {limits: {nvidia.com/gpu: 1",
            $resources,
            "}}\n"
        )
    };
}

mod carriers;
mod companions;
mod devices;
mod gid;
mod given;
mod interfaces;
mod leftovers;
mod lists;
mod names;
mod pod;
mod single;
mod transport;
mod twice;
mod ucx;
mod values;
mod words;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &values::IbDisabled,
    &values::WordForNumber,
    &values::DiffersFromProfile,
    &carriers::EnvFrom,
    &carriers::RanksOverSsh,
    &carriers::NoFiles,
    &carriers::UnknownVersion,
    &names::UnreadName,
    &words::UnknownWord,
    &words::OutsideRange,
    &lists::NameLists,
    &devices::DeviceNames,
    &transport::TransportChoice,
    &gid::GidIndex,
    &interfaces::Interfaces,
    &leftovers::Workarounds,
    &leftovers::Diagnostics,
    &twice::SetTwice,
    &single::MultiNodeNvlink,
    &single::FixedRendezvous,
    &single::SecretInline,
    &ucx::Ucx,
    &companions::OpenMpi,
    &companions::NvshmemDevices,
    &companions::NoBenefit,
];
