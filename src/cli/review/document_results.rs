//! What is reviewed, and what is found in one document.

use crate::cli::estimate::PodsToEstimate;
use crate::cli::input::LoadedFile;
use crate::cli::input::documents_to_objects::InputObject;
use crate::report::{Located, Place, Repeated, ReviewedObject, Skipped, UnreadInput};
use crate::rules::Finding;
use crate::rules::inputs::{Placeholder, Syntax};

/// An object, and the file that holds it.
#[derive(Clone, Copy)]
pub(super) struct GivenObject<'a> {
    pub(super) file: &'a LoadedFile,
    pub(super) object: &'a InputObject<'a>,
}

/// Bytes of changes of a document after which each two further ones take a unit of the work of a run. The outputs in YAML and diffs have the
/// changes of all objects of a document in memory together, about three times.
const MANY_BYTES_OF_CHANGES: usize = 32 << 20;

/// The results of one document.
#[derive(Default)]
pub(in crate::cli) struct DocumentReview {
    pub(in crate::cli) results: Vec<ReviewedObject>,
    pub(in crate::cli) skipped: Vec<Skipped>,
    pub(in crate::cli) unread: Vec<UnreadInput>,
    /// Objects with placeholders, for one finding per file.
    pub(super) templated: Vec<ObjectWithPlaceholders>,
    /// Templates for an estimate, where one is asked for: those of one workload follow each other.
    pub(super) estimated: Vec<(WorkloadToEstimate, PodsToEstimate)>,
    /// Of the patches of all results.
    pub(super) bytes_of_changes: usize,
}

/// The object that makes some pods, as an estimate names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkloadToEstimate {
    pub(super) pointer: String,
    pub(super) name: String,
}

impl DocumentReview {
    /// What it takes to keep the changes of a further object in memory.
    pub(super) fn work_of_keeping_changes(&mut self, further: &[ReviewedObject]) -> usize {
        let bytes = further.iter().map(|r| r.decision.patch.text().len()).sum();
        let few = MANY_BYTES_OF_CHANGES.saturating_sub(self.bytes_of_changes);
        self.bytes_of_changes = self.bytes_of_changes.saturating_add(bytes);
        bytes.saturating_sub(few) / 2
    }

    /// The number of the result for an object itself: the one that is there, or `own`.
    pub(super) fn find_or_add_result_of_object(&mut self, own: Option<Box<ReviewedObject>>) -> usize {
        let Some(own) = own else { return self.results.len() };
        let same = |r: &ReviewedObject| r.template.is_none() && r.source.pointer == own.source.pointer;
        self.results.iter().position(same).unwrap_or_else(|| {
            self.results.push(*own);
            self.results.len() - 1
        })
    }
}

/// An object with placeholders.
pub(super) struct ObjectWithPlaceholders {
    /// The tool that would replace them.
    pub(super) syntax: Syntax,
    /// The placeholder of the most severe finding; its path starts at the result.
    pub(super) first: Placeholder,
    pub(super) place: Place,
    /// The result that has it, by its number; `None`: `own` has it.
    pub(super) home: Option<usize>,
    pub(super) own: Option<Box<ReviewedObject>>,
    /// The most severe finding, where its rule names placeholders.
    pub(super) named: Option<Located<Finding>>,
    /// Values with a placeholder.
    pub(super) values: usize,
    /// The findings that placeholders caused, by the number of their result.
    pub(super) caused: Vec<(usize, Repeated)>,
    /// Whether no controller replaces placeholders in objects of the kind.
    pub(super) known: bool,
}
