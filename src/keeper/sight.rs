//! What is known of one configuration, and what became of writing it.

use super::verify;
use crate::certificates::{Drift, Look};
use crate::cluster::own::{Configuration, Kind};
use rustls_pki_types::CertificateDer;
use std::time::Instant;

/// One configuration.
pub(super) struct Sight {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// As it was last read; the outer `None`: never.
    pub(super) read: Option<Option<Configuration>>,
    /// Why the last read failed.
    pub(super) unread: Option<String>,
    /// Why the last write failed, and when it is tried again.
    pub(super) unwritten: Option<(String, Instant)>,
    /// Writes in a row that were refused as if somebody had been faster.
    pub(super) refused: u32,
    pub(super) drift: Drift,
}

impl Sight {
    pub(super) fn new(kind: Kind, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            read: None,
            unread: None,
            unwritten: None,
            refused: 0,
            drift: Drift::default(),
        }
    }

    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.kind.name(), self.name)
    }

    /// What the state machine may go by: only what was read just now.
    pub(super) fn look(&self) -> Look {
        match (&self.read, &self.unread) {
            (Some(Some(read)), None) => {
                Look::Present(read.webhooks.iter().map(|w| w.bundle.clone()).collect())
            }
            (Some(None), None) => Look::Absent,
            _ => Look::Unknown,
        }
    }

    /// Whether it is not to be written now.
    pub(super) fn held(&self, now: i64) -> bool {
        self.drift.held(now) || self.unwritten.as_ref().is_some_and(|(_, until)| Instant::now() < *until)
    }

    /// Whether the API server would believe this chain by every webhook, as far as known; why not.
    pub(super) fn problem(&self, chain: &[CertificateDer<'_>], now: i64) -> Option<String> {
        let Some(read) = &self.read else {
            let why = self.unread.as_deref().unwrap_or("no answer yet");
            return Some(format!("{} cannot be read: {why}", self.shown()));
        };
        let webhooks = read.iter().flat_map(|read| &read.webhooks);
        let wrong = webhooks.filter_map(|w| {
            let why = verify::chain(chain, &w.bundle, &w.host, now).err()?;
            Some((&w.name, why))
        });
        let (webhook, why) = wrong.into_iter().next()?;
        Some(format!("{}, webhook {webhook}: {why}", self.shown()))
    }

    /// What is told of a fight.
    pub(super) fn fought(&self) -> String {
        format!(
            "{}: somebody changes the caBundle again and again; it is put back every 30 s. Tell the tool that applies \
             it to leave /webhooks/*/clientConfig/caBundle alone",
            self.shown()
        )
    }

    /// What is worth a line though it is no fault of ours.
    pub(super) fn remarks(&self, now: i64) -> Vec<String> {
        let mut remarks = Vec::new();
        if matches!(self.read, Some(None)) {
            remarks.push(format!("{} does not exist; nobody calls us by it", self.shown()));
        }
        if let (Some(_), Some(why)) = (&self.read, &self.unread) {
            remarks.push(format!("{} cannot be read any more: {why}", self.shown()));
        }
        if let Some((why, _)) = &self.unwritten {
            remarks.push(format!(
                "{}: the caBundle is not as it should be, and it cannot be written: {why}",
                self.shown()
            ));
        }
        if self.drift.is_fight(now) {
            remarks.push(self.fought());
        }
        remarks
    }
}
