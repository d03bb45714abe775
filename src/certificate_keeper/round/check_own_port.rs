//! Whether our own port serves the certificate that the caBundles are checked for.

use super::super::own_port_handshake;
use super::Keeper;
use std::time::Duration;

/// Longer than a busy machine takes for a handshake.
const DEADLINE: Duration = Duration::from_secs(5);
/// Longest pause after an answer that was not ours.
const AGAIN: Duration = Duration::from_secs(10);

impl Keeper {
    /// The pause before the next check of our own port, if the last check found a problem.
    pub(in crate::certificate_keeper) fn pause_before_recheck_of_own_port(&self) -> Option<Duration> {
        let dialed = &self.dialed;
        let tick = Duration::from_secs(self.settings.lives.tick.unsigned_abs());
        (dialed.problem.is_some() || dialed.unanswered > 0).then(|| tick.min(AGAIN))
    }

    /// Checks by a handshake what our own port serves: once a tick, and at once for another certificate. Not while we stop: nobody listens then.
    pub(super) async fn check_own_port_if_due(&mut self, now: i64) {
        let Some((port, served)) = self.port.as_ref().zip(self.served.load()) else { return };
        let tick = Duration::from_secs(self.settings.lives.tick.unsigned_abs());
        let pause = self.pause_before_recheck_of_own_port().unwrap_or(tick);
        let known = self.dialed.last.as_ref();
        if port.is_server_stopping()
            || known.is_some_and(|(chain, at)| *chain == served.cert && at.elapsed() < pause)
        {
            return;
        }
        if !self.why_certificate_is_not_trusted(now).is_empty() {
            return;
        }
        let address = port.address;
        let answer = own_port_handshake::fetch_served_chain(
            &own_port_handshake::addresses_to_reach_own_port(address),
            DEADLINE,
        )
        .await;
        if port.is_server_stopping() {
            return;
        }
        self.dialed.record_answer_as_problem_or_remark(address, &served.cert, answer);
        if self.dialed.problem.is_some() || self.dialed.remark.is_some() {
            self.metrics.count_failed_call("dial");
        }
    }
}
