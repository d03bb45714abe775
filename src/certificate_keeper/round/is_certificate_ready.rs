//! Whether the certificate is ready: the standing, as problems and remarks for `/readyz`.

use super::super::kubernetes_events;
use super::Keeper;
use std::time::{Duration, Instant};

impl Keeper {
    /// Why an API server would not trust our certificate, as far as known.
    pub(super) fn why_certificate_is_not_trusted(&self, now: i64) -> Vec<String> {
        match self.served.load() {
            None => vec!["the server has no certificate yet".to_owned()],
            Some(served) => self
                .sights
                .iter()
                .filter_map(|sight| sight.why_chain_is_not_trusted(&served.cert, now))
                .collect(),
        }
    }

    /// Updates the standing that `/readyz` shows, from what the round has read. Returns a pause if only time is missing.
    pub(super) fn update_readiness_metrics_and_events(&mut self, now: i64) -> Option<Duration> {
        let mut problems = self.why_certificate_is_not_trusted(now);
        problems.extend(self.dialed.problem.clone());
        let mut remarks: Vec<String> =
            self.sights.iter().flat_map(|sight| sight.remarks_that_keep_readiness(now)).collect();
        remarks.extend(self.dialed.remark.iter().chain(self.reported.get("ca_out")).cloned());
        let served = self.served.load();
        for sight in &self.sights {
            let right = served
                .as_ref()
                .is_some_and(|served| sight.why_chain_is_not_trusted(&served.cert, now).is_none());
            self.metrics.set_ca_bundle_in_sync(sight.kind.name(), right);
        }
        let (ended, ending) = self.report_overdue_renewal(now);
        problems.extend(ended);
        remarks.extend(ending);
        let mut pause = None;
        let before = self.verified;
        if problems.is_empty() {
            let since = *self.verified.get_or_insert_with(Instant::now);
            let left = self.settle_time().saturating_sub(self.began.saturating_duration_since(since));
            if !left.is_zero() {
                problems.push(
                    "the caBundles are correct; waiting for --tls-settle, until the API servers have loaded them"
                        .to_owned(),
                );
                pause = Some(left + Duration::from_millis(10));
            }
        } else {
            self.verified = None;
        }
        if self.verified != before {
            self.keep_memory_across_restarts();
        }
        if let Some(Err(why)) = self.record.as_ref().map(|record| record.signer_valid_at(now).map(drop)) {
            let names = &self.settings.names;
            remarks.push(format!(
                "the CA in Secret {}/{} cannot sign certificates ({why})",
                names.namespace, names.secret
            ));
        }
        if self.backing_off {
            remarks.push(
                "paused writes after 12 writes in a row, because another client keeps changing the same objects"
                    .to_owned(),
            );
        }
        let fault = self.fault.clone();
        if let Some(fault) = &fault {
            if problems.is_empty() { remarks.push(fault.clone()) } else { problems.insert(0, fault.clone()) }
        }
        self.log_error_once("objects", fault);
        if self.standing.replace_problems_and_remarks(problems.clone(), remarks.clone()) {
            if problems.is_empty() {
                tracing::info!(?remarks, "certificates are ready");
            } else {
                tracing::warn!(?problems, ?remarks, "certificates are not ready, so the server is not ready");
            }
        }
        pause
    }

    /// A problem or remark about the remaining life of our certificate. While it verifies, calls succeed. The cause that
    /// prevents its renewal affects all replicas, so becoming unready early would itself be the outage.
    fn report_overdue_renewal(&mut self, now: i64) -> (Option<String>, Option<String>) {
        let over = self.leaf.as_ref().filter(|leaf| now >= leaf.last_tenth());
        self.metrics.set_leaf_overdue(over.is_some());
        let Some(leaf) = over else { return (None, None) };
        let text = format!(
            "the server's certificate expires in {} s, and its renewal fails",
            (leaf.until - now).max(0)
        );
        if now >= leaf.until - self.settings.lives.last_seconds_of_leaf(leaf.until - leaf.signed) {
            return (Some(text), None);
        }
        let why = self.fault.as_deref().unwrap_or("see the log");
        self.events.emit_unless_recent(kubernetes_events::Reason::Overdue, &format!("{text}: {why}"));
        (None, Some(text))
    }

    /// Logs an error once, until it ends or changes.
    pub(super) fn log_error_once(&mut self, what: &'static str, text: Option<String>) {
        if self.reported.get(what) != text.as_ref() {
            if let Some(error) = &text {
                tracing::error!(what, error, "certificate problem");
            }
            match text {
                Some(text) => self.reported.insert(what, text),
                None => self.reported.remove(what),
            };
        }
    }
}
