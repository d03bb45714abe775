//! Signs the next leaf when it is due.

use super::super::issue_certificates;
use super::{Keeper, random};
use crate::certificates::{Look, Reason, Record, Signer, leaf_is_due, may_renew_with_ca_missing_from_secret};
use std::time::{Duration, Instant};

impl Keeper {
    /// Notes since when every caBundle trusts the current CA.
    pub(super) fn record_since_when_ca_is_trusted(&mut self, record: &Record, looks: &[Look]) {
        let Ok(current) = &record.current else { return };
        if !looks.iter().all(|look| look.do_all_webhooks_trust(&current.authority)) {
            self.trusted = None;
        } else if self.trusted.as_ref().is_none_or(|(pem, _)| *pem != current.authority.pem) {
            self.trusted = Some((current.authority.pem.clone(), Instant::now()));
        }
    }

    pub(super) fn settle_time(&self) -> Duration {
        Duration::from_secs(self.settings.lives.settle.unsigned_abs())
    }

    /// Signs the next leaf if it is due.
    pub(super) fn sign_leaf_if_due(&mut self, record: &Record, looks: &[Look], fresh: bool, now: i64) {
        let age = |since: Instant| self.began.saturating_duration_since(since);
        let settled = self.trusted.as_ref().is_some_and(|(_, since)| age(*since) >= self.settle_time());
        let verifies = self.why_certificate_is_not_trusted(now).is_empty();
        let Some(reason) = leaf_is_due(self.leaf.as_ref(), record, looks, (fresh, verifies, settled), now)
        else {
            return;
        };
        let Ok(signer) = record.signer_valid_at(now) else { return };
        self.sign_and_serve_leaf(&signer.clone(), reason, now);
    }

    /// Where the Secret has no CA that can sign and cannot be repaired (a policy, a quota, immutable), another leaf of the
    /// CA that signed the one in use. The same caBundles trust it: API servers see no difference.
    pub(super) fn renew_expiring_leaf_with_ca_in_memory(&mut self, looks: &[Look], now: i64) {
        let Some((signer, leaf)) = self.signer.as_ref().zip(self.leaf.as_ref()) else { return };
        if may_renew_with_ca_missing_from_secret(leaf, signer, looks, now) {
            self.sign_and_serve_leaf(&signer.clone(), Reason::LastResort, now);
        }
    }

    fn sign_and_serve_leaf(&mut self, signer: &Signer, reason: Reason, now: i64) {
        let jitter = i64::try_from(random(1001)).unwrap_or(500);
        match issue_certificates::sign_leaf(signer, &self.settings.hosts, now, jitter, &self.settings.lives) {
            Ok((certified, leaf)) => {
                tracing::info!(
                    reason = reason.name(),
                    until = leaf.until,
                    "now serving a new self-managed certificate"
                );
                self.metrics.count_rotation("leaf", reason.name());
                self.metrics.set_leaf_expiry(leaf.until);
                self.metrics.count_load_and_record_time();
                self.served.replace_certificate(certified);
                self.known.retain(|known| known.pem != leaf.issuer);
                self.known.insert(0, signer.authority.clone());
                self.known.truncate(4);
                self.signer = Some(signer.clone());
                self.leaf = Some(leaf);
                // The other certificates are of a CA that API servers already know: no new wait.
                if reason == Reason::Distrusted {
                    self.verified = None;
                }
                self.keep_memory_across_restarts();
            }
            Err(why) => {
                self.metrics.count_failed_load();
                self.log_error_once("leaf", Some(format!("the certificate {why}")));
            }
        }
    }
}
