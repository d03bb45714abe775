//! The formats for CI systems.

use super::format_writer::{AfterAllDocuments, DocumentToWrite, FormatWriter, Sink};
use super::repository_paths::Repository;
use crate::cli::review::shown_findings::FindingFilter;
use crate::report::UnreadInput;
use crate::report::ci::{CiFormat, FindingForCi, Fingerprints};
use crate::report::finding_identity_for_baselines::NamedPaths;
use crate::report::review_text::WhatReviewShows;
use std::io;

pub(super) struct Ci {
    format: Box<dyn CiFormat>,
    view: WhatReviewShows,
    filter: FindingFilter,
    repository: Repository,
    fingerprints: Fingerprints,
}

impl Ci {
    pub(super) fn new(format: Box<dyn CiFormat>, view: WhatReviewShows, filter: FindingFilter) -> Self {
        Self { format, view, filter, repository: Repository::here(), fingerprints: Fingerprints::default() }
    }
}

impl FormatWriter for Ci {
    fn write_begin(&mut self, out: &mut Sink<'_>) -> io::Result<()> {
        self.format.begin(out)
    }

    fn filters_findings_itself(&self) -> bool {
        true
    }

    fn write_document(&mut self, out: &mut Sink<'_>, reviewed: DocumentToWrite<'_>) -> io::Result<()> {
        if reviewed.review.results.is_empty() {
            return Ok(());
        }
        let file = self.repository.path_in_repository(&reviewed.document.file);
        for r in &reviewed.review.results {
            let json = r.part.clone().and_then(|part| reviewed.document.json.get().get(part));
            let json = json.filter(|_| !r.findings.is_empty()).unwrap_or_default();
            let paths = NamedPaths::new(json);
            // A report must not be green while the command fails.
            let shown = r.findings.iter().filter(|found| {
                let finding = &found.item;
                found.does_fail_command(reviewed.fails)
                    || self.view.shows(finding) && self.filter.shows(finding)
            });
            let issues: Vec<FindingForCi<'_>> = shown
                .map(|found| {
                    FindingForCi::from_finding_with_next_fingerprint(
                        (r, found),
                        (&file, &paths),
                        reviewed.lines,
                        reviewed.fails,
                        &mut self.fingerprints,
                    )
                })
                .collect();
            self.format.add_reviewed_object(out, &file, r, &issues)?;
        }
        Ok(())
    }

    fn write_end(&mut self, out: &mut Sink<'_>, tail: &AfterAllDocuments) -> io::Result<()> {
        let named = |unread: &UnreadInput| UnreadInput {
            file: self.repository.path_in_repository(&unread.file).into(),
            ..unread.clone()
        };
        let unread: Vec<UnreadInput> = tail.unread.iter().map(named).collect();
        self.format.end(out, &unread)
    }
}
