//! Whether the JSON text of a pod may have a sign of a fabric (`marks`). Most pods have none; the webhook admits those
//! without decoding them, which costs several times as much.

use super::marks::{MULTUS_DOMAIN, MULTUS_OWN_DOMAIN, OWN_DOMAIN, VARIABLES, is_native};
use memchr::memchr_iter;
use memchr::memmem::{find, find_iter};

/// Whether a pod must be decoded. False only where the pod has no sign of a fabric, and nothing else that puts it in
/// scope; true proves nothing.
#[must_use]
pub fn may_have_marks(json: &str) -> bool {
    let bytes = json.as_bytes();
    // What is not an object is for the decoder to refuse. Every sign but a part of a domain stands right after a quote.
    !json.starts_with('{')
        || find(bytes, MULTUS_DOMAIN.as_bytes()).is_some()
        || has_odd_escapes(bytes)
        || memchr_iter(b'"', bytes).any(|quote| bytes.get(quote + 1..).is_some_and(is_mark))
}

/// The API server escapes only quotes, backslashes, control characters, `<`, `>`, `&` and two line ends (Go's
/// encoding/json). With any other escape a sign could be written in another way.
fn has_odd_escapes(bytes: &[u8]) -> bool {
    find(bytes, b"\\/").is_some()
        || find_iter(bytes, b"\\u00").any(|at| {
            let code = bytes.get(at + 4..at + 6).unwrap_or_default();
            !matches!(code, [b'0' | b'1', _] | [b'2', b'6'] | [b'3', b'c' | b'C' | b'e' | b'E'])
        })
}

/// Whether a text that begins after a quote is a sign.
fn is_mark(text: &[u8]) -> bool {
    let key = |name: &str| {
        let rest = text.strip_prefix(name.as_bytes())?.strip_prefix(b"\"")?;
        rest.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start)
    };
    match text.first() {
        Some(b'f') => text.starts_with(OWN_DOMAIN.as_bytes()),
        Some(b'v') => text.starts_with(MULTUS_OWN_DOMAIN.as_bytes()),
        Some(b'N' | b'U' | b'F') => VARIABLES.iter().any(|prefix| text.starts_with(prefix.as_bytes())),
        Some(b'c') => key("claims").is_some(),
        Some(b'l') => key("limits").is_some_and(|list| !is_native_only(list)),
        Some(b'r') => {
            key("requests").is_some_and(|list| !is_native_only(list)) || key("resourceClaims").is_some()
        }
        _ => false,
    }
}

/// Whether a text begins with `null`, or with a flat object of Kubernetes' own resources.
fn is_native_only(text: &[u8]) -> bool {
    let Some(mut rest) = text.strip_prefix(b"{") else { return text.starts_with(b"null") };
    loop {
        rest = rest.trim_ascii_start();
        if rest.first() == Some(&b'}') {
            return true;
        }
        let Some((name, after)) = quoted(rest) else { return false };
        let Some(value) = after.trim_ascii_start().strip_prefix(b":") else { return false };
        let value = value.trim_ascii_start();
        let after = match quoted(value) {
            Some((_, after)) => after,
            None => match value.iter().position(|b| matches!(b, b',' | b'}' | b'{' | b'[' | b'"')) {
                Some(end) => value.get(end..).unwrap_or_default(),
                None => return false,
            },
        };
        rest = after.trim_ascii_start();
        rest = match rest.split_first() {
            Some((b',', next)) => next,
            Some((b'}', _)) => rest,
            _ => return false,
        };
        if !std::str::from_utf8(name).is_ok_and(is_native) {
            return false;
        }
    }
}

/// A text in quotes without escapes, and what follows it.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = text.strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', inner)?;
    let (name, rest) = inner.split_at_checked(end)?;
    Some((name, rest.strip_prefix(b"\"")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::PodView;
    use crate::pod::marks::Marks;

    #[test]
    fn pods_without_a_sign() {
        for json in [
            "{}",
            r#"{"metadata":{"annotations":{"kubectl.kubernetes.io/last":"{\"limits\":{\"a/b\":1}}"},"labels":{"app.kubernetes.io/name":"a"}}}"#,
            r#"{"spec":{"containers":[{"name":"limits","args":["a && b"],"resources":{"limits":{"cpu":"1","memory":"1Gi","hugepages-2Mi":4}, "requests" : null}}]}}"#,
            r#"{"spec":{"containers":[{"resources":{"limits":{},"requests":{ "cpu" : 1 }},"env":[{"name":"MY_NCCL_DEBUG"}]}]}}"#,
            r#"{"metadata":{"managedFields":[{"fieldsV1":{"f:resources":{"f:limits":{"f:nvidia.com/gpu":{}}}}}]}}"#,
        ] {
            assert!(!may_have_marks(json), "{json}");
        }
    }

    #[test]
    fn only_objects_are_judged() {
        assert!(may_have_marks("[]") && may_have_marks("1"));
    }

    #[test]
    fn whatever_has_a_sign_is_decoded() {
        for json in [
            r#"{"metadata":{"annotations":{"cni.cncf.io/networks":"a"}}}"#,
            r#"{"metadata":{"annotations":{"v1.multus-cni.io/default-network":"a"}}}"#,
            r#"{"metadata":{"labels":{"fabric-admission.dev/mode":"a"}}}"#,
            r#"{"metadata":{"labels":{"fabric\u002dadmission.dev/mode":"a"}}}"#,
            r#"{"metadata":{"labels":{"fabric-admission.dev\/mode":"a"}}}"#,
            r#"{"spec":{"resourceClaims":[{"name":"a"}]}}"#,
            r#"{"spec":{"containers":[{"resources":{"claims" :[{"name":"a"}]}}]}}"#,
            r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":1,"nvidia.com/gpu":8}}}]}}"#,
            r#"{"spec":{"containers":[{"resources":{"requests" : { "memory" : "1Gi" , "rdma/a" : "1" }}}]}}"#,
            r#"{"spec":{"containers":[{"resources":{"limits":{"gpu":1}}}]}}"#,
            r#"{"spec":{"containers":[{"resources":{"limits":{"\u0061/b":1}}}]}}"#,
            r#"{"spec":{"initContainers":[{"env":[{"name":"FI_PROVIDER"}]}]}}"#,
            r#"{"spec":{"containers":[{"env":[{"name":"NCCL_DEBUG"}]}]}}"#,
            r#"{"spec":{"containers":[{"env":[{"name":"\u004eCCL_DEBUG"}]}]}}"#,
        ] {
            assert_ne!(Marks::of(&serde_json::from_str::<PodView<'_>>(json).unwrap()), Marks::default());
            assert!(may_have_marks(json), "{json}");
        }
        // What cannot be followed is decoded.
        for list in
            [r#"{"cpu":{"a/b":1}}"#, r#"{"cpu":[1],"a/b":1}"#, r#"{"cpu""#, r#"{"c\"":1}"#, "[1]", "{1}"]
        {
            assert!(may_have_marks(&format!(r#"{{"limits":{list}"#)), "{list}");
        }
    }
}
