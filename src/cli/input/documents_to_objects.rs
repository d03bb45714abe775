//! Documents to objects: lists and AdmissionReviews unwrapped, headers read, facts taken.

use super::items_of_lists::{AroundItem, ItemsOfObject, items_of_object};
use super::{place_of_value, source_of_object};
use crate::json::types_of_decoded_fields::{Text, optional_struct};
use crate::manifest::{Document, Part};
use crate::report::{Skipped, UnreadInput};
use crate::review::admission_review;
use crate::snapshot::{Builder, FactError, Layer};
use crate::text::count_with_noun;
use serde::Deserialize;
use std::ops::Range;
use std::sync::Arc;

/// An object of a document.
#[derive(Clone)]
pub(in crate::cli) struct InputObject<'a> {
    pub(in crate::cli) document: &'a Document,
    /// JSON pointer of the object in its document.
    pub(in crate::cli) pointer: String,
    /// Where the object starts in the JSON of its document (bytes).
    pub(in crate::cli) start: usize,
    /// The bytes of its items in the JSON of the document, which are objects of their own; empty for most objects.
    pub(in crate::cli) items: Range<usize>,
    /// Its text in this JSON, or a corrected copy.
    pub(in crate::cli) json: &'a str,
    pub(in crate::cli) api_version: String,
    pub(in crate::cli) kind: String,
    pub(in crate::cli) namespace: Option<String>,
    pub(in crate::cli) name: Option<String>,
    pub(in crate::cli) generate_name: Option<String>,
}

impl InputObject<'_> {
    pub(in crate::cli) fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The object in its document.
    pub(in crate::cli) fn part_of_document(&self) -> Part<'static> {
        Part { start: self.start, pointer: "" }
    }

    /// A template of it, given as its text and its pointer in the object. A corrected text is not in the document.
    pub(in crate::cli) fn part_of_template<'p>(&self, json: &str, pointer: &'p str) -> Part<'p> {
        let own =
            self.document.range_of_text_in_json(json).map(|range| Part { start: range.start, pointer: "" });
        own.unwrap_or(Part { start: self.start, pointer })
    }

    pub(in crate::cli) fn is_pod(&self) -> bool {
        self.group().is_empty() && self.kind == "Pod"
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header<'a> {
    #[serde(borrow, default)]
    api_version: Option<Text<'a>>,
    #[serde(borrow, default)]
    kind: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    metadata: Option<HeaderMeta<'a>>,
}

/// Longest name, namespace, kind or apiVersion that is read (bytes): each result has a copy. Kubernetes has names of at most 253
/// characters (apimachinery pkg/util/validation, `DNS1123SubdomainMaxLength`), and an apiVersion has a group and a version.
const MAX_NAME_BYTES: usize = 512;

impl Header<'_> {
    /// The pointer and length of the first text that is too long.
    fn first_long_name(&self) -> Option<(&'static str, usize)> {
        let meta = self.metadata.as_ref();
        let named = |name: Option<&Scalar<'_>>| match name {
            Some(Scalar::Text(text)) => text.len(),
            _ => 0,
        };
        let texts = [
            ("/apiVersion", self.api_version.as_ref().map_or(0, |t| t.len())),
            ("/kind", self.kind.as_ref().map_or(0, |t| t.len())),
            ("/metadata/name", named(meta.and_then(|m| m.name.as_ref()))),
            ("/metadata/generateName", named(meta.and_then(|m| m.generate_name.as_ref()))),
            ("/metadata/namespace", named(meta.and_then(|m| m.namespace.as_ref()))),
        ];
        texts.into_iter().find(|(_, length)| *length > MAX_NAME_BYTES)
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeaderMeta<'a> {
    #[serde(borrow, default)]
    name: Option<Scalar<'a>>,
    #[serde(borrow, default)]
    generate_name: Option<Scalar<'a>>,
    #[serde(borrow, default)]
    namespace: Option<Scalar<'a>>,
}

/// A text, or a number or boolean that has to be one (FAB901 reports it).
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar<'a> {
    Text(#[serde(borrow)] Text<'a>),
    Other(serde_json::Number),
    Truth(bool),
}

impl Scalar<'_> {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Other(number) => number.to_string(),
            Self::Truth(truth) => truth.to_string(),
        }
    }
}

/// The result of reading a document.
pub(in crate::cli) enum ObjectSkippedOrUnread<'a> {
    Object(InputObject<'a>),
    Skipped(Skipped),
    Unread(UnreadInput),
}

/// Most values of a document that are reported because they are not objects (count). More are counted: a list of a few
/// megabytes may have millions of numbers.
const MAX_NO_OBJECTS: usize = 1_000;

/// What a document has, in order.
#[derive(Default)]
struct Found<'a> {
    all: Vec<ObjectSkippedOrUnread<'a>>,
    no_objects: usize,
    /// The first value that is only counted.
    first_more: Option<ObjectSkippedOrUnread<'a>>,
}

impl<'a> Found<'a> {
    fn push(&mut self, found: ObjectSkippedOrUnread<'a>) {
        if !matches!(found, ObjectSkippedOrUnread::Object(_)) {
            self.no_objects += 1;
            if self.no_objects > MAX_NO_OBJECTS {
                // An error makes the result partial, and a skipped value does not.
                let is_error = matches!(found, ObjectSkippedOrUnread::Unread(_));
                if is_error && !matches!(self.first_more, Some(ObjectSkippedOrUnread::Unread(_))) {
                    self.first_more = Some(found);
                } else {
                    self.first_more.get_or_insert(found);
                }
                return;
            }
        }
        self.all.push(found);
    }

    fn end(mut self) -> Vec<ObjectSkippedOrUnread<'a>> {
        let more = count_with_noun(self.no_objects.saturating_sub(MAX_NO_OBJECTS), "more value");
        let words = format!(
            "{more} of this document are not Kubernetes objects; only the first {MAX_NO_OBJECTS} are reported"
        );
        self.all.extend(self.first_more.map(|first| match first {
            ObjectSkippedOrUnread::Skipped(skipped) => {
                ObjectSkippedOrUnread::Skipped(Skipped { reason: words, ..skipped })
            }
            ObjectSkippedOrUnread::Unread(unread) => {
                ObjectSkippedOrUnread::Unread(UnreadInput { message: words, ..unread })
            }
            object => object,
        }));
        self.all
    }
}

/// Objects of a document, in order.
pub(in crate::cli) fn objects_in(document: &Document) -> Vec<ObjectSkippedOrUnread<'_>> {
    let mut found = Found::default();
    push_object_and_items(document, String::new(), document.json.get(), &AroundItem::default(), &mut found);
    found.end()
}

fn push_object_and_items<'a>(
    document: &'a Document,
    pointer: String,
    json: &'a str,
    around: &AroundItem,
    found: &mut Found<'a>,
) {
    // It is a slice of the JSON.
    let start = document.range_of_text_in_json(json).map_or(0, |range| range.start);
    let part = Part { start, pointer: "" };
    let unread = |at: &str, message: &str| {
        ObjectSkippedOrUnread::Unread(unread_value_with_place(document, part, (&pointer, at), message))
    };
    let header: Header<'_> = match crate::json::decode_with_place::decode_object(json) {
        Ok(header) => header,
        Err(error) => {
            found.push(unread(&error.pointer, &error.message));
            return;
        }
    };
    if let Some((at, long)) = header.first_long_name() {
        let message =
            format!("this text has {long} bytes, and Kubernetes accepts at most {MAX_NAME_BYTES} here");
        found.push(unread(at, &message));
        return;
    }
    let owned = |text: Option<Text<'_>>| text.map(|t| t.to_string()).unwrap_or_default();
    let (kind, api_version) =
        around.kind_and_api_version_of_item(owned(header.kind), owned(header.api_version));
    if kind.is_empty() {
        let reason = "not a Kubernetes object: it has no kind".to_owned();
        found.push(ObjectSkippedOrUnread::Skipped(Skipped {
            source: source_of_object(document, start, &pointer),
            reason,
        }));
        return;
    }
    let ItemsOfObject { is_only_a_list, items } = items_of_object(json, &kind);
    let inside = around.for_items(&kind, &api_version);
    if !items.is_empty() && inside.is_too_deep() {
        found.push(unread("/items", &inside.error_if_too_deep()));
        return;
    }
    if kind == "AdmissionReview" && api_version.starts_with("admission.k8s.io/") && pointer.is_empty() {
        add_object_of_admission_review(document, json, found);
    } else if !is_only_a_list {
        let range = |item: &str| document.range_of_text_in_json(item).unwrap_or_default();
        let ends = items.first().zip(items.last());
        let meta = header.metadata.unwrap_or_default();
        let named = |scalar: Option<Scalar<'_>>| scalar.map(|s| s.text()).filter(|text| !text.is_empty());
        found.push(ObjectSkippedOrUnread::Object(InputObject {
            document,
            pointer: pointer.clone(),
            start,
            items: ends.map_or(0..0, |((_, first), (_, last))| range(first).start..range(last).end),
            json,
            api_version,
            kind,
            namespace: named(meta.namespace),
            name: named(meta.name),
            generate_name: named(meta.generate_name),
        }));
    }
    for (index, item) in items {
        push_object_and_items(document, format!("{pointer}/items/{index}"), item, &inside, found);
    }
}

/// An AdmissionReview is reviewed as its request.
fn add_object_of_admission_review<'a>(document: &'a Document, json: &'a str, found: &mut Found<'a>) {
    match admission_review::parse(json.as_bytes()) {
        Err(error) => found.push(ObjectSkippedOrUnread::Unread(unread_value_with_place(
            document,
            Part::default(),
            ("", ""),
            &error.to_string(),
        ))),
        Ok(request) => {
            let skip = |reason: String| {
                ObjectSkippedOrUnread::Skipped(Skipped { source: source_of_object(document, 0, ""), reason })
            };
            let operation = crate::text::escaped_and_cut(&request.operation, 20);
            let part = request.sub_resource.as_deref().filter(|s| !s.is_empty());
            let is_pod = request.kind.group.is_empty() && &*request.kind.kind == "Pod";
            let Some(object) = request.object else {
                found.push(skip("AdmissionReview without an object (DELETE or CONNECT)".to_owned()));
                return;
            };
            if let Some(part) = part {
                let part = crate::text::escaped_and_cut(part, 40);
                found.push(skip(format!(
                    "AdmissionReview of subresource {part}: only whole objects are reviewed"
                )));
            } else if is_pod && operation != "CREATE" {
                found.push(skip(format!(
                    "AdmissionReview of a pod's {operation}: pods are reviewed on CREATE"
                )));
            } else {
                let before = found.all.len();
                let pointer = "/request/object".to_owned();
                push_object_and_items(document, pointer, object.get(), &AroundItem::default(), found);
                // The request's namespace is the one that counts; the object's own may be missing.
                let namespace = request.namespace.map(|n| n.to_string()).filter(|n| !n.is_empty());
                if let (Some(ObjectSkippedOrUnread::Object(object)), Some(namespace)) =
                    (found.all.get_mut(before), namespace)
                {
                    object.namespace = Some(namespace);
                }
            }
        }
    }
}

/// A value that cannot be read: `part` is its object, `base` the pointer of the object, and `pointer` that of the value in
/// it.
pub(in crate::cli) fn unread_value_with_place(
    document: &Document,
    part: Part<'_>,
    (base, pointer): (&str, &str),
    message: &str,
) -> UnreadInput {
    let place = place_of_value(document, part, pointer);
    let whole = base.is_empty() && pointer.is_empty();
    let at = if whole { String::new() } else { format!("{base}{pointer}: ") };
    UnreadInput {
        file: Arc::clone(&document.file),
        line: place.line,
        column: place.column,
        message: format!("{at}{message}"),
    }
}

/// Problems of objects that are facts.
#[derive(Default)]
pub(in crate::cli) struct FactProblems {
    /// Each ends the run with code 2: profiles, and inputs that cannot be read at all. With a snippet of the file.
    pub(in crate::cli) errors: Vec<(UnreadInput, Option<String>)>,
    /// Ignored facts.
    pub(in crate::cli) warnings: Vec<UnreadInput>,
    /// Objects of the cluster's files of which not even the kind can be read.
    pub(in crate::cli) unread_objects: Vec<UnreadInput>,
    /// Profiles that were read so far.
    profiles: usize,
    /// Facts that were taken (count), and the documents that were looked through for them (bytes).
    pub(in crate::cli) facts: usize,
    pub(in crate::cli) bytes: usize,
    /// The same documents as JSON, with YAML aliases written out (bytes).
    pub(in crate::cli) bytes_as_json: usize,
}

/// Most FabricProfiles of files (count): each is compared with each kind of nodes. A cluster has a few.
pub(in crate::cli) const MAX_PROFILES: usize = 1_000;

/// Whether a document has an object that is a fact.
pub(super) fn has_fact(document: &Document) -> bool {
    objects_in(document).iter().any(|found| {
        matches!(found, ObjectSkippedOrUnread::Object(object) if Builder::takes(object.group(), &object.kind))
    })
}

/// Takes every object that is a fact into the builder. A fact among the inputs that cannot be read is a finding on
/// that object (FAB809), of the cluster's files a warning; a profile that cannot be read is an error.
pub(in crate::cli) fn add_facts_to_builder(
    documents: &[Document],
    layer: Layer,
    namespace: &str,
    builder: &mut Builder,
    problems: &mut FactProblems,
) {
    for document in documents {
        problems.bytes = problems.bytes.saturating_add(document.text.len());
        problems.bytes_as_json = problems.bytes_as_json.saturating_add(document.json.get().len());
        for found in objects_in(document) {
            let object = match found {
                ObjectSkippedOrUnread::Object(object) => object,
                // The review of an input reports these.
                ObjectSkippedOrUnread::Unread(_) if layer == Layer::Input => continue,
                ObjectSkippedOrUnread::Unread(unread) => {
                    problems.unread_objects.push(unread);
                    continue;
                }
                ObjectSkippedOrUnread::Skipped(_) => continue,
            };
            if !Builder::takes(object.group(), &object.kind) {
                continue;
            }
            problems.facts += 1;
            if object.kind == "FabricProfile" {
                problems.profiles += 1;
            }
            if problems.profiles > MAX_PROFILES {
                let at = (object.pointer.as_str(), "");
                let part = object.part_of_document();
                let message = format!("more than {MAX_PROFILES} FabricProfiles");
                problems.errors.push((unread_value_with_place(document, part, at, &message), None));
                return;
            }
            let own = object.namespace.as_deref().unwrap_or(namespace);
            if let Err(error) = builder.add(layer, object.group(), &object.kind, object.json, own) {
                let (pointer, message) = match &error {
                    FactError::Decode { pointer, .. } => (pointer.as_str(), error.to_string()),
                    FactError::Profile(profile) => (profile.pointer.as_str(), error.to_string()),
                    // Only live objects are limited.
                    FactError::Full { .. } => ("", error.to_string()),
                };
                let mut unread = unread_value_with_place(
                    document,
                    object.part_of_document(),
                    (&object.pointer, pointer),
                    "",
                );
                unread.message = message;
                match (object.kind.as_str(), layer) {
                    ("FabricProfile", _) => problems.errors.push((unread, None)),
                    (_, Layer::Input) => {}
                    _ => problems.warnings.push(unread),
                }
            }
        }
    }
}
