//! `profiles show --used-by`: the workloads and pods of a cluster that use a profile. An audit finds them.

use super::profiles_source::ProfileSourceFlags;
use crate::cli::Exit;
use crate::cli::audit;
use crate::cli::lines_on_stderr::write_error;
use crate::report::audit::json::WorkloadEntry;
use crate::report::ci::cut_without_runner_commands;
use crate::report::finding_identity_for_baselines::ObjectName;
use crate::text::{count_with_noun, nearest_if_probably_meant};
use std::io::{self, Write};

pub(super) fn run(
    name: &str,
    source: &ProfileSourceFlags,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let arguments = audit::Arguments::of_cluster(audit::Source {
        live: source.live,
        cluster: &source.cluster,
        context: source.context.as_deref(),
        kubeconfig: source.kubeconfig.as_deref(),
        profiles: source.profiles.as_deref(),
        choice: &source.choice,
    });
    let audited = match audit::run_audit(&arguments, err)? {
        Ok(audited) => audited,
        Err(exit) => return Ok(exit),
    };
    let document = &audited.document;
    let users: Vec<WorkloadWithProfile<'_>> =
        document.workloads.iter().filter_map(|workload| WorkloadWithProfile::of(name, workload)).collect();
    // Pods may still have a profile that was deleted. A name that nothing has is misspelt.
    if users.is_empty()
        && let Some(exit) = exit_if_profile_unknown(name, source, err)?
    {
        return Ok(exit);
    }
    write_table(&users, out)?;
    let pods: usize = users.iter().map(|user| user.pods).sum();
    let older: usize = users.iter().map(|user| user.older).sum();
    let name = cut_without_runner_commands(name, 253);
    let workloads = count_with_noun(users.len(), "workload");
    write!(out, "{workloads} and {} use profile {name}", count_with_noun(pods, "running pod"))?;
    match older {
        0 => writeln!(out)?,
        _ => writeln!(
            out,
            "; {} with other settings than new pods would get",
            count_with_noun(older, "running pod")
        )?,
    }
    if document.partial {
        writeln!(out, "PARTIAL RESULT: a kind or an input could not be read, so there may be more users")?;
    }
    Ok(match (audited.failed, document.errors.is_empty()) {
        (true, _) => Exit::Internal,
        (false, false) => Exit::Usage,
        (false, true) => Exit::Clean,
    })
}

/// The exit code if the source has no profile of this name; the reason has been reported.
fn exit_if_profile_unknown(
    name: &str,
    source: &ProfileSourceFlags,
    err: &mut dyn Write,
) -> io::Result<Option<Exit>> {
    let known = match source.read_profiles_and_facts(&mut io::sink())? {
        Ok(known) => known,
        Err(exit) => return Ok(Some(exit)),
    };
    if known.snapshot.profile(name).is_some() {
        return Ok(None);
    }
    let names = || known.snapshot.profiles().map(|profile| profile.name.as_str());
    let hint = match nearest_if_probably_meant(name, names()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("known: {}", names().collect::<Vec<_>>().join(", ")),
    };
    write_error(
        err,
        format_args!("no pod has profile {name:?}, and the source has no profile of this name; {hint}"),
    )?;
    Ok(Some(Exit::Usage))
}

/// A workload that uses the profile.
struct WorkloadWithProfile<'a> {
    object: &'a ObjectName,
    /// Whether its new pods get the profile.
    now: bool,
    /// Running pods that were injected with the profile (count).
    pods: usize,
    /// Of these, pods with the settings of an earlier state of the profile, and all of them if new pods get another
    /// profile or none (count).
    older: usize,
}

impl<'a> WorkloadWithProfile<'a> {
    fn of(name: &str, workload: &'a WorkloadEntry) -> Option<Self> {
        let now = workload.profiles.iter().any(|profile| profile == name);
        let pods: usize =
            workload.injected.iter().filter(|entry| entry.profile == name).map(|entry| entry.pods).sum();
        if !workload.makes_pods || !now && pods == 0 {
            return None;
        }
        let older = workload.restart.outdated.min(pods);
        Some(Self { object: &workload.object, now, pods, older })
    }
}

fn write_table(users: &[WorkloadWithProfile<'_>], out: &mut dyn Write) -> io::Result<()> {
    if users.is_empty() {
        return Ok(());
    }
    let mut rows =
        vec![["WORKLOAD", "NEW PODS GET IT", "RUNNING PODS WITH IT", "OF THESE OUTDATED"].map(str::to_owned)];
    for user in users {
        let place = user.object.namespace.as_deref().map(|name| format!("{name}/")).unwrap_or_default();
        let name = cut_without_runner_commands(
            &format!("{} {place}{}", user.object.kind, user.object.name_or_generate_name()),
            200,
        );
        let now = if user.now { "yes" } else { "no" };
        rows.push([name, now.to_owned(), user.pods.to_string(), user.older.to_string()]);
    }
    let width = rows.iter().map(|[name, ..]| name.chars().count()).max().unwrap_or_default();
    for [name, now, pods, older] in rows {
        writeln!(out, "{name:width$}  {now:15}  {pods:20}  {older}")?;
    }
    writeln!(out)
}
