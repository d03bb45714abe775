//! Everything that the checks need.

use super::{access_reviews, certificates_of_replicas, installed_settings, wanted_rights};
use crate::cli::send_pod_as_dry_run::send_pod_as_dry_run;
use crate::cluster::watched_kinds::{WATCHED, WatchedKind};
use crate::cluster::{read_wanted_kinds, reads_for_installation_check};
use crate::doctor::probe_pods_and_their_answers::{pod_to_be_changed, pod_to_be_refused};
use crate::doctor::what_is_read::{CONFIG_MAPS, Form, MUTATING_CONFIGURATIONS, PROFILES, Pick, Source};
use crate::doctor::{CHECKS, Facts, MUTATING, NAME, NotTried, Tried, doctor_page as page};
use crate::facts::EnforcementMode;
use crate::resolve::namespaces_that_use;
use crate::review::{PodRequest, decide_pod};
use crate::snapshot::{Builder, Snapshot};
use kube::Client;
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// What was read so far. A later try reads again only what failed checks need.
pub(super) struct FactsReadSoFar {
    pub(super) facts: Facts,
    builder: Builder,
    before: bool,
}

/// Which checks a read is for.
enum WhichChecks<'a> {
    All,
    Some(&'a [&'static str]),
}

impl WhichChecks<'_> {
    fn includes_any_check(&self, ids: &[&str]) -> bool {
        match self {
            Self::All => true,
            Self::Some(wanted) => wanted.iter().any(|id| ids.contains(id)),
        }
    }

    fn needs_kind(&self, plural: &str) -> bool {
        match self {
            Self::All => true,
            Self::Some(wanted) => {
                let checks = CHECKS.iter().filter(|check| wanted.contains(&check.id));
                checks.flat_map(|check| check.needs).any(|source| source.plural == plural)
            }
        }
    }
}

impl FactsReadSoFar {
    /// Reads everything; an error where the API server cannot be asked at all.
    pub(super) async fn read_everything_and_send_dry_runs(
        client: &Client,
        before: bool,
        namespace: Option<&str>,
    ) -> Result<Self, String> {
        let (api_version, date) = reads_for_installation_check::read_version_and_date(client).await?;
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut facts = Facts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            now: i64::try_from(clock).unwrap_or(i64::MAX),
            api_clock: date.as_deref().and_then(crate::doctor::http_date),
            api_version,
            ..Facts::default()
        };
        read(client, &MUTATING_CONFIGURATIONS, &mut facts).await;
        facts.namespace = namespace.map_or_else(|| namespace_of_service_or_default(&facts), str::to_owned);
        let builder = Builder::new(crate::cli::input::read_and_find_profiles::built_in_profiles()?);
        let mut reading = Self { facts, builder, before };
        reading.read(client, &WhichChecks::All).await;
        let sources = page::sources_of_checks(Some(before));
        let facts = &reading.facts;
        let place = facts.calls.as_ref().ok().map(|tried| tried.namespace.as_str());
        let settings = installed_settings::InstalledSettings::of(facts);
        let profiles = if before { None } else { settings.config_map_of_profiles() };
        let wanted = wanted_rights::rights_needed_by_doctor(&sources, &facts.namespace, place, profiles);
        reading.facts.own_rights = access_reviews::review_rights_of_caller(client, wanted).await;
        Ok(reading)
    }

    /// Reads what some failed checks need.
    pub(super) async fn read_again_for_failed_checks(&mut self, client: &Client, failed: &[&'static str]) {
        self.read(client, &WhichChecks::Some(failed)).await;
    }

    async fn read(&mut self, client: &Client, wanted: &WhichChecks<'_>) {
        let facts = &mut self.facts;
        facts
            .unread
            .retain(|plural, _| !wanted.needs_kind(plural) || *plural == MUTATING_CONFIGURATIONS.plural);
        for source in page::sources_of_checks(Some(self.before)) {
            // The first read of all has these already.
            let known = source == &MUTATING_CONFIGURATIONS && matches!(wanted, WhichChecks::All);
            if source.form == Form::Objects && wanted.needs_kind(source.plural) && !known {
                facts.unread.remove(source.plural);
                read(client, source, facts).await;
            }
        }
        let settings = installed_settings::InstalledSettings::of(facts);
        read_snapshot(client, &settings, self.before, facts, &mut self.builder, wanted).await;
        if self.before {
            let wanted = wanted_rights::rights_needed_by_installer(&facts.namespace);
            facts.install_rights = access_reviews::review_rights_of_caller(client, wanted).await;
            return;
        }
        if wanted.includes_any_check(&["server-rights"]) {
            let deployed = settings.service_account(&facts.namespace);
            let rights = wanted_rights::rights_needed_by_server(&facts.namespace, &settings);
            facts.server_rights =
                access_reviews::review_rights_of_service_account(client, &deployed, rights).await;
        }
        if wanted.includes_any_check(&["ca-bundles"]) {
            facts.certificates.clear();
            facts.replicas.clear();
            certificates_of_replicas::ask_replicas_and_read_secret(client, &settings, facts).await;
        }
        if wanted.includes_any_check(&["failed-calls"]) {
            facts.metrics = reads_for_installation_check::read_wanted_lines(client, "/metrics", |line| {
                line.starts_with("apiserver_admission_webhook_") && line.contains(".fabric-admission.dev\"")
            })
            .await;
        }
        if wanted.includes_any_check(&["pod-is-changed", "pod-is-refused"]) {
            facts.calls = try_pods_as_dry_run(client, &settings, facts).await;
        }
    }
}

/// Dry runs, in a namespace where they can succeed.
async fn try_pods_as_dry_run(
    client: &Client,
    settings: &installed_settings::InstalledSettings,
    facts: &Facts,
) -> Result<Tried, NotTried> {
    let (namespace, profile) = if settings.changes_pods() {
        choose_namespace_and_profile_to_try(facts)?
    } else {
        return Err(why_no_dry_run_without_mutation());
    };
    Ok(Tried {
        good: send_pod_as_dry_run(client, &namespace, &pod_to_be_changed(&profile)).await,
        bad: send_pod_as_dry_run(client, &namespace, &pod_to_be_refused(&profile)).await,
        namespace,
        profile,
    })
}

/// The namespace of the Service that our configuration calls.
fn namespace_of_service_or_default(facts: &Facts) -> String {
    let ours = facts.objects.get(MUTATING_CONFIGURATIONS.plural).into_iter().flatten();
    let mut ours =
        ours.filter(|object| object.pointer("/metadata/name").is_some_and(|name| name == MUTATING));
    let service =
        ours.find_map(|object| object.pointer("/webhooks/0/clientConfig/service/namespace")?.as_str());
    service.unwrap_or(NAME).to_owned()
}

async fn read(client: &Client, source: &Source, facts: &mut Facts) {
    let path = source.path(&facts.namespace);
    let found = match source.pick {
        Pick::All => reads_for_installation_check::read_collection(client, &path, None).await,
        Pick::Labelled(labels) => {
            reads_for_installation_check::read_collection(client, &path, Some(labels)).await
        }
        Pick::Named(names) => one_by_one(client, &path, names).await,
    };
    match found {
        Ok(objects) => drop(facts.objects.insert(source.plural.to_owned(), objects)),
        Err(why) => drop(facts.unread.insert(source.plural.to_owned(), why)),
    }
}

async fn one_by_one(client: &Client, path: &str, names: &[&str]) -> Result<Vec<Value>, String> {
    let mut objects = Vec::new();
    for name in names {
        objects.extend(
            reads_for_installation_check::read_object_if_it_exists(client, &format!("{path}/{name}")).await?,
        );
    }
    Ok(objects)
}

/// The Snapshot, with the server's settings and profiles.
async fn read_snapshot(
    client: &Client,
    settings: &installed_settings::InstalledSettings,
    before: bool,
    facts: &mut Facts,
    builder: &mut Builder,
    wanted: &WhichChecks<'_>,
) {
    builder.replace_settings(settings.settings_of_decisions());
    // Both have profiles, and those of the files count first.
    if !before && [CONFIG_MAPS.plural, PROFILES.plural].iter().any(|plural| wanted.needs_kind(plural)) {
        facts.broken_files.clear();
        installed_settings::add_profiles_of_config_map(client, settings, builder, facts).await;
    }
    let reads = |kind: &WatchedKind| wanted.needs_kind(kind.plural);
    let mut seen = read_wanted_kinds(client, std::mem::take(builder), &reads).await;
    let forbidden = seen
        .forbidden
        .into_iter()
        .map(|(kind, why)| (kind, format!("this account has no right to list this kind ({why})")));
    for (kind, why) in forbidden.chain(seen.failed.into_iter().map(|failed| (failed.kind, failed.why))) {
        for watched in WATCHED.iter().filter(|watched| watched.name() == kind) {
            facts.unread.entry(watched.plural.to_owned()).or_insert_with(|| why.clone());
        }
    }
    facts.snapshot = seen.builder.build();
    *builder = seen.builder;
}

fn why_no_dry_run_without_mutation() -> NotTried {
    NotTried {
        why: "the server runs with --mutate off, so it changes no pod".to_owned(),
        hint: "Remove FABRIC_ADMISSION_MUTATE from the Deployment to let the server change pods.".to_owned(),
        unread: false,
    }
}

/// Most namespaces of a profile for which the decision is asked.
const MAX_PLACES: usize = 20;

/// A namespace with mode enforce and a profile, for which the engine changes the pod of the dry run.
fn choose_namespace_and_profile_to_try(facts: &Facts) -> Result<(String, String), NotTried> {
    check_that_kinds_were_read(facts, &["namespaces", "fabricprofiles"])?;
    let snapshot = &facts.snapshot;
    let enforces = |namespace: &str| {
        snapshot.namespace(namespace).is_some_and(|found| found.mode() == Some(EnforcementMode::Enforce))
    };
    for profile in snapshot.profiles() {
        let pod = pod_to_be_changed(&profile.name).to_string();
        let changed = |namespace: &str| {
            let decision = decide_pod(&pod, PodRequest::in_enforcing_namespace(namespace), snapshot);
            decision.is_ok_and(|decision| !decision.denied && !decision.patch.is_empty())
        };
        let place = namespaces_that_use(profile, snapshot)
            .into_iter()
            .filter(|namespace| enforces(namespace))
            .take(MAX_PLACES)
            .find(|namespace| changed(namespace));
        if let Some(namespace) = place {
            return Ok((namespace.to_owned(), profile.name.clone()));
        }
    }
    let enforced = snapshot.namespaces().values().any(|found| found.mode() == Some(EnforcementMode::Enforce));
    if enforced {
        // Decisions need these too, so they may be the reason.
        check_that_kinds_were_read(facts, &["configmaps", "nodes", "network-attachment-definitions"])?;
    }
    Err(why_no_namespace_suits_dry_run(snapshot))
}

/// Whether some kinds could be read.
fn check_that_kinds_were_read(facts: &Facts, plurals: &[&str]) -> Result<(), NotTried> {
    let failed = plurals.iter().find_map(|plural| Some((plural, facts.unread.get(*plural)?)));
    match failed {
        None => Ok(()),
        Some((plural, why)) => {
            let why = format!("{plural} could not be read: {why}");
            Err(NotTried { why, unread: true, ..NotTried::default() })
        }
    }
}

fn why_no_namespace_suits_dry_run(snapshot: &Snapshot) -> NotTried {
    let namespaces = snapshot.namespaces();
    let enforcing = namespaces.iter().find(|(_, found)| found.mode() == Some(EnforcementMode::Enforce));
    match enforcing {
        None => NotTried {
            why: "no namespace has mode enforce".to_owned(),
            hint: "Run kubectl create namespace fabric-admission-check, then kubectl label namespace \
                   fabric-admission-check fabric-admission.dev/mode=enforce, and doctor again."
                .to_owned(),
            unread: false,
        },
        Some((namespace, _)) => NotTried {
            why: "no profile would change the pod of the dry run in a namespace with mode enforce".to_owned(),
            hint: format!(
                "Let spec.namespaces of a profile admit namespace {namespace}, and create the networks of the profile."
            ),
            unread: false,
        },
    }
}
