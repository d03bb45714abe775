//! `--baseline` and `--write-baseline`: what is new since an earlier run, and the findings of this one.

use super::limit_bytes_named_by_configs::{MAX_BYTES, SumAndLargest};
use crate::cli::read_and_write_baseline_file;
use crate::report::ReviewedObject;
use crate::report::baseline_comparison::Comparison;
use crate::report::baseline_comparison_while_reviewing::RunningBaselineComparison;
use crate::report::baseline_file_format::{Baseline, BaselineEntry, Coverage, KindNotRead};
use crate::report::finding_identity_for_baselines::{
    FindingIdentity, NamedPaths, ObjectName, PackedIdentity,
};
use crate::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The baselines of a run: one for each file that a flag or a configuration names.
#[derive(Default)]
pub(super) struct Baselines {
    files: Vec<(PathBuf, RunningBaselineComparison, Coverage)>,
    /// Their lengths: all stay in memory.
    bytes: SumAndLargest,
    /// The findings of this run, if they are to be written.
    written: Option<BTreeMap<(PackedIdentity, &'static str), usize>>,
    coverage: Coverage,
}

/// The number of a baseline.
#[derive(Debug, Clone, Copy)]
pub(super) struct BaselineNumber(usize);

impl Baselines {
    /// Without a baseline to compare with.
    pub(super) fn new(writes: bool) -> Self {
        Self { written: writes.then(BTreeMap::new), ..Self::default() }
    }

    /// Reads a file, unless it is read already.
    pub(super) fn read_once(&mut self, path: &Path) -> Result<BaselineNumber, String> {
        // Many configurations may name one file in different ways.
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if let Some(number) = self.files.iter().position(|(known, ..)| *known == whole) {
            return Ok(BaselineNumber(number));
        }
        let length = path.metadata().map_or(0, |about| about.len());
        self.bytes.add_or_refuse(length, MAX_BYTES, || {
            format!(
                "{}: the baselines that the configuration files of this run name have more than 32 MiB in total; name one \
                 baseline in a configuration file above, or review fewer directories at once",
                path.display()
            )
        })?;
        let since = RunningBaselineComparison::new(read_and_write_baseline_file::read(path)?);
        self.files.push((whole, since, Coverage::default()));
        Ok(BaselineNumber(self.files.len() - 1))
    }

    /// Notes which kinds of facts some inputs lack.
    pub(super) fn note_kinds_that_inputs_lack(
        &mut self,
        number: Option<BaselineNumber>,
        snapshot: &Snapshot,
    ) {
        let gaps = gaps(snapshot);
        if let Some((_, _, coverage)) = number.and_then(|BaselineNumber(at)| self.files.get_mut(at)) {
            coverage.gaps.extend(gaps.iter().cloned());
        }
        self.coverage.gaps.extend(gaps);
    }

    /// Compares the findings of an object, whose text is `json`, and keeps them for the file that is to be written.
    pub(super) fn note_object_mark_findings_and_record(
        &mut self,
        number: Option<BaselineNumber>,
        r: &mut ReviewedObject,
        json: &str,
    ) {
        let mut since =
            number.and_then(|BaselineNumber(at)| self.files.get_mut(at)).map(|(_, since, _)| since);
        if since.is_none() && self.written.is_none() {
            return;
        }
        let object = name(r);
        if let Some(since) = &mut since {
            since.note_object_among_inputs(&object);
        }
        if r.findings.is_empty() {
            return;
        }
        let paths = NamedPaths::new(json);
        for found in &mut r.findings {
            let (rule, severity) = (found.item.rule.to_owned(), found.item.severity);
            let fingerprint = FindingIdentity {
                rule,
                object: object.clone(),
                path: paths.path_with_item_names(&found.item.path),
            };
            let times = found.repeats + 1;
            let finding = PackedIdentity::finding(&fingerprint);
            if let Some(since) = &mut since {
                found.baseline = Some(since.count_and_classify_finding(&finding, severity, times));
            }
            if let Some(written) = &mut self.written {
                *written.entry((finding, severity.name())).or_default() += times;
            }
        }
    }

    /// The comparison with all baselines, if there is any, and the baseline of this run.
    pub(super) fn finish_comparison_and_new_baseline(
        self,
        unreadable: bool,
    ) -> (Option<Comparison>, Option<BaselineToWrite>) {
        let mut all: Option<Comparison> = None;
        for (_, since, coverage) in self.files {
            let comparison = since.finish_comparison(coverage, unreadable);
            match &mut all {
                Some(all) => all.add_result_of_other_inputs(comparison),
                None => all = Some(comparison),
            }
        }
        let head = Baseline::new(env!("CARGO_PKG_VERSION"), self.coverage, Vec::new());
        let written = self.written.map(|found| BaselineToWrite { head, found });
        (all, written)
    }
}

/// The baseline of this run.
pub(super) struct BaselineToWrite {
    /// Without entries.
    pub(super) head: Baseline,
    found: BTreeMap<(PackedIdentity, &'static str), usize>,
}

impl BaselineToWrite {
    /// The findings in the order of the file.
    pub(super) fn entries(&self) -> impl Iterator<Item = BaselineEntry> {
        self.found.iter().map(|((finding, severity), count)| BaselineEntry {
            fingerprint: finding.unpack(),
            severity: (*severity).to_owned(),
            count: *count,
        })
    }
}

/// The object as an audit names it: objects of one `generateName` are the same work.
fn name(r: &ReviewedObject) -> ObjectName {
    let name = r.name.clone().filter(|name| !name.is_empty());
    let generate_name = if name.is_some() { None } else { r.generate_name.clone() };
    let (namespace, api_version, kind) = (r.namespace.clone(), r.api_version.clone(), r.kind.clone());
    ObjectName { namespace, api_version, kind, name, generate_name }
}

/// Kinds of facts that are not given at all.
fn gaps(snapshot: &Snapshot) -> BTreeSet<KindNotRead> {
    let kinds = [
        ("v1", "Node", snapshot.knows_nodes()),
        ("v1", "Namespace", snapshot.knows_namespaces()),
        ("fabric-admission.dev/v1alpha1", "FabricProfile", snapshot.profiles().next().is_some()),
        ("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", snapshot.knows_all_networks_of("default")),
    ];
    let missing = kinds.into_iter().filter(|(.., known)| !known);
    missing
        .map(|(api_version, kind, _)| KindNotRead {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        })
        .collect()
}
