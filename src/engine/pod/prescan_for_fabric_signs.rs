//! Whether the JSON text of a pod may have a sign of a fabric (`fabric_signs`). Most pods have none; the webhook admits
//! those without decoding them, which costs several times as much.

use super::fabric_signs::is_native_resource;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Texts of which each sign has one: parts of the domains of Multus' and our annotations and labels, the ends of `claims`
/// and `resourceClaims`, and the prefixes of variables. `\/` is an escape that the API server does not write.
static SIGNS: LazyLock<[Finder<'static>; 7]> = LazyLock::new(|| {
    ["cni.", "fabric-admission.dev", "laims\"", "\"NCCL_", "\"UCX_", "\"FI_", "\\/"].map(Finder::new)
});
/// Keys of lists of resources.
static LISTS: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| ["\"limits\"", "\"requests\""].map(Finder::new));
static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u00"));

/// Whether a pod must be decoded. False only where the pod has no sign of a fabric, and nothing else that puts it in
/// scope; true proves nothing.
#[must_use]
pub fn may_have_fabric_signs(json: &str) -> bool {
    let bytes = json.as_bytes();
    let after = |at: usize, finder: &Finder<'_>| bytes.get(at + finder.needle().len()..).unwrap_or_default();
    // What is not an object is for the decoder to refuse.
    !json.starts_with('{')
        || SIGNS.iter().any(|sign| sign.find_iter(bytes).any(|at| !is_quoted(bytes, at)))
        || LISTS.iter().any(|key| key.find_iter(bytes).any(|at| !is_native_only(after(at, key))))
        || ESCAPE.find_iter(bytes).any(|at| is_unusual_escape(after(at, &ESCAPE)))
}

/// Whether a quote stands within a text, behind a backslash: no text begins there. Pods have variables of others in such
/// places, as the keys of managed fields (`k:{\"name\":\"NCCL_DEBUG\"}`).
fn is_quoted(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'"') && at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\\')
}

/// Whether the last two digits of an escape are of a character that the API server does not escape: it does so for control
/// characters, `<`, `>` and `&` (Go's encoding/json). A sign could be written in another way with such an escape.
fn is_unusual_escape(code: &[u8]) -> bool {
    !matches!(code, [b'0' | b'1', ..] | [b'2', b'6', ..] | [b'3', b'c' | b'C' | b'e' | b'E', ..])
}

/// Whether what follows `"limits"` is its value: `null`, or a flat object of Kubernetes' own resources. Where it is not a
/// key, nothing follows from it.
fn is_native_only(text: &[u8]) -> bool {
    let Some(value) = text.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start) else {
        return true;
    };
    let Some(mut rest) = value.strip_prefix(b"{") else { return value.starts_with(b"null") };
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
        if !std::str::from_utf8(name).is_ok_and(is_native_resource) {
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
    use crate::pod::fabric_signs::FabricSigns;

    #[test]
    fn pods_without_a_sign() {
        for json in [
            "{}",
            r#"{"metadata":{"annotations":{"kubectl.kubernetes.io/last":"{\"limits\":{\"a/b\":1}}"},"labels":{"app.kubernetes.io/name":"a"}}}"#,
            r#"{"spec":{"containers":[{"name":"limits","args":["a && b"],"resources":{"limits":{"cpu":"1","memory":"1Gi","hugepages-2Mi":4}, "requests" : null}}]}}"#,
            r#"{"spec":{"containers":[{"resources":{"limits":{},"requests":{ "cpu" : 1 }},"env":[{"name":"MY_NCCL_DEBUG"}]}]}}"#,
            r#"{"metadata":{"managedFields":[{"fieldsV1":{"f:env":{"k:{\"name\":\"NCCL_DEBUG\"}":{".":{}}}}}]}}"#,
            r#"{"metadata":{"managedFields":[{"fieldsV1":{"f:resources":{"f:limits":{"f:nvidia.com/gpu":{}}}}}]}}"#,
        ] {
            assert!(!may_have_fabric_signs(json), "{json}");
        }
    }

    #[test]
    fn only_objects_are_judged() {
        assert!(may_have_fabric_signs("[]") && may_have_fabric_signs("1"));
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
            assert_ne!(
                FabricSigns::of(&serde_json::from_str::<PodView<'_>>(json).unwrap()),
                FabricSigns::default()
            );
            assert!(may_have_fabric_signs(json), "{json}");
        }
        // What cannot be followed is decoded.
        for list in
            [r#"{"cpu":{"a/b":1}}"#, r#"{"cpu":[1],"a/b":1}"#, r#"{"cpu""#, r#"{"c\"":1}"#, "[1]", "{1}"]
        {
            assert!(may_have_fabric_signs(&format!(r#"{{"limits":{list}"#)), "{list}");
        }
    }
}
