//! A batch of documents with the decisions on them.

use crate::cli::input::{Batch, DecodedFile, UnreadAndSkippedInputs};
use crate::cli::review::document_results::DocumentReview;
use crate::cli::review::options_of_all_decisions::ReviewOptions;
use crate::cli::review::placeholders::{self, Reported};
use crate::cli::review::review_document;
use crate::snapshot::Snapshot;
use rayon::prelude::*;

pub(super) struct DecidedBatch<'a> {
    pub(super) files: Vec<DecodedFile<'a>>,
    /// One for each document of the files.
    pub(super) reviews: Vec<DocumentReview>,
    pub(super) problems: UnreadAndSkippedInputs,
}

impl<'a> DecidedBatch<'a> {
    /// Decides on all documents of a batch. `reported` is about the file that the first of them continues.
    pub(super) fn decide_batch(
        batch: Batch<'a>,
        reported: &mut Reported,
        setting: &ReviewOptions,
        snapshot: &Snapshot,
    ) -> Self {
        let Batch { files, problems } = batch;
        let documents: Vec<_> = files
            .iter()
            .flat_map(|file| file.documents.iter().map(move |document| (&**file, document)))
            .collect();
        let decided = documents
            .par_iter()
            .map(|(file, document)| review_document::review_document(file, document, setting, snapshot));
        let mut reviews: Vec<DocumentReview> = decided.collect();
        let mut rest = reviews.as_mut_slice();
        for parts in files.chunk_by(|_, next| next.continues) {
            if !parts.first().is_some_and(|first| first.continues) {
                reported.clear();
            }
            let length = parts.iter().map(|part| part.documents.len()).sum();
            let Some((own, behind)) = rest.split_at_mut_checked(length) else { break };
            placeholders::report_once_per_tool(own, reported);
            rest = behind;
        }
        // Findings on the placeholders of a file are known only now.
        for ((_, document), review) in documents.iter().zip(&mut reviews) {
            setting.ignores.set_ignored_findings_aside(&document.file, &mut review.results, &setting.work);
        }
        Self { files, reviews, problems }
    }
}
