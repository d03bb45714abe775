//! Writes the caBundle of one webhook configuration.

use super::{Keeper, random, shown};
use crate::certificate_keeper::pause_between_rounds::{CONFLICTS_BEFORE_FAULT, MAX_PAUSE_AFTER_CONFLICT_MS};
use crate::cluster::secret_and_webhook_configurations::Written;
use std::time::{Duration, Instant};

impl Keeper {
    /// Writes the CAs to trust into a configuration. Returns the pause until the next round.
    pub(super) async fn write_ca_bundles_of_one_configuration(
        &mut self,
        number: usize,
        now: i64,
    ) -> Option<Duration> {
        let bundle = self.record.as_ref()?.bundle();
        let sight = self.sights.get_mut(number)?;
        let read = sight.read.clone()??;
        sight.drift.record_write_attempt(now);
        let fault = match self.objects.patch_wrong_ca_bundles(sight.kind, &read, &bundle).await {
            Ok(Written::Done) => {
                (sight.unwritten, sight.refused) = (None, 0);
                sight.drift.record_accepted_write();
                self.metrics.count_ca_bundle_write(sight.kind.name());
                tracing::info!(configuration = %sight.name, "wrote the caBundle");
                return Some(Duration::ZERO);
            }
            Ok(Written::Outrun(fault)) => {
                self.metrics.count_write_conflict("publish");
                sight.refused += 1;
                if sight.refused < CONFLICTS_BEFORE_FAULT {
                    return Some(Duration::from_millis(random(MAX_PAUSE_AFTER_CONFLICT_MS)));
                }
                fault
            }
            Err(fault) => fault,
        };
        self.metrics.count_failed_call("publish");
        let pause = Duration::from_secs(self.settings.lives.tick.unsigned_abs().min(10));
        sight.unwritten = Some((shown(&fault), Instant::now() + pause));
        // A failure of this configuration must not delay the other one.
        Some(Duration::from_millis(20 + random(MAX_PAUSE_AFTER_CONFLICT_MS)))
    }
}
