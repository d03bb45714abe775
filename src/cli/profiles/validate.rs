//! `profiles validate`: all faults of FabricProfiles.

use crate::cli::Exit;
use crate::cli::input::documents_to_objects::{self, Found, Object};
use crate::cli::input::{files, profile_faults, profiles};
use crate::manifest::Document;
use crate::profile::FabricProfile;
use crate::report::Unread;
use crate::report::ci::log_text;
use crate::text::{count, nearest};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// File or directory with FabricProfiles, or - for standard input; objects of other kinds are not checked
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
}

/// Group of FabricProfile.
const GROUP: &str = "fabric-admission.dev";
const KIND: &str = "FabricProfile";

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let built_in_profiles = match profiles::built_in_profiles() {
        Ok(built_in_profiles) => built_in_profiles,
        Err(error) => {
            writeln!(err, "error: a compiled-in profile cannot be read: {error}")?;
            return Ok(Exit::Internal);
        }
    };
    let mut checked = Checked::default();
    let mut visit = |documents: &[Document]| {
        for document in documents {
            for found in documents_to_objects::objects_in(document) {
                match found {
                    Found::Object(object) => checked.check_object(&object, &built_in_profiles),
                    Found::Unread(unread) => checked.unread.push(unread),
                    Found::Skipped(_) => checked.others += 1,
                }
            }
        }
    };
    let (_, problems) = files::read(&arguments.paths, false, &mut visit);
    checked.unread.extend(problems.unread.into_iter().map(|(unread, _)| unread));
    for Unread { file, line, column, message } in &checked.unread {
        writeln!(err, "error: {}:{line}:{column}: {}", log_text(file), log_text(message))?;
    }
    for Unread { file, line, column, message } in &checked.faults {
        writeln!(out, "{}:{line}:{column}: {}", log_text(file), log_text(message))?;
    }
    if checked.profiles == 0 && checked.unread.is_empty() {
        writeln!(err, "error: no FabricProfile in the inputs")?;
        return Ok(Exit::Usage);
    }
    let faults = match checked.faults.len() {
        0 => "no faults".to_owned(),
        n => count(n, "fault"),
    };
    let others = match checked.others {
        0 => String::new(),
        n => format!("; {} of other kinds not checked", count(n, "object")),
    };
    writeln!(out, "{}, {faults}{others}", count(checked.profiles, "profile"))?;
    Ok(Exit::of_results(!checked.unread.is_empty(), !checked.faults.is_empty()))
}

#[derive(Default)]
struct Checked {
    profiles: usize,
    /// Objects of other kinds (count).
    others: usize,
    faults: Vec<Unread>,
    unread: Vec<Unread>,
    /// The place of each profile by its name.
    names: BTreeMap<String, String>,
}

impl Checked {
    fn check_object(&mut self, object: &Object<'_>, bases: &[FabricProfile]) {
        let first = self.faults.len();
        let mut fault = |pointer: &str, message: &str| {
            let at = (object.pointer.as_str(), pointer);
            self.faults.push(documents_to_objects::unread(object.document, object.part(), at, message));
        };
        if object.kind != KIND || object.group() != GROUP {
            // A misspelt kind would be skipped silently.
            let near = nearest(&object.kind, std::iter::once(KIND)).is_some();
            if object.group() == GROUP || near {
                self.profiles += 1;
                let (version, kind) = (&object.api_version, &object.kind);
                let message = format!("expected {GROUP}/v1alpha1 {KIND}, found {version:?} {kind:?}");
                fault(if object.kind == KIND { "/apiVersion" } else { "/kind" }, &message);
            } else {
                self.others += 1;
            }
            return;
        }
        self.profiles += 1;
        // The last value counts, which is rarely what the author sees.
        for twice in object.document.duplicates_in(object.part()) {
            let message = format!("duplicate key {:?} (first on line {})", twice.key, twice.first.line);
            fault(&object.document.pointer_of(object.part(), twice), &message);
        }
        match profile_faults::check(object.json, bases) {
            Ok(profile) => {
                let name = profile.metadata.name;
                if let Some(first) = self.names.get(&name) {
                    let message = format!("duplicate FabricProfile {name:?} (first in {first})");
                    fault("/metadata/name", &message);
                } else {
                    let file = &object.document.file;
                    self.names.insert(name, format!("{file}:{}", object.document.line));
                }
            }
            Err(faults) => faults.iter().for_each(|found| fault(&found.pointer, &found.message)),
        }
        if let Some(own) = self.faults.get_mut(first..) {
            own.sort_by_key(|fault| (fault.line, fault.column));
        }
    }
}
