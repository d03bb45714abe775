//! What is wrong with one webhook configuration, by its last read and its last write. `round/write_ca_bundle.rs` writes it.

use super::does_ca_bundle_trust;
use crate::certificates::{Look, RepeatedChanges};
use crate::cluster::secret_and_webhook_configurations::{WebhookConfiguration, WebhookConfigurationKind};
use rustls_pki_types::CertificateDer;
use std::time::Instant;

/// One configuration.
pub(super) struct WebhookConfigurationState {
    pub(super) kind: WebhookConfigurationKind,
    pub(super) name: String,
    /// The last successful read; the outer `None`: not yet read.
    pub(super) read: Option<Option<WebhookConfiguration>>,
    /// Why the last read failed.
    pub(super) unread: Option<String>,
    /// Why the last write failed, and when it is tried again.
    pub(super) unwritten: Option<(String, Instant)>,
    /// Write conflicts in a row.
    pub(super) refused: u32,
    pub(super) drift: RepeatedChanges,
}

impl WebhookConfigurationState {
    pub(super) fn new(kind: WebhookConfigurationKind, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            read: None,
            unread: None,
            unwritten: None,
            refused: 0,
            drift: RepeatedChanges::default(),
        }
    }

    pub(super) fn kind_and_name(&self) -> String {
        format!("{} {}", self.kind.name(), self.name)
    }

    /// The input of the state machine: only the result of the latest read.
    pub(super) fn latest_read_result(&self) -> Look {
        match (&self.read, &self.unread) {
            (Some(Some(read)), None) => {
                Look::Present(read.webhooks.iter().map(|w| w.bundle.clone()).collect())
            }
            (Some(None), None) => Look::Absent,
            _ => Look::Unknown,
        }
    }

    /// Whether writes are held back now.
    pub(super) fn are_writes_held_back_by_fight_or_failure(&self, now: i64) -> bool {
        self.drift.are_writes_held_back(now)
            || self.unwritten.as_ref().is_some_and(|(_, until)| Instant::now() < *until)
    }

    /// Why the API server would not trust this chain, by the caBundle of each webhook and as far as known.
    pub(super) fn why_chain_is_not_trusted(&self, chain: &[CertificateDer<'_>], now: i64) -> Option<String> {
        let Some(read) = &self.read else {
            let why = self.unread.as_deref().unwrap_or("no response from the API server yet");
            return Some(format!("reading {} failed: {why}", self.kind_and_name()));
        };
        let webhooks = read.iter().flat_map(|read| &read.webhooks);
        let wrong = webhooks.filter_map(|w| {
            let why =
                does_ca_bundle_trust::verify_chain_with_ca_bundle(chain, &w.bundle, &w.host, now).err()?;
            Some((&w.name, why))
        });
        let (webhook, why) = wrong.into_iter().next()?;
        Some(format!("{}, webhook {webhook}: {why}", self.kind_and_name()))
    }

    /// The message about repeated external changes.
    pub(super) fn fight_message(&self) -> String {
        format!(
            "{}: another client keeps changing the caBundle; the server restores the caBundle every 30 s. Configure the tool \
             that applies this object to ignore /webhooks/*/clientConfig/caBundle",
            self.kind_and_name()
        )
    }

    /// Remarks that do not affect readiness.
    pub(super) fn remarks_that_keep_readiness(&self, now: i64) -> Vec<String> {
        let mut remarks = Vec::new();
        if matches!(self.read, Some(None)) {
            remarks.push(format!(
                "{} does not exist, so the API server does not call its webhooks",
                self.kind_and_name()
            ));
        }
        if let (Some(_), Some(why)) = (&self.read, &self.unread) {
            remarks.push(format!(
                "reading {} failed; the result of the last successful read stays in use: {why}",
                self.kind_and_name()
            ));
        }
        if let Some((why, _)) = &self.unwritten {
            remarks.push(format!(
                "{} has a wrong caBundle, and correcting the caBundle failed: {why}",
                self.kind_and_name()
            ));
        }
        if self.drift.is_fight(now) {
            remarks.push(self.fight_message());
        }
        remarks
    }
}
