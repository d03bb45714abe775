//! The line and column of a finding in its file.

use super::document_results::GivenObject;
use crate::cli::input::place_of_value;
use crate::manifest::Part;
use crate::report::Place;
use crate::rules::Finding;

/// The place of a finding, whose path starts at a part of the object.
pub(super) fn place_of_finding(given: GivenObject<'_>, part: Part<'_>, finding: &Finding) -> Place {
    let GivenObject { file, object } = given;
    match finding.spot {
        None => place_of_value(object.document, part, &finding.path),
        Some(spot) => {
            let spot = (spot.line, spot.column);
            let lines_from = |line: u32| file.lines().bytes_from_line(line);
            let at = object.document.position_inside_string(lines_from, part, &finding.path, spot);
            Place { line: at.line, column: at.column }
        }
    }
}
