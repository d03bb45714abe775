//! A short print of a profile, by which a pod can tell later whether its profile is still the one it was made with.

use super::profile::Spec;
use super::{Profile, Resolution};
use crate::text::printable;

/// Annotation of a pod that was changed: `PROFILE@PRINT`. It is for people and for `why`; nothing is decided by it.
pub const INJECTED_ANNOTATION: &str = "fabric-admission.dev/injected";

/// The mark of a profile as it is.
#[must_use]
pub fn mark(profile: &Profile) -> String {
    format!("{}@{}", profile.name, profile.print)
}

/// What became of the decision that a pod was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Then {
    /// Its mark, as the pod has it.
    pub mark: String,
    /// The mark that it would get now; `None` where no profile would apply.
    pub now: Option<String>,
}

impl Then {
    /// Compares the mark in a pod with a resolution of today.
    #[must_use]
    pub fn of(mark: &str, resolution: &Resolution) -> Self {
        Self { mark: printable(mark, 300), now: resolution.profile().map(|(profile, _)| self::mark(profile)) }
    }

    /// What is different now.
    #[must_use]
    pub fn words(&self) -> String {
        let name = |mark: &str| mark.rsplit_once('@').map_or(mark, |(name, _)| name).to_owned();
        match &self.now {
            None => "no profile would apply now".to_owned(),
            Some(now) if *now == self.mark => "the profile and its settings are the same now".to_owned(),
            Some(now) if name(now) == name(&self.mark) => {
                format!("profile {} has other settings now, {now}: ranks that restart get those", name(now))
            }
            Some(now) => format!("profile {} would apply now", name(now)),
        }
    }
}

/// Sixteen hexadecimal digits: FNV-1a of the folded profile's JSON without what no rank sees: its description, the
/// reasons and sources of its variables, and what may be ignored. The algorithm is fixed by
/// its definition, as prints in stored pods must mean the same to every later version; it guards against nothing.
pub(super) fn of(spec: &Spec) -> String {
    let env = spec.env.clone().map(|mut env| {
        for entry in &mut env {
            (entry.reason, entry.source) = (None, None);
        }
        env
    });
    let shown = Spec { description: None, ignorable: None, env, ..spec.clone() };
    format!("{:016x}", fnv1a(&serde_json::to_string(&shown).unwrap_or_default()))
}

fn fnv1a(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_published_function() {
        // draft-eastlake-fnv, test vectors.
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn changes_with_what_counts() {
        let spec = |bootstrap: &str, description: &str| Spec {
            bootstrap: Some(bootstrap.to_owned()),
            description: Some(description.to_owned()),
            ..Spec::default()
        };
        assert_eq!(of(&spec("eth0", "a")), of(&spec("eth0", "b")));
        assert_ne!(of(&spec("eth0", "a")), of(&spec("rail0", "a")));
    }
}
