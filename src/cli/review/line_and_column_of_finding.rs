//! The line and column of a finding in its file.

use super::document_results::Given;
use crate::cli::input::place;
use crate::report::Place;
use crate::rules::Finding;

/// The place of a finding. Its path is relative to a part of the object: the part's text, and its pointer in the document.
pub(super) fn of(given: Given<'_>, part: (&str, &str), finding: &Finding) -> Place {
    let Given { file, object } = given;
    match finding.spot {
        None => place(object.document, part, &finding.path),
        Some(spot) => {
            let spot = (spot.line, spot.column);
            let at = object.document.locate_within((&file.text, file.line), part, &finding.path, spot);
            Place { line: at.line, column: at.column }
        }
    }
}
