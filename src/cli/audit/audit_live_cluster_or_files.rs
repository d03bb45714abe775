//! The two ways to a cluster: its API server, and files with its objects.

use super::arguments::Arguments;
use super::decide_and_add_up::AuditContext;
use super::finished_audit::FinishedAudit;
use super::owners_of_objects::Owners;
use super::progress::Progress;
use super::{decide_files_and_find_missing_kinds, read_and_decide_live_objects};
use crate::cli::Exit;
use crate::cli::input::{self, documents_to_objects};
use crate::cli::lines_on_stderr::{write_error, write_warning};
use crate::cluster::api_client::{self, ClientAndAddress};
use crate::cluster::api_discovery_of_served_kinds::{self, ServedKinds};
use crate::cluster::{ClusterRead, PageSize, WatchTimings, read_all_despite_failures, watched_kinds};
use crate::decision_limits::RunBudget;
use crate::manifest::Document as Manifest;
use crate::profile::{FabricProfile, Profile};
use crate::report::audit::json::AuditScopeAndGaps;
use crate::report::unread_by_audit::{KindNotKnown, WhyKindIsNotKnown, group_of_api_version};
use crate::snapshot::{Builder, Layer, Snapshot};
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

/// Reads and decides on a live cluster.
pub(super) fn audit_live_cluster(
    arguments: &Arguments,
    builder: Builder,
    bases: &[FabricProfile],
    err: &mut dyn Write,
) -> io::Result<Result<FinishedAudit, Exit>> {
    let path = input::facts_of_live_cluster::find_kubeconfig(arguments.kubeconfig.as_deref());
    if path.is_none() && !api_client::is_in_pod_with_service_account() {
        write_error(
            err,
            format_args!("--live needs a kubeconfig file: set --kubeconfig FILE or variable KUBECONFIG"),
        )?;
        return Ok(Err(Exit::Usage));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let ClientAndAddress { client, address } = match api_client::create_client_and_address(
            path.as_deref(),
            arguments.context.as_deref(),
        )
        .await
        {
            Ok(cluster) => cluster,
            Err(error) => {
                write_error(err, format_args!("--live: {error}"))?;
                return Ok(Err(Exit::of_client(&error)));
            }
        };
        let deadline = Duration::from_secs(arguments.request_timeout.into());
        let most = arguments.page_size.map_or(PageSize::DEFAULT.most, usize::from);
        let size = PageSize { most, ..PageSize::DEFAULT };
        let asked = async {
            let version = api_discovery_of_served_kinds::read_api_server_version(&client, deadline)
                .await
                .map_err(|e| e.to_string())?;
            if let Some(warning) = input::facts_of_live_cluster::warning_if_server_is_too_old(version) {
                writeln!(err, "{warning}").map_err(|e| e.to_string())?;
            }
            let served = ServedKinds::read(&client, deadline).await.map_err(|e| e.to_string())?;
            let mut seen = read_all_despite_failures(
                &client,
                builder,
                WatchTimings { request: deadline, pages: Some(size), ..WatchTimings::ONCE },
            )
            .await;
            seen.drop_forbidden_kinds_not_served(&served);
            Ok::<_, String>((served, seen))
        };
        let (served, ClusterRead { mut builder, forbidden, failed }) = match asked.await {
            Ok(asked) => asked,
            Err(message) => {
                write_error(err, format_args!("--live: {address}: {message}"))?;
                return Ok(Err(Exit::Internal));
            }
        };
        let gap = |cause: WhyKindIsNotKnown, kind: &'static str, why: String| {
            let watched = watched_kinds::WATCHED.iter().find(|w| w.name() == kind)?;
            Some(read_and_decide_live_objects::gap_with_effect(&watched.api_version(), kind, cause, why))
        };
        let forbidden =
            forbidden.into_iter().filter_map(|(kind, why)| gap(WhyKindIsNotKnown::Forbidden, kind, why));
        let mut gaps: Vec<KindNotKnown> = forbidden.collect();
        gaps.extend(failed.into_iter().filter_map(|f| gap(WhyKindIsNotKnown::Failed, f.kind, f.why)));
        gaps.extend(read_and_decide_live_objects::kinds_served_only_in_other_versions(&served));
        let snapshot = builder.build();
        let knows_namespaces = !gaps.iter().any(|gap| gap.is_of("", "Namespace"));
        let namespaces = knows_namespaces.then(|| snapshot.namespaces().into_keys().collect());
        let profile = match check_flags_and_find_profile(arguments, &snapshot, bases, namespaces.as_ref()) {
            Ok(profile) => profile,
            Err(message) => {
                write_error(err, format_args!("{message}"))?;
                return Ok(Err(Exit::Usage));
            }
        };
        let today = today();
        let mut judge = AuditContext {
            snapshot: &snapshot,
            profile: profile.as_ref(),
            namespace: arguments.namespace.as_deref(),
            today: &today,
            owners: Owners::default(),
            work: None,
        };
        let requests = read_and_decide_live_objects::ListRequestLimits { size, deadline };
        let mut progress = Progress::new(err, io::stderr().is_terminal());
        let found = read_and_decide_live_objects::read_and_decide(
            &client,
            &served,
            &mut judge,
            requests,
            &mut progress,
        )
        .await?;
        // A kind that is a fact and is judged too has one gap.
        for gap in found.gaps {
            if !gaps.iter().any(|known| known.is_of(group_of_api_version(&gap.api_version), &gap.kind)) {
                gaps.push(gap);
            }
        }
        gaps.sort();
        for gap in gaps.iter().filter(|_| !arguments.shows_text()) {
            write_warning(err, format_args!("{} cannot be read: {}; {}", gap.kind, gap.message, gap.effect))?;
        }
        Ok(Ok(FinishedAudit::finish_and_report_unreadable(
            found.results,
            frame(arguments, gaps),
            &judge,
            err,
        )?))
    })
}

/// Reads and decides on files.
pub(super) fn audit_files(
    arguments: &Arguments,
    mut builder: Builder,
    bases: &[FabricProfile],
    mut problems: documents_to_objects::FactProblems,
    err: &mut dyn Write,
) -> io::Result<Result<FinishedAudit, Exit>> {
    let mut seen = decide_files_and_find_missing_kinds::FirstReadingOfFiles::default();
    let mut visit = |documents: &[Manifest]| {
        documents_to_objects::add_facts_to_builder(
            documents,
            Layer::Cluster,
            "default",
            &mut builder,
            &mut problems,
        );
        seen.note_owners_kinds_and_namespaces(documents);
    };
    let (loaded, unreadable) =
        input::read_files_and_directories::read_inputs_and_visit_all(&arguments.cluster, false, &mut visit);
    problems.errors.extend(unreadable.unread);
    // Each of them may be a workload.
    let unread_objects = std::mem::take(&mut problems.unread_objects);
    problems.errors.extend(unread_objects.into_iter().map(|unread| (unread, None)));
    let snapshot = builder.build();
    // In a file that cannot be read there may be more namespaces.
    let namespaces = problems.errors.is_empty().then(|| seen.namespaces_named_or_given(&snapshot));
    let profile = match check_flags_and_find_profile(
        arguments,
        &snapshot,
        bases,
        namespaces.as_ref().filter(|all| !all.is_empty()),
    ) {
        Ok(profile) => profile,
        Err(message) => {
            write_error(err, format_args!("{message}"))?;
            return Ok(Err(Exit::Usage));
        }
    };
    input::write_fact_warnings_and_input_errors(&problems, err)?;
    let (owners, kinds) = seen.into_parts();
    if kinds.is_empty() && problems.errors.is_empty() {
        write_error(err, format_args!("--cluster: the files have no Kubernetes object"))?;
        return Ok(Err(Exit::Usage));
    }
    let today = today();
    let namespace = arguments.namespace.as_deref();
    let shared = snapshot.sharing_answers_between_decisions();
    let judge = AuditContext {
        snapshot: &shared,
        profile: profile.as_ref(),
        namespace,
        today: &today,
        owners,
        work: Some(RunBudget::default()),
    };
    let (results, unread) = decide_files_and_find_missing_kinds::decide_all_objects(&judge, &loaded);
    input::report_unread(&unread, err)?;
    let has_profile = profile.is_some() || arguments.profiles.is_some();
    let gaps = decide_files_and_find_missing_kinds::kinds_missing_from_files(
        &kinds,
        &results,
        &snapshot,
        has_profile,
    );
    for gap in gaps.iter().filter(|_| !arguments.shows_text()) {
        write_warning(err, format_args!("no {} in the files: {}; {}", gap.kind, gap.message, gap.effect))?;
    }
    let mut frame = frame(arguments, gaps);
    frame.errors.extend(problems.errors.into_iter().map(|(unread, _)| unread));
    frame.errors.extend(unread.into_iter().map(|(unread, _)| unread));
    Ok(Ok(FinishedAudit::finish_and_report_unreadable(results, frame, &judge, err)?))
}

fn frame(arguments: &Arguments, gaps: Vec<KindNotKnown>) -> AuditScopeAndGaps {
    AuditScopeAndGaps {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        namespace: arguments.namespace.clone(),
        gaps,
        errors: Vec::new(),
    }
}

/// Checks what flags name; `namespaces`: those that exist, where they are known. Returns the profile of `--profile`.
fn check_flags_and_find_profile(
    arguments: &Arguments,
    snapshot: &Snapshot,
    bases: &[FabricProfile],
    namespaces: Option<&BTreeSet<&str>>,
) -> Result<Option<Arc<Profile>>, String> {
    arguments.choice.check_default_profile_exists(snapshot)?;
    if let (Some(namespace), Some(names)) = (arguments.namespace.as_deref(), namespaces)
        && !names.contains(namespace)
    {
        let near = crate::text::nearest_if_probably_meant(namespace, names.iter().copied());
        let hint = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        return Err(format!("--namespace: namespace {namespace:?} does not exist{hint}"));
    }
    let named = arguments
        .profile
        .as_deref()
        .map(|name| input::read_and_find_profiles::find_site_or_built_in_profile(name, snapshot, bases));
    named.transpose().map_err(|message| format!("--profile: {message}"))
}

/// The date in UTC, as 2027-01-31.
fn today() -> String {
    let date = time::OffsetDateTime::now_utc().date();
    format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
}
