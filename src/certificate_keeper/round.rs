//! One round: read all objects, take the next step, serve the right leaf, and update the standing.

mod check_own_port;
mod is_certificate_ready;
mod serve_cert_manager_leaf;
mod sign_leaf_if_due;
mod write_ca_bundle;

use super::ca_out_file::CaFile;
use super::certificate_lines_of_readyz::CertificateReadiness;
use super::certificate_metrics::Metrics;
use super::issue_certificates;
use super::keeper_settings::{CertificateIssuer, Settings};
use super::kubernetes_events::{self, Events};
use super::memory_across_restarts_of_task::{KeptMemory, Memory};
use super::own_port_answers_that_end_readiness::{OwnPort, OwnPortAnswers};
use super::pause_between_rounds::{CONFLICTS_BEFORE_FAULT, MAX_PAUSE_AFTER_CONFLICT_MS};
use super::problems_of_webhook_configuration::WebhookConfigurationState;
use crate::certificates::{
    Authority, Change, Leaf, Look, Marks, Record, RepeatedChanges, Seen, Signer, Step, next,
    record_after_change, secret_fields,
};
use crate::cluster::CallFault;
use crate::cluster::secret_and_webhook_configurations::{
    CertificateObjects, WebhookConfigurationKind, Written,
};
use crate::tls::ServedCertificate;
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a round read of the Secret.
enum SecretRead {
    /// The call failed.
    Unread,
    Absent,
    Found(Value),
}

impl SecretRead {
    fn object(&self) -> Option<&Value> {
        match self {
            Self::Found(object) => Some(object),
            Self::Unread | Self::Absent => None,
        }
    }
}

pub(super) struct Keeper {
    objects: CertificateObjects,
    settings: Settings,
    port: Option<OwnPort>,
    dialed: OwnPortAnswers,
    /// The CAs to trust, as last read.
    ca: Option<String>,
    ca_out: Option<CaFile>,
    events: Events,
    served: Arc<ServedCertificate>,
    standing: CertificateReadiness,
    metrics: Arc<Metrics>,
    sights: [WebhookConfigurationState; 2],
    /// The Secret's content as it was last read.
    record: Option<Record>,
    /// Why the Secret could not be read or written.
    fault: Option<String>,
    /// Write conflicts of the Secret in a row.
    refused: u32,
    /// Whether writes did not converge.
    backing_off: bool,
    leaf: Option<Leaf>,
    /// The CA that signed it.
    signer: Option<Signer>,
    /// CAs of leaves that this process served: others may still serve such.
    known: Vec<Authority>,
    emergencies: RepeatedChanges,
    marks: Marks,
    /// Time of the first read.
    start: Instant,
    /// The CA or certificate that every caBundle trusts, and since when.
    trusted: Option<(String, Instant)>,
    verified: Option<Instant>,
    /// Start of this round: no read was earlier.
    began: Instant,
    reported: BTreeMap<&'static str, String>,
    kept: KeptMemory,
}

fn random(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below.max(1)
}

fn shown(fault: &CallFault) -> String {
    crate::text::escaped_and_cut(&fault.to_string(), 300)
}

impl Keeper {
    pub(super) fn new(
        objects: CertificateObjects,
        settings: Settings,
        port: Option<OwnPort>,
        served: Arc<ServedCertificate>,
        standing: CertificateReadiness,
        metrics: Arc<Metrics>,
        kept: KeptMemory,
    ) -> Self {
        let Memory { leaf, signer, known, emergencies, verified } = kept.load();
        let sights = WebhookConfigurationKind::ALL
            .map(|kind| WebhookConfigurationState::new(kind, objects.configuration_name(kind)));
        let ca_out = settings.ca_out.clone().map(|path| CaFile::new(path, &settings.identity));
        let events = Events::new(objects.clone(), settings.identity.clone(), Arc::clone(&metrics));
        Self {
            objects,
            settings,
            port,
            dialed: OwnPortAnswers::default(),
            ca: None,
            ca_out,
            events,
            served,
            standing,
            metrics,
            sights,
            record: None,
            fault: None,
            refused: 0,
            backing_off: false,
            leaf,
            signer,
            known,
            emergencies,
            marks: Marks::default(),
            start: Instant::now(),
            trusted: None,
            verified,
            began: Instant::now(),
            reported: BTreeMap::new(),
            kept,
        }
    }

    #[cfg(test)]
    pub(super) fn replace_clock(&mut self, clock: super::Clock) {
        self.settings.clock = clock;
    }

    /// As a process that never signed by the CA it knows.
    #[cfg(test)]
    pub(super) fn forget_known_ca(&mut self) {
        self.signer = None;
    }

    /// One round. Returns the pause until the next one, if it is not the usual one.
    pub(super) async fn run_one_round(&mut self) -> Option<Duration> {
        // Before the reads: a process that is suspended after them must not sign a leaf by outdated facts.
        let now = self.settings.clock.now();
        self.began = Instant::now();
        // The Secret last: a caBundle that is written is never older than the one that was read. With two replicas that read
        // in another order one could put an old caBundle back.
        let [a, b] = WebhookConfigurationKind::ALL;
        let (a, b) = tokio::join!(
            self.objects.read_webhook_configuration(a),
            self.objects.read_webhook_configuration(b)
        );
        let found = self.objects.read_secret().await;
        for (sight, read) in self.sights.iter_mut().zip([a, b]) {
            match read {
                Ok(read) => (sight.read, sight.unread) = (Some(read), None),
                Err(fault) => {
                    self.metrics.count_failed_call("configuration");
                    sight.unread = Some(shown(&fault));
                }
            }
        }
        let found = match found {
            Ok(found) => {
                self.fault = None;
                found.map_or(SecretRead::Absent, SecretRead::Found)
            }
            Err(fault) => {
                self.metrics.count_failed_call("secret");
                let Self { settings, .. } = self;
                let names = &settings.names;
                let text =
                    format!("reading Secret {}/{} failed: {}", names.namespace, names.secret, shown(&fault));
                self.fault = Some(text);
                SecretRead::Unread
            }
        };
        let again = match self.settings.mode {
            CertificateIssuer::SelfManaged => self.sign_due_leaf_and_advance_ca(found, now).await,
            CertificateIssuer::CertManager => {
                self.take_ca_and_serve_better_leaf_of_cert_manager(found, now);
                None
            }
        };
        self.backing_off &= again.is_some();
        self.check_own_port_if_due(now).await;
        let settling = self.update_readiness_metrics_and_events(now);
        // Last, and reported by the next check: a volume that hangs must not delay other reports.
        if let (Some(out), Some(ca)) = (&mut self.ca_out, &self.ca) {
            let written = out.write_if_content_differs(ca).await;
            self.log_error_once("ca_out", written.err());
        }
        again.or(settling)
    }

    /// Stores the state for the next run of this task, in case this one panics.
    fn keep_memory_across_restarts(&self) {
        let Self { leaf, signer, known, emergencies, verified, .. } = self;
        self.kept.store(Memory {
            leaf: leaf.clone(),
            signer: signer.clone(),
            known: known.clone(),
            emergencies: emergencies.clone(),
            verified: *verified,
        });
    }

    /// Counts a back-off from writes that do not converge, and shows it in `/readyz`. `pause_between_rounds` has the pause.
    pub(super) fn record_back_off_and_update_readiness(&mut self) {
        self.metrics.count_back_off();
        self.backing_off = true;
        self.update_readiness_metrics_and_events(self.settings.clock.now());
    }

    /// One step of a self-managed CA: at most one write, of the Secret or of one caBundle, then a leaf if one is due.
    async fn sign_due_leaf_and_advance_ca(&mut self, found: SecretRead, now: i64) -> Option<Duration> {
        let lives = self.settings.lives;
        let looks: Vec<Look> =
            self.sights.iter().map(WebhookConfigurationState::latest_read_result).collect();
        let fresh = !matches!(found, SecretRead::Unread);
        if fresh {
            self.record = found.object().map(|object| {
                secret_fields::record_from_secret(object, &issue_certificates::check_ca_by_trial_leaf)
            });
            self.record_ca_metrics();
        }
        if let Some(record) = self.record.clone() {
            self.ca = Some(record.bundle());
            self.record_since_when_ca_is_trusted(&record, &looks);
            self.sign_leaf_if_due(&record, &looks, fresh, now);
            self.record_and_report_drift(&record, now);
        }
        if fresh && self.record.as_ref().is_none_or(|record| record.signer_valid_at(now).is_err()) {
            self.renew_expiring_leaf_with_ca_in_memory(&looks, now);
        }
        if !fresh {
            return None;
        }
        let steady = self.began.saturating_duration_since(self.start).as_secs();
        let steady = i64::try_from(steady).unwrap_or(i64::MAX);
        let seen = self
            .record
            .as_ref()
            .map_or_else(Seen::default, |r| self.marks.record_and_measure(r, &looks, steady));
        let held: Vec<bool> =
            self.sights.iter().map(|sight| sight.are_writes_held_back_by_fight_or_failure(now)).collect();
        let calm = !self.emergencies.are_writes_held_back(now);
        let step = next(self.record.as_ref(), &looks, &held, calm, (now, seen), &lives);
        if !matches!(step, Step::Write(_)) {
            self.refused = 0;
        }
        match step {
            Step::Rest => None,
            Step::Publish(number) => self.write_ca_bundles_of_one_configuration(number, now).await,
            Step::Write(change) => self.write_ca_change_to_secret(change, found.object(), now).await,
        }
    }

    /// Counts external changes of caBundles and reports them; writes nothing to the cluster.
    fn record_and_report_drift(&mut self, record: &Record, now: i64) {
        let bundle = record.bundle();
        for sight in &mut self.sights {
            let look = sight.latest_read_result();
            if look == Look::Unknown {
                continue;
            }
            let right = look.do_all_webhooks_have_bundle(&bundle);
            if right {
                (sight.unwritten, sight.refused) = (None, 0);
            }
            if sight.drift.record_check(&bundle, right, now) {
                self.metrics.count_external_ca_bundle_change(sight.kind.name());
                tracing::warn!(configuration = %sight.name, "another client changed the caBundle; restoring it");
                let note = format!(
                    "{}: another client changed the caBundle; the server restores it",
                    sight.kind_and_name()
                );
                self.events.emit_unless_recent(kubernetes_events::Reason::Reverted, &note);
            }
            let fight = sight.drift.is_fight(now);
            self.metrics.set_ca_bundle_fight(sight.kind.name(), fight);
            if fight {
                self.events.emit_unless_recent(kubernetes_events::Reason::Fight, &sight.fight_message());
            }
        }
    }

    /// Writes the Secret with a change of the CA. Returns a pause if the write must be tried again.
    async fn write_ca_change_to_secret(
        &mut self,
        change: Change,
        found: Option<&Value>,
        now: i64,
    ) -> Option<Duration> {
        let lives = self.settings.lives;
        let made = if change.creates_ca() {
            match issue_certificates::create_ca(now, &lives) {
                Ok(made) => Some(made),
                Err(why) => {
                    self.fault = Some(format!("the CA {why}"));
                    return None;
                }
            }
        } else {
            None
        };
        let why = self.record.as_ref().and_then(|record| record.signer_valid_at(now).err());
        let trusted = self.cas_that_may_still_be_trusted(found);
        let record = record_after_change(self.record.as_ref(), change, made, &trusted, now)?;
        let object = secret_fields::secret_from_record(found, &self.settings.names.secret, &record);
        if change.is_emergency() {
            self.emergencies.record_write_attempt(now);
            self.keep_memory_across_restarts();
        }
        let fault = match self.objects.write_secret(&object).await {
            Ok(Written::Done) => {
                self.refused = 0;
                if change.is_emergency() {
                    self.emergencies.count_event(now);
                    self.keep_memory_across_restarts();
                }
                self.metrics.count_rotation("ca", change.name());
                let (generation, change_name) = (record.generation, change.name());
                if change.is_emergency() {
                    self.metrics.count_emergency_ca_replacement();
                    let note = format!(
                        "the CA in the Secret could not sign certificates; the server replaced this CA with CA number {generation}"
                    );
                    self.events.emit_unless_recent(kubernetes_events::Reason::Replaced, &note);
                    let why = why.unwrap_or_default();
                    tracing::warn!(
                        change = change_name,
                        generation,
                        why,
                        "replaced the CA, because the previous CA could not sign certificates"
                    );
                } else {
                    if change == Change::Switch {
                        let note = format!(
                            "CA number {generation} now signs certificates; the previous CA stays in the caBundles for a while"
                        );
                        self.events.emit_unless_recent(kubernetes_events::Reason::Rotated, &note);
                    }
                    tracing::info!(change = change_name, generation, "wrote the CA to the Secret");
                }
                return Some(Duration::ZERO);
            }
            Ok(Written::Outrun(fault)) => {
                self.metrics.count_write_conflict("secret");
                self.refused += 1;
                if self.refused < CONFLICTS_BEFORE_FAULT {
                    return Some(Duration::from_millis(random(MAX_PAUSE_AFTER_CONFLICT_MS)));
                }
                fault
            }
            Err(fault) => fault,
        };
        self.metrics.count_failed_call("secret");
        let names = &self.settings.names;
        let place = format!("Secret {}/{}", names.namespace, names.secret);
        self.fault = Some(format!("writing {place} failed ({}): {}", change.name(), shown(&fault)));
        None
    }

    /// CAs whose leaves somebody may serve though the Secret does not say so: our own, what stands in the Secret beside
    /// a key that is lost, and what API servers trust by our name.
    fn cas_that_may_still_be_trusted(&self, found: Option<&Value>) -> Vec<Authority> {
        let mut all = self.known.clone();
        all.extend(found.map(secret_fields::certificates_in_current_field).unwrap_or_default());
        let read = self.sights.iter().filter_map(|sight| sight.read.as_ref()?.as_ref());
        for webhook in read.flat_map(|read| &read.webhooks) {
            let ours = Authority::read_all(&webhook.bundle)
                .unwrap_or_default()
                .into_iter()
                .filter(Authority::is_ours);
            all.extend(ours);
        }
        all
    }

    fn record_ca_metrics(&self) {
        let Some(record) = &self.record else { return };
        let until = |signer: Option<&crate::certificates::Signer>| signer.map_or(0, |s| s.authority.until);
        self.metrics.set_ca_expiry("current", until(record.current.as_ref().ok()));
        self.metrics.set_ca_expiry("next", until(record.next.as_ref().and_then(|next| next.as_ref().ok())));
        self.metrics.set_ca_expiry("previous", record.previous.iter().map(|a| a.until).max().unwrap_or(0));
        self.metrics.set_ca_generation(record.generation);
    }
}
