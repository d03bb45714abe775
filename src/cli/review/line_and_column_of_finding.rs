//! The lines and columns of findings in their file.

use super::document_results::GivenObject;
use crate::manifest::{Part, Position};
use crate::report::Place;
use crate::rules::Finding;

/// The places of findings, whose paths start at a part of the object. The part is looked through once for all of them, and once
/// more for each fault in a text.
pub(super) fn places_of_findings(
    given: GivenObject<'_>,
    part: Part<'_>,
    findings: &[&Finding],
) -> Vec<Place> {
    let document = given.object.document;
    let paths: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
    let of_values = document.positions_in_part_at_or_above(part, &paths);
    let place = |(finding, of_value): (&&Finding, Position)| {
        let at = finding.spot.map_or(of_value, |spot| {
            let lines_from = |line: u32| given.file.lines().bytes_from_line(line);
            document.position_inside_string(lines_from, part, &finding.path, (spot.line, spot.column))
        });
        Place { line: at.line, column: at.column }
    };
    findings.iter().zip(of_values).map(place).collect()
}
