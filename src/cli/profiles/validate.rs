//! `profiles validate`: all faults of FabricProfiles.

use crate::cli::Exit;
use crate::cli::input::documents_to_objects::{self, InputObject, ObjectSkippedOrUnread};
use crate::cli::input::{profile_faults, read_and_find_profiles, read_files_and_directories};
use crate::cli::lines_on_stderr::write_error;
use crate::manifest::{Document, DuplicateKey};
use crate::profile::FabricProfile;
use crate::report::UnreadInput;
use crate::report::ci::text_without_runner_commands;
use crate::text::{count_with_noun, nearest_if_probably_meant};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

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
    let built_in_profiles = match read_and_find_profiles::built_in_profiles() {
        Ok(built_in_profiles) => built_in_profiles,
        Err(error) => {
            write_error(err, format_args!("a compiled-in profile cannot be read: {error}"))?;
            return Ok(Exit::Internal);
        }
    };
    let mut checked = Checked::default();
    let mut visit = |documents: &[Document]| {
        for document in documents {
            for found in documents_to_objects::objects_in(document) {
                match found {
                    ObjectSkippedOrUnread::Object(object) => {
                        checked.check_object(&object, &built_in_profiles)
                    }
                    ObjectSkippedOrUnread::Unread(unread) => checked.unread.push(unread),
                    ObjectSkippedOrUnread::Skipped(_) => checked.others += 1,
                }
            }
        }
    };
    let (_, problems) =
        read_files_and_directories::read_inputs_and_visit_all(&arguments.paths, false, &mut visit);
    checked.unread.extend(problems.unread.into_iter().map(|(unread, _)| unread));
    for UnreadInput { file, line, column, message } in &checked.unread {
        write_error(err, format_args!("{file}:{line}:{column}: {message}"))?;
    }
    for UnreadInput { file, line, column, message } in &checked.faults {
        writeln!(
            out,
            "{}:{line}:{column}: {}",
            text_without_runner_commands(file),
            text_without_runner_commands(message)
        )?;
    }
    if checked.profiles == 0 && checked.unread.is_empty() {
        write_error(err, format_args!("no FabricProfile in the inputs"))?;
        return Ok(Exit::Usage);
    }
    let faults = match checked.faults.len() {
        0 => "no faults".to_owned(),
        n => count_with_noun(n, "fault"),
    };
    let others = match checked.others {
        0 => String::new(),
        n => format!("; {} of other kinds not checked", count_with_noun(n, "object")),
    };
    writeln!(out, "{}, {faults}{others}", count_with_noun(checked.profiles, "profile"))?;
    Ok(Exit::of_unreadable_or_failed(!checked.unread.is_empty(), !checked.faults.is_empty()))
}

#[derive(Default)]
struct Checked {
    profiles: usize,
    /// Objects of other kinds (count).
    others: usize,
    faults: Vec<UnreadInput>,
    unread: Vec<UnreadInput>,
    /// The place of each profile by its name.
    names: BTreeMap<String, String>,
}

impl Checked {
    fn check_object(&mut self, object: &InputObject<'_>, bases: &[FabricProfile]) {
        let first = self.faults.len();
        let mut fault = |pointer: &str, message: &str| {
            let at = (object.pointer.as_str(), pointer);
            self.faults.push(documents_to_objects::unread_value_with_place(
                object.document,
                object.part_of_document(),
                at,
                message,
            ));
        };
        if object.kind != KIND || object.group() != GROUP {
            // A misspelt kind would be skipped silently.
            let near = nearest_if_probably_meant(&object.kind, std::iter::once(KIND)).is_some();
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
        match profile_faults::profile_or_faults(object.json, bases, profile_faults::MAX_FAULTS) {
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
        self.faults.splice(first..first, faults_of_repeated_keys(object));
        if let Some(own) = self.faults.get_mut(first..) {
            own.sort_by_key(|fault| (fault.line, fault.column));
        }
    }
}

/// The keys that an object gives twice. The last value counts, which is rarely what the author sees.
fn faults_of_repeated_keys(object: &InputObject<'_>) -> Vec<UnreadInput> {
    let (repeated, all) = object.document.repeated_keys_in(
        object.part_of_document(),
        &object.items,
        profile_faults::MAX_FAULTS,
    );
    let last = repeated.len();
    let fault = |((path, twice), number): ((String, &DuplicateKey), usize)| {
        let others = match all - last {
            more if more > 0 && number == last => {
                format!("; {}", count_with_noun(more, "more duplicate key"))
            }
            _ => String::new(),
        };
        let (key, first, base) = (&twice.key, twice.first.line, &object.pointer);
        UnreadInput {
            file: Arc::clone(&object.document.file),
            line: twice.second.line,
            column: twice.second.column,
            message: format!("{base}{path}: duplicate key {key:?} (first on line {first}){others}"),
        }
    };
    repeated.into_iter().zip(1..).map(fault).collect()
}
