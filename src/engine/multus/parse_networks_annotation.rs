//! The networks annotation, read as Multus v4 reads it (k8snetworkplumbingwg/multus-cni
//! pkg/k8sclient/k8sclient.go): text with any of `[`, `{` or `"` is a JSON list, anything else a comma list
//! of `[namespace/]name[@interface]`.

use super::networks_annotation_error::{AnnotationError, shorten};
use super::networks_annotation_requests::{self, Requests};
use crate::json::as_go_reads::does_key_match_field;
use crate::json::types_of_decoded_fields::{Pairs, Text};
use crate::text::split_at_first;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Annotations of one object share 256 KiB (k8s.io/apimachinery pkg/api/validation, TotalAnnotationSizeLimitB).
const MAX_BYTES: usize = 256 * 1024;
/// Most networks of a pod; real pods have as many as rails. Each is compared with the pod's devices, its node selector and
/// the known objects.
pub const MAX_NETWORKS: usize = 256;
/// Longest name of a network (bytes; k8s.io/apimachinery pkg/util/validation, `DNS1123SubdomainMaxLength`).
const MAX_NAME: usize = 253;
/// IFNAMSIZ - 1.
const MAX_INTERFACE: usize = 15;

/// The networks that a pod requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedNetworks<'a> {
    text: &'a str,
    form: Form,
    /// Attachments in order; a network named twice has two attachments.
    pub items: Vec<RequestedAttachment<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Short,
    Json,
}

/// One attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedAttachment<'a> {
    /// Namespace of the NetworkAttachmentDefinition; if absent, the pod's own.
    pub namespace: Option<Cow<'a, str>>,
    /// Name of the NetworkAttachmentDefinition.
    pub name: Cow<'a, str>,
    /// Interface in the pod; if absent, `netN` by position.
    pub interface: Option<Cow<'a, str>>,
    /// Its other requests; `None` if there are none, as in most pods.
    pub requests: Option<Box<Requests<'a>>>,
}

/// Reads the annotation.
///
/// # Errors
/// [`AnnotationError`] when Multus would fail the pod's sandbox over it, or when it names more than [`MAX_NETWORKS`].
pub fn parse_within_limit(text: &str) -> Result<RequestedNetworks<'_>, AnnotationError> {
    parse_up_to(text, MAX_NETWORKS)
}

/// The same with every network, however many there are: for questions that each network answers by itself.
///
/// # Errors
/// [`AnnotationError`] when Multus would fail the pod's sandbox over it.
pub fn parse_all(text: &str) -> Result<RequestedNetworks<'_>, AnnotationError> {
    parse_up_to(text, usize::MAX)
}

fn parse_up_to(text: &str, most: usize) -> Result<RequestedNetworks<'_>, AnnotationError> {
    if text.len() > MAX_BYTES {
        return Err(AnnotationError::TooLong(text.len()));
    }
    // It looks at every byte, so that the compiler uses vectors.
    if text.bytes().fold(false, |found, b| found | matches!(b, b'[' | b'{' | b'"')) {
        return Ok(RequestedNetworks { text, form: Form::Json, items: parse_json(text, most)? });
    }
    // Multus takes only the empty text for no networks (pkg/k8sclient/k8sclient.go, GetPodNetwork).
    let items = match text.trim().is_empty() {
        true if text.is_empty() => Vec::new(),
        true => return Err(AnnotationError::Blank),
        false => parse_short(text, most)?,
    };
    Ok(RequestedNetworks { text, form: Form::Short, items })
}

fn refuse_too_many(networks: usize, most: usize) -> Result<(), AnnotationError> {
    if networks > most { Err(AnnotationError::TooMany(networks)) } else { Ok(()) }
}

fn parse_short(text: &str, most: usize) -> Result<Vec<RequestedAttachment<'_>>, AnnotationError> {
    let networks = text.bytes().filter(|b| *b == b',').count() + 1;
    refuse_too_many(networks, most)?;
    let mut items = Vec::with_capacity(networks.min(MAX_NETWORKS));
    let mut rest = text;
    while let Some((item, after)) = split_at_first(rest, b',') {
        items.push(short_item(item.trim(), items.len() + 1)?);
        rest = after;
    }
    items.push(short_item(rest.trim(), items.len() + 1)?);
    Ok(items)
}

/// An element of the short form, without the white space around it.
fn short_item(item: &str, index: usize) -> Result<RequestedAttachment<'_>, AnnotationError> {
    let (network, interface) = match split_at_first(item, b'@') {
        Some((_, rest)) if rest.as_bytes().contains(&b'@') => return Err(AnnotationError::Shape(index)),
        // Multus skips empty parts (pkg/k8sclient/k8sclient.go, parsePodNetworkObjectName).
        Some((network, interface)) => (network.trim(), Some(interface.trim()).filter(|i| !i.is_empty())),
        None => (item, None),
    };
    let (namespace, name) = match split_at_first(network, b'/') {
        Some((_, rest)) if rest.as_bytes().contains(&b'/') => return Err(AnnotationError::Shape(index)),
        Some((namespace, name)) => (Some(namespace.trim()).filter(|n| !n.is_empty()), name.trim()),
        None => (None, network),
    };
    if name.is_empty() {
        return Err(AnnotationError::NoName(index));
    }
    // The short form accepts only labels: no dot, unlike the JSON form.
    check_name(index, "network name", name, |n| n.len() <= MAX_NAME && is_part_of_dns_name(n))?;
    if let Some(namespace) = namespace {
        check_name(index, "namespace", namespace, is_dns_label)?;
    }
    if let Some(interface) = interface {
        check_name(index, "interface", interface, is_interface_name)?;
    }
    Ok(RequestedAttachment {
        namespace: namespace.map(Cow::Borrowed),
        name: Cow::Borrowed(name),
        interface: interface.map(Cow::Borrowed),
        requests: None,
    })
}

fn parse_json(text: &str, most: usize) -> Result<Vec<RequestedAttachment<'_>>, AnnotationError> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
        if error.is_data() { AnnotationError::NotAList } else { AnnotationError::Json(error.to_string()) }
    })?;
    refuse_too_many(elements.len(), most)?;
    elements
        .into_iter()
        .enumerate()
        .map(|(i, element)| {
            let index = i + 1;
            let item: Pairs<'_, Option<&RawValue>> =
                serde_json::from_str(element.get()).map_err(|_| AnnotationError::NotAnObject(index))?;
            let name = member(&item, "name", index, "network name")?.filter(|n| !n.is_empty());
            let name = name.ok_or(AnnotationError::NoName(index))?;
            let namespace = member(&item, "namespace", index, "namespace")?.filter(|n| !n.is_empty());
            let interface = member(&item, "interface", index, "interface")?.filter(|n| !n.is_empty());
            // The deprecated spelling, which Multus reads if the other is empty.
            let deprecated = member(&item, "interfaceRequest", index, "interface")?.filter(|n| !n.is_empty());
            let interface = interface.or(deprecated);
            check_name(index, "network name", &name, is_dns_subdomain)?;
            if let Some(namespace) = &namespace {
                check_name(index, "namespace", namespace, is_dns_label)?;
            }
            if let Some(interface) = &interface {
                check_name(index, "interface", interface, is_interface_name)?;
            }
            let requests = networks_annotation_requests::read_requests_of_element(&item, index)?;
            Ok(RequestedAttachment { namespace, name, interface, requests })
        })
        .collect()
}

/// A text member, as Go's decoder reads it: of several the last counts, null changes nothing, and a value of another type
/// makes the annotation unreadable.
fn member<'a>(
    item: &Pairs<'a, Option<&'a RawValue>>,
    key: &str,
    index: usize,
    what: &'static str,
) -> Result<Option<Cow<'a, str>>, AnnotationError> {
    let mut found = None;
    for (_, raw) in item.iter().filter(|(k, _)| does_key_match_field(key, k)) {
        let Some(raw) = raw else { continue };
        let text: Text<'a> = serde_json::from_str(raw.get()).map_err(|_| AnnotationError::BadName {
            index,
            what,
            value: shorten(raw.get()),
        })?;
        found = Some(text.0);
    }
    Ok(found)
}

fn check_name(
    index: usize,
    what: &'static str,
    value: &str,
    valid: fn(&str) -> bool,
) -> Result<(), AnnotationError> {
    if valid(value) { Ok(()) } else { Err(AnnotationError::BadName { index, what, value: shorten(value) }) }
}

/// A DNS-1123 label: the form of a namespace's name.
#[must_use]
pub fn is_dns_label(name: &str) -> bool {
    name.len() <= 63 && is_part_of_dns_name(name)
}

/// A DNS-1123 subdomain: the form of a custom resource's name. Its parts have no limit of their own
/// (k8s.io/apimachinery pkg/util/validation).
#[must_use]
pub fn is_dns_subdomain(name: &str) -> bool {
    // Most names have no dot.
    name.len() <= MAX_NAME && (is_part_of_dns_name(name) || name.split('.').all(is_part_of_dns_name))
}

fn is_part_of_dns_name(name: &str) -> bool {
    let inner = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    let bytes = name.as_bytes();
    bytes.iter().all(inner)
        && bytes.first().is_some_and(|b| *b != b'-')
        && bytes.last().is_some_and(|b| *b != b'-')
}

/// A Linux interface name: at most 15 bytes, no white space, no slash, no colon, neither `.` nor `..`
/// (containernetworking/cni pkg/utils/utils.go, ValidateInterfaceName; Linux net/core/dev.c, dev_valid_name).
#[must_use]
pub fn is_interface_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_INTERFACE
        && name != "."
        && name != ".."
        && name.chars().all(|c| !c.is_whitespace() && !c.is_control() && !matches!(c, '/' | ':'))
}

impl RequestedNetworks<'_> {
    /// The annotation with attachments appended, in its own form: order, spacing and unknown keys do not change.
    #[must_use]
    pub fn annotation_with_added(&self, added: &[RequestedAttachment<'_>]) -> String {
        match self.form {
            Form::Short => {
                let separator = if self.text.contains(", ") { ", " } else { "," };
                let mut out = self.text.trim_end().to_owned();
                for item in added {
                    if !out.is_empty() {
                        out.push_str(separator);
                    }
                    item.push_short(&mut out);
                }
                out
            }
            Form::Json => {
                let Some((head, tail)) = self.text.rfind(']').and_then(|at| self.text.split_at_checked(at))
                else {
                    return self.text.to_owned();
                };
                let last = head.trim_end();
                let mut out = last.to_owned();
                let separator = if self.text.trim().contains('\n') { ",\n  " } else { ", " };
                let mut first = self.items.is_empty();
                for item in added {
                    if !first {
                        out.push_str(separator);
                    }
                    first = false;
                    out.push_str(&item.json_form());
                }
                out.push_str(head.get(last.len()..).unwrap_or_default());
                out.push_str(tail);
                out
            }
        }
    }
}

impl RequestedAttachment<'_> {
    /// `[namespace/]name[@interface]`.
    #[must_use]
    pub fn short_form(&self) -> String {
        let mut out = String::with_capacity(self.short_length());
        self.push_short(&mut out);
        out
    }

    /// The length of its short form (bytes).
    pub(crate) fn short_length(&self) -> usize {
        let length = |part: &Option<Cow<'_, str>>| part.as_ref().map_or(0, |p| p.len() + 1);
        length(&self.namespace) + self.name.len() + length(&self.interface)
    }

    /// Writes its short form.
    pub(crate) fn push_short(&self, out: &mut String) {
        if let Some(namespace) = &self.namespace {
            out.push_str(namespace);
            out.push('/');
        }
        out.push_str(&self.name);
        if let Some(interface) = &self.interface {
            out.push('@');
            out.push_str(interface);
        }
    }

    /// A JSON object. The three texts are valid names, which need no escaping.
    fn json_form(&self) -> String {
        let mut out = format!("{{\"name\":\"{}\"", self.name);
        if let Some(namespace) = &self.namespace {
            out.push_str(&format!(",\"namespace\":\"{namespace}\""));
        }
        if let Some(interface) = &self.interface {
            out.push_str(&format!(",\"interface\":\"{interface}\""));
        }
        out.push('}');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shorts(text: &str) -> Vec<String> {
        parse_within_limit(text).unwrap().items.iter().map(RequestedAttachment::short_form).collect()
    }

    fn rail(i: usize) -> RequestedAttachment<'static> {
        RequestedAttachment {
            namespace: Some("default".into()),
            name: "net".into(),
            interface: Some(format!("rail{i}").into()),
            requests: None,
        }
    }

    #[test]
    fn reads_the_short_form() {
        assert_eq!(shorts("rdma-net, rdma-net"), ["rdma-net", "rdma-net"]);
        assert_eq!(shorts(" a/b@net1 ,c@x "), ["a/b@net1", "c@x"]);
        assert_eq!(shorts("net1,\n net2"), ["net1", "net2"]);
        assert!(shorts("").is_empty());
    }

    #[test]
    fn reads_the_json_form() {
        assert_eq!(
            shorts(r#"[{"name":"a","namespace":"n","interface":"x"},{"Name":"b.c"}]"#),
            ["n/a@x", "b.c"]
        );
        assert_eq!(shorts(r#"[{"name":"a","mac":"c2:b0:57:49:47:f1","cni-args":{"x":[1]}}]"#), ["a"]);
        assert_eq!(shorts(r#"[{"name":"a","interfaceRequest":"x"}]"#), ["a@x"]);
        assert!(shorts("[]").is_empty());
    }

    #[test]
    fn empty_parts_are_skipped() {
        for text in ["/a", "a@", "/a@"] {
            let item = &parse_within_limit(text).unwrap().items[0];
            assert_eq!((&*item.name, &item.namespace, &item.interface), ("a", &None, &None), "{text}");
        }
    }

    #[test]
    fn refuses_what_multus_refuses() {
        for text in [
            "a,,b",
            ",a",
            "a,",
            "A",
            "a.b",
            "  ",
            "a@rail:0",
            "a/b/c",
            "a@b@c",
            "a@averyverylongname",
            "a/",
            "[null]",
            "[\"a\"]",
            "{\"name\":\"a\"}",
            "[{\"name\":\"a\"},]",
            "['a']",
            "[{}]",
            "[{\"name\":null}]",
            "[{\"name\":\"../x\"}]",
            "[{\"name\":\"a\",\"interface\":\"x/y\"}]",
            "[1]",
            "[[]]",
            "\"a\"",
            "{",
            "[{\"name\":1}]",
        ] {
            assert!(parse_within_limit(text).is_err(), "{text}");
        }
        assert_eq!(parse_within_limit(&"x".repeat(1 << 20)), Err(AnnotationError::TooLong(1 << 20)));
    }

    #[test]
    fn more_networks_than_any_pod_has() {
        for list in
            [|n: usize| vec!["a"; n].join(","), |n| format!("[{}]", vec![r#"{"name":"a"}"#; n].join(","))]
        {
            assert_eq!(parse_within_limit(&list(MAX_NETWORKS)).unwrap().items.len(), MAX_NETWORKS);
            assert_eq!(
                parse_within_limit(&list(MAX_NETWORKS + 1)),
                Err(AnnotationError::TooMany(MAX_NETWORKS + 1))
            );
            assert_eq!(parse_all(&list(MAX_NETWORKS + 1)).unwrap().items.len(), MAX_NETWORKS + 1);
        }
    }

    #[test]
    fn quotes_at_most_forty_characters() {
        let quoted = |name: &str| match parse_within_limit(name) {
            Err(AnnotationError::BadName { value, .. }) => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(quoted(&"A".repeat(40)), "A".repeat(40));
        assert_eq!(quoted(&"A".repeat(41)), format!("{}…", "A".repeat(40)));
    }

    #[test]
    fn appends_in_the_existing_form() {
        assert_eq!(
            parse_within_limit("").unwrap().annotation_with_added(&[rail(0), rail(1)]),
            "default/net@rail0,default/net@rail1"
        );
        assert_eq!(
            parse_within_limit("a, b").unwrap().annotation_with_added(&[rail(0)]),
            "a, b, default/net@rail0"
        );
        assert_eq!(
            parse_within_limit(r#"[{"name":"a","mac":"02:00:00:00:00:01"}]"#)
                .unwrap()
                .annotation_with_added(&[rail(0)]),
            r#"[{"name":"a","mac":"02:00:00:00:00:01"}, {"name":"net","namespace":"default","interface":"rail0"}]"#
        );
        assert_eq!(
            parse_within_limit("[]").unwrap().annotation_with_added(&[rail(0)]),
            r#"[{"name":"net","namespace":"default","interface":"rail0"}]"#
        );
        let multi = "[\n  {\"name\":\"a\"}\n]\n";
        let merged = parse_within_limit(multi).unwrap().annotation_with_added(&[rail(0)]);
        assert_eq!(
            merged,
            "[\n  {\"name\":\"a\"},\n  {\"name\":\"net\",\"namespace\":\"default\",\"interface\":\"rail0\"}\n]\n"
        );
        assert_eq!(parse_within_limit(&merged).unwrap().items.len(), 2);
    }
}
