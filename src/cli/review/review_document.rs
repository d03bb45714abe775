//! Objects to results.

use super::document_results::{DocumentReview, GivenObject, WorkloadToEstimate};
use super::namespace_and_mode_of_object::namespace_opt_in_and_mode;
use super::options_of_all_decisions::ReviewOptions;
use super::{findings_in_text, line_and_column_of_finding, placeholders, repeated_findings};
use crate::cli::estimate::PodsToEstimate;
use crate::cli::input::documents_to_objects::{
    InputObject, ObjectSkippedOrUnread, objects_in, unread_value_with_place,
};
use crate::cli::input::{Loaded, LoadedFile, UnreadAndSkippedInputs, report_unread, source_of_object};
use crate::cli::lines_on_stderr::write_error;
use crate::decision_limits::DecisionLimits;
use crate::facts::{EnforcementMode, FactKind, is_fact};
use crate::json::decode_with_place::DecodeError;
use crate::manifest::Document;
use crate::pod::templates_by_shape;
use crate::report::{Located, Repeated, ReviewedObject, Skipped, Source, UnreadInput};
use crate::review::{
    Decision, PodRequest, WorkloadRequest, decide_object_that_makes_no_pods, decide_pod, decide_workload,
    explain_profile_of_pod, gang_of,
};
use crate::rules::{
    Finding, ObjectContext, ObjectEvent, does_any_object_rule_check_more_than_usability,
    does_any_object_rule_run_on_kind,
};
use crate::snapshot::Snapshot;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// Bytes of changes that are planned and written in one unit of the work of a run. A profile adds up to 520 KB to a short pod.
const BYTES_OF_CHANGES_PER_WORK: usize = 8;

/// What any object takes, however short it is.
const WORK_OF_OBJECT: usize = 50;

/// What a finding takes: its place is looked for, and it is kept until the results of the document are written.
const WORK_OF_FINDING: usize = 100;

/// Objects of a document after which each takes more. The results of all objects of a document are in memory together, 4 to 7 KB for
/// each, and 16 KB with changes in YAML.
const MANY_OBJECTS: usize = 4_096;

/// What each further object takes. The budget grows by as much for 120 bytes, and a pod with a name, a container and a GPU has more.
const WORK_OF_FURTHER_OBJECT: usize = 2_400;

/// Bytes of an object that are read and decided on in one unit of the work of a run, apart from what decisions count.
const BYTES_OF_OBJECT_PER_WORK: usize = 4;

/// Bytes in which places are looked for in one unit of the work of a run: once for all findings, twice in a document with YAML
/// aliases, and once for each fault in a text.
const BYTES_PER_WORK: usize = 32;

pub(in crate::cli) fn review_document(
    file: &LoadedFile,
    document: &Document,
    setting: &ReviewOptions,
    snapshot: &Snapshot,
) -> DocumentReview {
    let mut review = DocumentReview::default();
    setting.work.add_input(document.text.len());
    for (number, found) in objects_in(document).into_iter().enumerate() {
        setting.work.spend(if number < MANY_OBJECTS { WORK_OF_OBJECT } else { WORK_OF_FURTHER_OBJECT });
        match found {
            ObjectSkippedOrUnread::Object(object) => self::add_results_of_object(
                GivenObject { file, object: &object },
                setting,
                snapshot,
                &mut review,
            ),
            ObjectSkippedOrUnread::Skipped(skipped) if setting.work.is_spent() => {
                report_work_used_up(document, &skipped.source, &mut review);
            }
            ObjectSkippedOrUnread::Skipped(skipped) => review.skipped.push(skipped),
            ObjectSkippedOrUnread::Unread(unread) => review.unread.push(unread),
        }
    }
    setting.ignores.set_ignored_findings_aside(&document.file, &mut review.results, &setting.work);
    repeated_findings::fold_copies_of_anchored_values(document, &mut review.results);
    review
}

/// Decides on every document of the inputs, for commands that hold all results. What cannot be read is reported on `err` and
/// returned, except for objects, which the reviews have.
pub(in crate::cli) fn review_all_documents_and_report_unread(
    loaded: &Loaded,
    setting: &ReviewOptions,
    snapshot: &Snapshot,
    err: &mut dyn Write,
) -> io::Result<(Vec<DocumentReview>, UnreadAndSkippedInputs)> {
    let (mut reviews, mut problems) = (Vec::new(), UnreadAndSkippedInputs::default());
    let snapshot = &snapshot.sharing_answers_between_decisions();
    for batch in loaded.batches() {
        report_unread(&batch.problems.unread, err)?;
        problems.append(batch.problems);
        let documents =
            batch.files.iter().flat_map(|file| file.documents.iter().map(move |document| (file, document)));
        for (file, document) in documents {
            let mut review = self::review_document(file, document, setting, snapshot);
            placeholders::report_once_per_tool(
                std::slice::from_mut(&mut review),
                &mut placeholders::Reported::default(),
            );
            for UnreadInput { file, line, column, message } in &review.unread {
                write_error(err, format_args!("{file}:{line}:{column}: {message}"))?;
            }
            reviews.push(review);
        }
    }
    Ok((reviews, problems))
}

/// Reports that the budget of the run is used up, so this object and the objects after it are not reviewed.
fn report_work_used_up(document: &Document, source: &Source, review: &mut DocumentReview) {
    let message = "this object and all that follow are not reviewed: the inputs cause far more work than their size \
                   explains (many objects that are empty, compared with each other, repeated by YAML aliases, or much \
                   shorter than their changes); review them in several runs";
    // Once for a document: it may have a thousand objects.
    if !review.unread.iter().any(|unread| unread.message == message) {
        let (file, line, column) = (Arc::clone(&document.file), source.line, 1);
        review.unread.push(UnreadInput { file, line, column, message: message.to_owned() });
    }
}

fn report_work_used_up_at(given: GivenObject<'_>, review: &mut DocumentReview) {
    let object = given.object;
    let source = source_of_object(object.document, object.start, &object.pointer);
    report_work_used_up(object.document, &source, review);
}

/// Decides on an object, and reports what only its text shows.
fn add_results_of_object(
    given: GivenObject<'_>,
    setting: &ReviewOptions,
    snapshot: &Snapshot,
    review: &mut DocumentReview,
) {
    if setting.work.is_spent() {
        return report_work_used_up_at(given, review);
    }
    // YAML aliases make a long object of few bytes.
    setting.work.spend(given.object.json.len() / BYTES_OF_OBJECT_PER_WORK);
    let mut decided = decisions_on_object(given, setting, snapshot);
    let own = || {
        let (namespace, opted_in, mode) = namespace_opt_in_and_mode(given.object, setting, snapshot);
        let decision = Decision { in_scope: true, ..Decision::default() };
        make_result_with_places(
            given,
            given.object.json,
            None,
            Some(namespace.to_owned()),
            opted_in,
            mode,
            decision,
        )
    };
    if (!decided.unread.is_empty() || findings_in_text::has_wrong_metadata(given.object.json))
        && let Some(readable) = findings_in_text::retype_wrong_values(given, &setting.work)
    {
        let object = InputObject { json: &readable.json, ..given.object.clone() };
        decided = self::decisions_on_object(GivenObject { object: &object, ..given }, setting, snapshot);
        readable.unknown.iter().for_each(|pointer| {
            findings_in_text::drop_findings_of_unknown_value(&mut decided.results, pointer)
        });
        let findings: Vec<&Finding> = readable.findings.iter().collect();
        let part = given.object.part_of_document();
        let places = line_and_column_of_finding::places_of_findings(given, part, &findings);
        let placed = readable.findings.into_iter().zip(places);
        findings_in_text::add_findings_to_innermost_results(
            &mut decided.results,
            placed.map(|(finding, place)| Located::new(finding, place)),
            own,
        );
    }
    setting.work.spend(review.work_of_keeping_changes(&decided.results));
    let findings = decided.results.iter().map(|result| result.findings.len());
    setting.work.spend(findings.sum::<usize>().saturating_mul(WORK_OF_FINDING));
    // A decision that used up the budget was cut short: its findings are incomplete.
    if setting.work.is_spent() {
        return report_work_used_up_at(given, review);
    }
    findings_in_text::add_findings_to_innermost_results(
        &mut decided.results,
        findings_in_text::findings_on_repeated_keys(given.object, &setting.work).into_iter(),
        own,
    );
    for mut templated in placeholders::take_out_findings_of_placeholders(given, &mut decided.results, own) {
        templated.move_behind_results(review.results.len());
        review.templated.push(templated);
    }
    if !decided.results.is_empty() {
        decided.skipped.clear();
    }
    review.results.append(&mut decided.results);
    review.estimated.append(&mut decided.estimated);
    review.skipped.append(&mut decided.skipped);
    review.unread.append(&mut decided.unread);
}

fn decisions_on_object(
    given: GivenObject<'_>,
    setting: &ReviewOptions,
    snapshot: &Snapshot,
) -> DocumentReview {
    let mut review = DocumentReview::default();
    add_results_of_workload_pod_or_object(given, setting, snapshot, &mut review);
    review
}

fn add_results_of_workload_pod_or_object(
    given: GivenObject<'_>,
    setting: &ReviewOptions,
    snapshot: &Snapshot,
    review: &mut DocumentReview,
) {
    let object = given.object;
    let mut has_result = false;
    if does_any_object_rule_run_on_kind(object.group(), &object.kind) {
        let name = (object.group(), object.kind.as_str());
        let seen = setting.audience.map(|a| snapshot.seen_from_object(object.namespace.as_deref(), a));
        let snapshot = seen.as_ref().unwrap_or(snapshot);
        let deadline = DecisionLimits::within_run(&setting.work);
        let context =
            ObjectContext::new(name, object.json, ObjectEvent::Given, snapshot).with_deadline(&deadline);
        // Network objects are checked cluster-wide, whatever the namespace's label.
        let mode = setting.mode.unwrap_or(EnforcementMode::Enforce);
        let decision = decide_object_that_makes_no_pods(&context, mode);
        // A readable fact that no rule checks, and a usable profile, have nothing to report.
        has_result = !decision.findings.is_empty()
            || !decision.suppressed.is_empty()
            || does_any_object_rule_check_more_than_usability(object.group(), &object.kind);
        if has_result {
            review.results.push(make_result_with_places(
                given,
                object.json,
                None,
                object.namespace.clone(),
                true,
                mode,
                decision,
            ));
        }
    }
    let of_pods = namespace_opt_in_and_mode(object, setting, snapshot).0;
    let seen = setting.audience.map(|audience| snapshot.seen_from(of_pods, audience));
    let snapshot = seen.as_ref().unwrap_or(snapshot);
    if object.is_pod() {
        return add_result_of_pod(given, setting, snapshot, review);
    }
    has_result |= add_results_of_workload(given, setting, snapshot, review);
    if !has_result {
        let reason = why_object_is_skipped(object);
        review.skipped.push(Skipped {
            source: source_of_object(object.document, object.start, &object.pointer),
            reason,
        });
    }
}

fn add_result_of_pod(
    given: GivenObject<'_>,
    setting: &ReviewOptions,
    snapshot: &Snapshot,
    review: &mut DocumentReview,
) {
    let object = given.object;
    let (namespace, opted_in, mode) = namespace_opt_in_and_mode(object, setting, snapshot);
    let deadline = DecisionLimits::within_run(&setting.work);
    let request = PodRequest {
        mode,
        opted_in,
        profile: setting.profile.as_ref(),
        deadline: &deadline,
        ..PodRequest::in_enforcing_namespace(namespace)
    };
    let decision = decide_pod(object.json, request, snapshot);
    add_result_of_template(given, ("", object.json), request, decision, setting, snapshot, review);
}

/// An object that makes pods. Whether there is any result.
fn add_results_of_workload(
    given: GivenObject<'_>,
    setting: &ReviewOptions,
    snapshot: &Snapshot,
    review: &mut DocumentReview,
) -> bool {
    let object = given.object;
    let (namespace, opted_in, mode) = namespace_opt_in_and_mode(object, setting, snapshot);
    let request = WorkloadRequest {
        group: object.group(),
        kind: &object.kind,
        json: object.json,
        namespace,
        mode,
        opted_in,
        profile: setting.profile.as_ref(),
        as_if_running: false,
        deadline: &DecisionLimits::within_run(&setting.work),
    };
    let decided = decide_workload(request, snapshot);
    let has_result = decided.own.is_some() || !decided.templates.is_empty();
    // Read once for each object that makes pods: it may have a thousand templates.
    let mut gangs = BTreeMap::new();
    for (found, decision) in decided.templates {
        let maker = found.maker.pointer.clone();
        let gang = gangs.entry(maker).or_insert_with(|| gang_of(request, &found));
        let of_pod = request.pod_request_of_template(&found, gang.as_ref());
        add_result_of_template(
            given,
            (&found.pointer, found.json),
            of_pod,
            decision,
            setting,
            snapshot,
            review,
        );
    }
    if let Some(own) = decided.own {
        review.results.push(make_result_with_places(
            given,
            object.json,
            None,
            Some(namespace.to_owned()),
            opted_in,
            mode,
            own,
        ));
    }
    has_result
}

fn add_result_of_template(
    given: GivenObject<'_>,
    (pointer, json): (&str, &str),
    request: PodRequest<'_>,
    decision: Result<Decision, DecodeError>,
    setting: &ReviewOptions,
    snapshot: &Snapshot,
    review: &mut DocumentReview,
) {
    let object = given.object;
    match decision {
        Ok(decision) => {
            // Findings are looked for in the text of the template, which YAML aliases may repeat.
            let suppressed = decision.suppressed.iter().map(|item| &item.finding);
            let findings = decision.findings.iter().chain(suppressed);
            let passes = 2 + findings.filter(|finding| finding.spot.is_some()).count();
            setting.work.spend(passes.saturating_mul(json.len() / BYTES_PER_WORK));
            // Equal templates share one decision, but each has the changes.
            setting.work.spend(decision.patch.text().len() / BYTES_OF_CHANGES_PER_WORK);
            if setting.work.is_spent() {
                return;
            }
            review.estimated.extend(what_estimate_needs(object, request, &decision, setting, snapshot));
            let namespace = Some(request.namespace.to_owned());
            let (opted_in, mode) = (request.opted_in, request.mode);
            let of_object = make_result_with_places(
                given,
                json,
                Some(pointer.to_owned()),
                namespace,
                opted_in,
                mode,
                decision,
            );
            let why = if setting.why {
                explain_profile_of_pod(json, request, snapshot).ok().flatten()
            } else {
                None
            };
            review.results.push(ReviewedObject { containers: names(json), why, ..of_object });
        }
        Err(error) => {
            let base = format!("{}{pointer}", object.pointer);
            let at = (base.as_str(), error.pointer.as_str());
            let part = object.part_of_template(json, pointer);
            review.unread.push(unread_value_with_place(object.document, part, at, &error.message));
        }
    }
}

/// What an estimate needs of the pods of a template, where one is asked for.
fn what_estimate_needs(
    object: &InputObject<'_>,
    request: PodRequest<'_>,
    decision: &Decision,
    setting: &ReviewOptions,
    snapshot: &Snapshot,
) -> Option<(WorkloadToEstimate, PodsToEstimate)> {
    setting.estimate?;
    let profile = request.profile.or_else(|| snapshot.profile(decision.profile.as_deref()?))?;
    let pods = if object.is_pod() { Some(1) } else { request.siblings };
    let estimated =
        PodsToEstimate::for_template_with_accelerators(decision.plan.accelerators, pods, profile)?;
    let name = object.name.as_deref().or(object.generate_name.as_deref()).unwrap_or_default();
    let name = crate::text::escaped_and_cut(&format!("{} {name}", object.kind), 120);
    Some((WorkloadToEstimate { pointer: object.pointer.clone(), name }, estimated))
}

/// The result for an object or for a part of it, whose text is `json`: findings are relative to it.
fn make_result_with_places(
    given: GivenObject<'_>,
    json: &str,
    template: Option<String>,
    namespace: Option<String>,
    opted_in: bool,
    mode: EnforcementMode,
    mut decision: Decision,
) -> ReviewedObject {
    let object = given.object;
    let part = object.part_of_template(json, template.as_deref().unwrap_or_default());
    let findings = std::mem::take(&mut decision.findings);
    let suppressed = std::mem::take(&mut decision.suppressed);
    let all: Vec<&Finding> = findings.iter().chain(suppressed.iter().map(|item| &item.finding)).collect();
    let places = line_and_column_of_finding::places_of_findings(given, part, &all);
    let mut places = places.into_iter();
    let findings = findings.into_iter().zip(places.by_ref());
    let findings = findings.map(|(item, place)| Located::new(item, place)).collect();
    let suppressed = suppressed.into_iter().zip(places);
    let suppressed = suppressed.map(|(item, place)| Located::new(item, place)).collect();
    ReviewedObject {
        source: source_of_object(object.document, object.start, &object.pointer),
        api_version: object.api_version.clone(),
        kind: object.kind.clone(),
        namespace,
        name: object.name.clone(),
        generate_name: object.generate_name.clone(),
        start: object.start,
        part: object.document.range_of_text_in_json(json),
        template,
        opted_in,
        mode,
        decision,
        findings,
        repeated: Repeated::default(),
        not_shown: 0,
        suppressed,
        waived: Vec::new(),
        containers: Vec::new(),
        why: None,
    }
}

fn names(json: &str) -> Vec<String> {
    let pod = crate::pod::PodView::read(json).unwrap_or_default();
    pod.containers().iter().map(|c| c.name().to_owned()).collect()
}

fn why_object_is_skipped(object: &InputObject<'_>) -> String {
    let kind = crate::text::escaped_and_cut(&object.kind, 60);
    if object.kind == "FabricProfile" {
        format!("{kind}: used as a profile")
    } else if FactKind::of(object.group(), &object.kind).is_some_and(|kind| is_fact(kind, object.json)) {
        format!("{kind}: used as a fact about the cluster; no rule checks this object")
    } else if templates_by_shape::has_bare_pod_spec(object.json) {
        format!(
            "{kind}: its pod specs have no metadata for annotations; review the pods that this object creates"
        )
    } else {
        format!("{kind}: no rule checks this object, and the object has no pod template")
    }
}
