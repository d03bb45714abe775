//! Objects to grow: every manifest that the tests have, and one object per CRD with every field of its schema.

use crate::support::round_trip::documents;
use crate::support::suite::Need;
use crate::support::{names, root};
use fabric_admission::rules::RULES;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// An object among others.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// File that it comes from.
    pub(super) from: String,
    /// All documents of the file.
    pub(super) documents: Arc<Vec<Value>>,
    /// Which of them is grown.
    pub(super) at: usize,
}

impl Sample {
    pub(super) fn object(&self) -> &Value {
        &self.documents[self.at]
    }

    /// Group and kind.
    pub(super) fn kind(&self) -> (&str, &str) {
        kind(self.object())
    }

    /// The other documents of the file, which are facts.
    pub(super) fn others(&self) -> impl Iterator<Item = &Value> {
        self.documents.iter().enumerate().filter(|(i, _)| *i != self.at).map(|(_, d)| d)
    }
}

pub(super) fn kind(object: &Value) -> (&str, &str) {
    let api = object["apiVersion"].as_str().unwrap_or_default();
    (api.split_once('/').map_or("", |(group, _)| group), object["kind"].as_str().unwrap_or_default())
}

/// Every sample, in an order that does not change from run to run.
pub(super) fn all() -> &'static [Sample] {
    static ALL: OnceLock<Vec<Sample>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut files: Vec<(String, Vec<Value>)> = Vec::new();
        for rule in RULES.iter() {
            for (name, text) in [("bad", rule.files.bad), ("good", rule.files.good)] {
                files.push((format!("{} {name}", rule.id), read(text.as_bytes())));
            }
        }
        for folder in
            ["tests/cases", "tests/facts-behind-rules", "examples", "tests/rights-of-the-installation"]
        {
            below(&root().join(folder), &mut files);
        }
        if let Some(shared) = Need::Shared.find() {
            below(&shared.join("data/admissionreviews"), &mut files);
            for name in names(&shared.join("crds")) {
                let text = std::fs::read(shared.join("crds").join(&name)).unwrap_or_default();
                files.extend(read(&text).iter().filter_map(skeleton).map(|o| (name.clone(), vec![o])));
            }
        }
        let profile = fabric_admission::profile::custom_resource_definition().unwrap();
        files.extend(skeleton(&profile).map(|o| ("FabricProfile CRD".to_owned(), vec![o])));
        let mut samples = Vec::new();
        for (from, mut documents) in files {
            documents.iter_mut().for_each(|document| prune(document, words()));
            let documents = Arc::new(documents);
            for at in 0..documents.len() {
                if documents[at]["kind"].is_string() {
                    samples.push(Sample { from: from.clone(), documents: Arc::clone(&documents), at });
                }
            }
        }
        samples
    })
}

/// Documents of a file; a List stands for its items and a recorded review for its object.
fn read(text: &[u8]) -> Vec<Value> {
    let unwrap = |mut document: Value| match document["kind"].as_str() {
        Some("List") => document["items"].as_array().cloned().unwrap_or_default(),
        Some("AdmissionReview") => vec![document["request"]["object"].take()],
        _ => vec![document],
    };
    documents(text).into_iter().flat_map(|(_, document)| unwrap(document)).collect()
}

/// Words of the engine's source, and in camel case: names of the fields that it reads are among them.
fn words() -> &'static BTreeSet<String> {
    fn read(folder: &Path, words: &mut BTreeSet<String>) {
        for name in names(folder) {
            let path = folder.join(&name);
            if path.is_dir() {
                read(&path, words);
            }
            let text = if name.ends_with(".rs") {
                std::fs::read_to_string(&path).unwrap_or_default()
            } else {
                String::new()
            };
            for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                words.insert(word.to_owned());
                let mut parts = word.split('_');
                let first = parts.next().unwrap_or_default().to_owned();
                let upper = |part: &str| part[..1].to_uppercase() + &part[1..];
                words.insert(parts.filter(|p| !p.is_empty()).fold(first, |name, part| name + &upper(part)));
            }
        }
    }
    static WORDS: OnceLock<BTreeSet<String>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut words = BTreeSet::new();
        read(&root().join("src/engine"), &mut words);
        words
    })
}

/// Leaves out the fields that the engine does not know. Keys of other forms are those of maps.
fn prune(value: &mut Value, words: &BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| {
                key != "managedFields"
                    && (words.contains(key) || !key.bytes().all(|b| b.is_ascii_alphanumeric()))
            });
            map.values_mut().for_each(|v| prune(v, words));
        }
        Value::Array(list) => list.iter_mut().for_each(|v| prune(v, words)),
        _ => {}
    }
}

fn below(folder: &Path, files: &mut Vec<(String, Vec<Value>)>) {
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            below(&path, files);
        } else if name.ends_with(".yaml") || name.ends_with(".json") {
            let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
            files.push((shown, read(&std::fs::read(&path).unwrap_or_default())));
        }
    }
}

/// An object of a CRD's kind with every field of its schema once.
fn skeleton(crd: &Value) -> Option<Value> {
    let spec = &crd["spec"];
    let version = spec["versions"].as_array()?.iter().find(|v| v["storage"] == true)?;
    let mut object = of_schema(&version["schema"]["openAPIV3Schema"], 0);
    let members = object.as_object_mut()?;
    let group = spec["group"].as_str()?;
    members.insert("apiVersion".to_owned(), format!("{group}/{}", version["name"].as_str()?).into());
    members.insert("kind".to_owned(), spec["names"]["kind"].clone());
    members.insert(
        "metadata".to_owned(),
        json!({"name": "a", "namespace": "team", "annotations": {"a": "b"}, "labels": {"a": "b"}}),
    );
    Some(object)
}

/// Deeper fields than this are left out.
const DEEP: usize = 16;

fn of_schema(schema: &Value, depth: usize) -> Value {
    if depth > DEEP {
        return Value::Null;
    }
    if let Some(one) = schema["enum"].as_array().and_then(|e| e.iter().find(|v| **v != "")) {
        return one.clone();
    }
    match schema["type"].as_str() {
        Some("array") => json!([of_schema(&schema["items"], depth + 1)]),
        Some("string") => "a".into(),
        Some("integer" | "number") => schema["minimum"].as_i64().unwrap_or_default().max(1).into(),
        Some("boolean") => true.into(),
        _ if schema["x-kubernetes-int-or-string"] == true => "1".into(),
        _ => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let mut object: Map<_, _> = fields.map(|(k, s)| (k.clone(), of_schema(s, depth + 1))).collect();
            if schema["additionalProperties"].is_object() {
                object.insert("a".to_owned(), of_schema(&schema["additionalProperties"], depth + 1));
            }
            object.into()
        }
    }
}
