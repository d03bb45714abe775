//! `discover --cluster`: the objects of files.

use super::read_objects_and_failures::ReadObjects;
use crate::cli::input::documents_to_objects::ObjectSkippedOrUnread;
use crate::cli::input::{self, documents_to_objects, read_files_and_directories};
use crate::cli::lines_on_stderr::write_warning;
use crate::discover::Sources;
use crate::manifest::Document;
use std::io::{self, Write};
use std::path::PathBuf;

/// The objects of files.
pub(super) fn read_objects_of_files(paths: &[PathBuf], err: &mut dyn Write) -> io::Result<ReadObjects> {
    let mut sources = Sources::default();
    let mut problems = documents_to_objects::FactProblems::default();
    let mut unreadable = false;
    for path in paths {
        let mut visit = |documents: &[Document]| {
            for document in documents {
                for found in documents_to_objects::objects_in(document) {
                    let object = match found {
                        ObjectSkippedOrUnread::Object(object) => object,
                        ObjectSkippedOrUnread::Unread(unread) => {
                            problems.errors.push((unread, None));
                            continue;
                        }
                        ObjectSkippedOrUnread::Skipped(_) => continue,
                    };
                    let namespace = object.namespace.as_deref().unwrap_or("default");
                    let (group, kind) = (object.group().to_owned(), object.kind.as_str());
                    if !Sources::is_discovery_kind(&group, kind) {
                        continue;
                    }
                    if let Err(error) = sources.add(&group, kind, object.json, namespace) {
                        let at = (object.pointer.as_str(), error.pointer.as_str());
                        problems.warnings.push(documents_to_objects::unread_value_with_place(
                            document,
                            object.part_of_document(),
                            at,
                            &error.message,
                        ));
                        unreadable = true;
                    }
                }
            }
        };
        let (_, read) = read_files_and_directories::read_inputs_and_visit_all(
            std::slice::from_ref(path),
            false,
            &mut visit,
        );
        problems.errors.extend(read.unread);
    }
    input::write_fact_warnings_and_input_errors(&problems, err)?;
    for object in sources.objects_with_two_contents() {
        write_warning(err, format_args!("{object} is in the files more than once, with different content"))?;
        unreadable = true;
    }
    Ok(ReadObjects { sources, unreadable: unreadable || !problems.errors.is_empty(), failed: false })
}
