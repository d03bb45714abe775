//! The variables in all profiles, by name. They are put in order once, when a Snapshot is built: a pod is compared with
//! hundreds of profiles, each with dozens of variables, and these comparisons read no text.

use crate::profile::schema::EnvPolicy;
use crate::profile::{EnvEntry, Profile};
use std::collections::HashMap;
use std::sync::Arc;

/// The variables in all profiles, by name.
pub(crate) type ByVariable = HashMap<Arc<str>, VariableEntries>;

/// What all profiles say of one variable.
#[derive(Debug, Default)]
pub(crate) struct VariableEntries {
    /// Entries that require or forbid it: the number of the profile, and the number of the entry in the profile. In order.
    pub(crate) restricting: Vec<(usize, usize)>,
    /// By value, the numbers of the profiles that set this value, in order.
    setting: HashMap<Arc<str>, Vec<usize>>,
    /// Length of the longest value (bytes).
    longest: usize,
}

impl VariableEntries {
    /// The numbers of the profiles that set a value, in order.
    pub(crate) fn numbers_of_profiles_that_set(&self, value: &str) -> &[usize] {
        // The texts of a pod can be long, and to look one up takes as long as it is.
        if value.len() > self.longest {
            return &[];
        }
        self.setting.get(value).map(Vec::as_slice).unwrap_or_default()
    }

    fn add(&mut self, at: (usize, usize), entry: &EnvEntry) {
        if entry.policy != EnvPolicy::Default {
            self.restricting.push(at);
        }
        if entry.policy == EnvPolicy::Forbid {
            return;
        }
        self.longest = self.longest.max(entry.value.len());
        let setting = self.setting.entry(Arc::clone(&entry.value)).or_default();
        if setting.last() != Some(&at.0) {
            setting.push(at.0);
        }
    }
}

/// Puts the variables of profiles in order. A profile's number is its place in the list.
pub(super) fn by_variable<'a>(profiles: impl Iterator<Item = &'a Arc<Profile>>) -> ByVariable {
    let mut variables = ByVariable::new();
    for (number, profile) in profiles.enumerate() {
        for (at, entry) in profile.env.iter().enumerate() {
            variables.entry(Arc::clone(&entry.name)).or_default().add((number, at), entry);
        }
    }
    variables
}
