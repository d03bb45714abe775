//! Findings in the formats that CI systems read. They are written without libraries: each needs a few structs or one
//! function that escapes text, and the crates for them bring clocks, random numbers and code generators along.

mod finding_for_ci;
mod fingerprints;
mod github;
mod gitlab;
mod gzip_size_limit;
mod junit;
mod sarif;

pub use crate::text::{cut_without_runner_commands, text_without_runner_commands};
pub use finding_for_ci::{FindingForCi, Region};
pub use fingerprints::Fingerprints;
pub use github::{
    Annotation, GitHub, escape_command_data as command_text, escape_command_property as command_property,
};
pub use gitlab::GitLab;
pub use junit::{JUnit, escaped as xml_text, escaped_attribute as xml_attribute};
pub use sarif::Sarif;

use crate::report::{ReviewedObject, UnreadInput};
use std::io::{self, Write};

/// A format that CI systems read.
pub trait CiFormat {
    /// Writes what comes before the first finding.
    ///
    /// # Errors
    /// Those of the writer.
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Takes a reviewed object with its findings. `file` is relative to the root of the repository.
    ///
    /// # Errors
    /// Those of the writer.
    fn add_reviewed_object(
        &mut self,
        out: &mut dyn Write,
        file: &str,
        r: &ReviewedObject,
        issues: &[FindingForCi<'_>],
    ) -> io::Result<()>;

    /// Writes what comes after the last finding; with the errors of unreadable inputs, which make the result partial.
    ///
    /// # Errors
    /// Those of the writer.
    fn end(&mut self, out: &mut dyn Write, unread: &[UnreadInput]) -> io::Result<()>;
}
