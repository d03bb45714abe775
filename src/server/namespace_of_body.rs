//! The namespace that a body names, as a number: the requests of one namespace wait for one another, and not the
//! requests of all others for them.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// Before the namespace of a request, the API server writes the kinds, the resources and the name (k8s.io/api/admission/v1,
/// `AdmissionRequest`). It calls mutating webhooks before it checks the name, which may have any length.
const KEY: &[u8] = br#""namespace":"#;

/// In these first bytes of a body, an API server writes the namespace. The thread that reads bodies looks for it, and takes
/// milliseconds for 8 MiB of quotes and colons.
const NAMESPACE_ENDS_WITHIN: usize = 64 * 1024;

/// Longest name that is read (bytes). Names of namespaces have at most 63 (k8s.io/apimachinery pkg/util/validation,
/// `DNS1123LabelMaxLength`).
const MAX_NAME: usize = 64;

/// Most blanks before the name (bytes).
const MAX_BLANKS: usize = 16;

/// So that nobody chooses two namespaces with one number.
static HASHES: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Key of the name of the object, which an API server writes before the namespace.
const KEY_OF_NAME: &[u8] = br#""name":"#;

/// The number of the first namespace that a body names. Whoever writes the body may name any, so nothing but the order and
/// the number of the requests of one client depends on it.
pub(super) fn hash_of_first_namespace(body: &[u8]) -> u64 {
    hash_of_namespace_if_complete(body).unwrap_or_else(|| HASHES.hash_one(b"".as_slice()))
}

/// The same of the beginning of a body; `None` if the namespace does not end there.
pub(super) fn hash_of_namespace_if_complete(body: &[u8]) -> Option<u64> {
    let name = text_behind_first_key(body.get(..NAMESPACE_ENDS_WITHIN).unwrap_or(body), KEY)?;
    let name = name.get(..MAX_NAME).unwrap_or(name);
    let end = memchr::memchr(b'"', name).or((name.len() == MAX_NAME).then_some(MAX_NAME))?;
    Some(HASHES.hash_one(name.get(..end)?))
}

/// In these first bytes of a body, the name of the object begins. Kinds and resources stand before it.
const NAME_BEGINS_WITHIN: usize = 4 * 1024;

/// A name of so many bytes or more is too long.
pub(super) const MIN_LONG_NAME: usize = 60 * 1024;

/// Whether so much of the name of the object is in this beginning of a body that it is too long.
pub(super) fn has_long_name(body: &[u8]) -> bool {
    let begins = body.get(..NAME_BEGINS_WITHIN).unwrap_or(body);
    let Some(begun) = text_behind_first_key(begins, KEY_OF_NAME) else { return false };
    let mut name = body.get(begins.len() - begun.len()..).unwrap_or_default();
    let all = name.len();
    while let Some(at) = memchr::memchr2(b'"', b'\\', name) {
        if name.get(at) == Some(&b'"') {
            return all - name.len() + at >= MIN_LONG_NAME;
        }
        name = name.get(at + 2..).unwrap_or_default();
    }
    all >= MIN_LONG_NAME
}

/// What follows the first quote of the text behind a key.
fn text_behind_first_key<'b>(body: &'b [u8], key: &[u8]) -> Option<&'b [u8]> {
    let at = memchr::memmem::find(body, key)? + key.len();
    // Go writes no blanks; other clients write one. To skip any number would hold up the thread that reads bodies.
    let rest = body.get(at..)?;
    let blanks = rest.iter().take(MAX_BLANKS).take_while(|byte| byte.is_ascii_whitespace()).count();
    rest.get(blanks..)?.strip_prefix(b"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_namespace_of_a_body() {
        let of = |body: &str| hash_of_first_namespace(body.as_bytes());
        let review = |namespace: &str| {
            format!(
                r#"{{"request":{{"kind":{{"kind":"Pod"}},"namespace":{namespace},"object":{{"namespace":"x"}}}}}}"#
            )
        };
        assert_eq!(of(&review("\"a\"")), of(&review(" \"a\"")));
        assert_ne!(of(&review("\"a\"")), of(&review("\"b\"")));
        let blanks = |n: usize| format!("{}\"a\"", " ".repeat(n));
        assert_eq!(
            [blanks(16), blanks(17)].map(|name| of(&review(&name)) == of(&review("\"a\""))),
            [true, false]
        );
        assert_eq!(of(&review("null")), of("{}"));
        let long = "n".repeat(MAX_NAME);
        assert_eq!(of(&review(&format!("\"{long}\""))), of(&review(&format!("\"{long}n\""))));
        let begin = |body: &str| hash_of_namespace_if_complete(body.as_bytes());
        assert_eq!([begin("{\"name"), begin("{\"namespace\":"), begin("{\"namespace\":\"tea")], [None; 3]);
        assert_eq!(begin("{\"namespace\":\"team\""), Some(of("{\"namespace\":\"team\"}")));
        // No API server writes it so late.
        let late = |bytes: usize| format!("{{\"x\":\"{}\",", "x".repeat(bytes));
        let at = |bytes: usize| of(&review("\"a\"").replacen('{', &late(bytes), 1));
        assert_eq!([at(1_000), at(65_536)], [of(&review("\"a\"")), of("{}")]);
        // A quote in a name is escaped, so no name looks like the key.
        let long = format!("{{\"name\":\"{}\\\"namespace\\\":\",", "n".repeat(50_000));
        assert_eq!(of(&review("\"a\"").replacen('{', &long, 1)), of(&review("\"a\"")));
    }

    #[test]
    fn long_names_are_seen_in_the_first_bytes() {
        let long = "n".repeat(MIN_LONG_NAME);
        let shorter = long.get(1..).unwrap();
        for (begin, expected) in [
            (format!(r#"{{"name":"{long}"#), true),
            (format!(r#"{{"name": "{long}","namesp"#), true),
            (format!(r#"{{"name":"{shorter}"#), false),
            (format!(r#"{{"name":"{shorter}","namesp"#), false),
            (format!(r#"{{"name":"\"{shorter}"#), true),
            (format!(r#"{{"name":"","namespace":"{long}"#), false),
            (format!(r#"{{"generateName":"{long}"#), false),
            (format!(r#"{{"spec":"{}","name":"{long}"#, "x".repeat(NAME_BEGINS_WITHIN)), false),
        ] {
            assert_eq!(has_long_name(begin.as_bytes()), expected, "{begin:.20}");
        }
    }
}
