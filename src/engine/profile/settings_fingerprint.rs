//! The fingerprint of a profile's settings.

use super::schema::Spec;

/// Sixteen hexadecimal digits: FNV-1a of the folded profile's JSON without what no rank sees: its description, the
/// reasons and sources of its variables, and what may be ignored. The algorithm is fixed by
/// its definition, as fingerprints in stored pods must mean the same to every later version; it guards against nothing.
pub(super) fn fingerprint_of_what_ranks_see(spec: &Spec) -> String {
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
        assert_eq!(
            fingerprint_of_what_ranks_see(&spec("eth0", "a")),
            fingerprint_of_what_ranks_see(&spec("eth0", "b"))
        );
        assert_ne!(
            fingerprint_of_what_ranks_see(&spec("eth0", "a")),
            fingerprint_of_what_ranks_see(&spec("rail0", "a"))
        );
    }
}
