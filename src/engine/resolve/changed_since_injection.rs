//! A pod's mark, compared with the profile that it would get now.

use super::Resolution;
use crate::profile::injected_mark_of;
use crate::text::escaped_and_cut;

/// The decision that a pod was created with, compared with today's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinceInjection {
    /// Its mark, as written in the pod.
    pub mark: String,
    /// The mark that it would get now; `None` where no profile would apply.
    pub now: Option<String>,
}

impl SinceInjection {
    /// Compares the mark in a pod with a current resolution.
    #[must_use]
    pub fn of(mark: &str, resolution: &Resolution) -> Self {
        Self {
            mark: escaped_and_cut(mark, 300),
            now: resolution.profile().map(|(profile, _)| self::injected_mark_of(profile)),
        }
    }

    /// The difference.
    #[must_use]
    pub fn words(&self) -> String {
        let name = |mark: &str| mark.rsplit_once('@').map_or(mark, |(name, _)| name).to_owned();
        match &self.now {
            None => "no profile would apply now".to_owned(),
            Some(now) if *now == self.mark => "the profile and its settings are the same now".to_owned(),
            Some(now) if name(now) == name(&self.mark) => {
                format!(
                    "profile {} has other settings now ({now}): ranks that restart get the new settings",
                    name(now)
                )
            }
            Some(now) => format!("profile {} would apply now", name(now)),
        }
    }
}
