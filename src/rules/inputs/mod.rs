//! FAB8xx: profiles, annotations of ours, inputs and the cluster.

mod cluster;
mod facts;
mod ignoring;
mod profile_objects;
mod profiles;
mod rails;
mod resolution;
mod targets;

pub(super) use ignoring::IGNORING;

use super::Rule;

/// Rules that ask only whether an object can be read, or used as the profile it is.
pub(super) static READS_OBJECTS: [&dyn Rule; 3] =
    [&facts::UnreadableFact, &profile_objects::Unusable, &profile_objects::InUse];

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &resolution::MissingRails,
    &profiles::NotInjected,
    &profiles::NoProfile,
    &profiles::Refused,
    &profiles::LeftAlone,
    &resolution::AmbiguousProfile,
    &resolution::OtherNodes,
    &resolution::PoolAtZero,
    &facts::UnreadableFact,
    &rails::Rails,
    &profile_objects::Unusable,
    &profile_objects::InUse,
    &cluster::OldFacts,
    &targets::Containers,
    &ignoring::Ignoring,
];
