//! The formats with changes only: YAML, patches and diffs.

use super::diff_of_yaml;
use super::format_writer::{AfterAllDocuments, DocumentToWrite, FormatWriter, Sink};
use crate::manifest;
use crate::report::ReviewedObject;
use crate::report::ci::text_without_runner_commands;
use crate::report::json_without_runner_commands::write_json;
use crate::report::review_json::patch_entries;
use crate::text::count_with_noun;
use serde_json::{Value, json};
use std::io::{self, Write};

/// A last line for outputs that have comments: documents are missing that could not be read.
fn write_note_on_missing_documents(out: &mut dyn Write, tail: &AfterAllDocuments) -> io::Result<()> {
    match tail.summary.unreadable {
        0 => Ok(()),
        inputs => writeln!(out, "# partial result: {} unreadable", count_with_noun(inputs, "input")),
    }
}

#[derive(Default)]
pub(super) struct Yaml {
    begun: bool,
}

impl FormatWriter for Yaml {
    fn write_document(&mut self, out: &mut Sink<'_>, reviewed: DocumentToWrite<'_>) -> io::Result<()> {
        let DocumentToWrite { file, document, .. } = reviewed;
        let behind = std::mem::replace(&mut self.begun, true);
        if behind {
            writeln!(out, "---")?;
        }
        let changed = reviewed.results_with_patch();
        if changed.is_empty() {
            let text = file.text.get(document.text.clone()).unwrap_or_default();
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            let as_it_is =
                |text| manifest::fits_into_log_of_ci_runner(text) && !(behind && has_escapes_of_json(text));
            if !std::str::from_utf8(text).is_ok_and(as_it_is) {
                let value: Value = serde_json::from_str(document.json.get())?;
                return out.write_all(manifest::to_yaml(&value).as_bytes());
            }
            out.write_all(text)?;
            if !text.ends_with(b"\n") {
                writeln!(out)?;
            }
            return Ok(());
        }
        let mut value: Value = serde_json::from_str(document.json.get())?;
        apply_changes(&mut value, &changed)?;
        out.write_all(manifest::to_yaml(&value).as_bytes())
    }

    fn write_end(&mut self, out: &mut Sink<'_>, tail: &AfterAllDocuments) -> io::Result<()> {
        // A comment of its own document: it never becomes a part of a text that ends the document before.
        if self.begun && tail.summary.partial {
            writeln!(out, "---")?;
        }
        write_note_on_missing_documents(out, tail)
    }
}

/// Whether a text may be JSON with escapes that YAML 1.1 does not have: of a slash, and of the halves of a character. kubectl reads a
/// document behind `---` as YAML.
fn has_escapes_of_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && ["\\/", "\\ud", "\\uD"].into_iter().any(|escape| text.contains(escape))
}

pub(super) struct Patch;

impl FormatWriter for Patch {
    fn write_document(&mut self, out: &mut Sink<'_>, reviewed: DocumentToWrite<'_>) -> io::Result<()> {
        for r in reviewed.results_with_patch() {
            let line = json!({
                "source": r.source, "apiVersion": r.api_version, "kind": r.kind, "namespace": r.namespace,
                "name": r.name, "generateName": r.generate_name, "template": r.template,
                "profile": r.decision.profile, "patch": serde_json::to_value(patch_entries(&r.decision.patch))?,
            });
            write_json(&mut *out, &line)?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn write_end(&mut self, out: &mut Sink<'_>, tail: &AfterAllDocuments) -> io::Result<()> {
        // Each line is JSON, so the mark is too. Its list of operations is empty: applied, it changes nothing.
        match tail.summary.unreadable {
            0 => Ok(()),
            inputs => writeln!(out, "{}", json!({"partial": true, "unreadable": inputs, "patch": []})),
        }
    }
}

pub(super) struct Diff;

impl FormatWriter for Diff {
    fn write_document(&mut self, out: &mut Sink<'_>, reviewed: DocumentToWrite<'_>) -> io::Result<()> {
        let (changed, document) = (reviewed.results_with_patch(), reviewed.document);
        if changed.is_empty() {
            return Ok(());
        }
        let mut value: Value = serde_json::from_str(document.json.get())?;
        let before = manifest::to_yaml(&value);
        apply_changes(&mut value, &changed)?;
        let after = manifest::to_yaml(&value);
        drop(value);
        let file = text_without_runner_commands(&document.file);
        let name = format!("{file} (document {})", document.index);
        write!(out, "--- {name}\n+++ {name}, admitted\n{}", diff_of_yaml::hunks(&before, &after))
    }

    fn write_end(&mut self, out: &mut Sink<'_>, tail: &AfterAllDocuments) -> io::Result<()> {
        write_note_on_missing_documents(out, tail)
    }
}

fn apply_changes(document: &mut Value, changed: &[&ReviewedObject]) -> io::Result<()> {
    for reviewed in changed {
        let prefix =
            format!("{}{}", reviewed.source.pointer, reviewed.template.as_deref().unwrap_or_default());
        let operations = prefixed(&prefix, &reviewed.decision.patch)?;
        json_patch::patch(document, &operations).map_err(io::Error::other)?;
    }
    Ok(())
}

fn prefixed(prefix: &str, patch: &crate::patch::Patch) -> io::Result<json_patch::Patch> {
    let operations: Vec<Value> = patch
        .read_operations()
        .iter()
        .map(|o| Ok(json!({"op": o.op, "path": format!("{prefix}{}", &*o.path), "value": serde_json::from_str::<Value>(o.value.get())?})))
        .collect::<io::Result<_>>()?;
    Ok(serde_json::from_value(Value::Array(operations))?)
}
