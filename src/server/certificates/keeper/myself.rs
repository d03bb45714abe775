//! Whether our own port serves what the caBundles are asked about.

use super::super::dial::{self, Silence};
use super::Keeper;
use crate::server::Stop;
use rustls_pki_types::CertificateDer;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::sync::watch as channel;

/// Longer than a busy machine takes for a handshake.
const DEADLINE: Duration = Duration::from_secs(5);
/// Handshakes in a row without an answer after which we are not ready.
const PATIENCE: u32 = 2;

/// The last handshakes with ourselves.
#[derive(Debug, Default)]
pub(super) struct Dialed {
    last: Option<(Vec<CertificateDer<'static>>, Instant)>,
    unanswered: u32,
    pub(super) problem: Option<String>,
    pub(super) remark: Option<String>,
}

/// Longest pause after an answer that was not ours.
const AGAIN: Duration = Duration::from_secs(10);

/// Our own port, and whether it still takes connections.
pub(in crate::server) struct Port {
    pub(in crate::server) address: SocketAddr,
    pub(in crate::server) stop: channel::Receiver<Stop>,
}

impl Port {
    fn closes(&self) -> bool {
        *self.stop.borrow() != Stop::No
    }
}

impl Keeper {
    /// The pause after which our own port is to be asked again, where the last answer was none of ours.
    pub(in crate::server::certificates) fn redial(&self) -> Option<Duration> {
        let dialed = &self.dialed;
        let tick = Duration::from_secs(self.settings.lives.tick.unsigned_abs());
        (dialed.problem.is_some() || dialed.unanswered > 0).then(|| tick.min(AGAIN))
    }

    /// Once a tick, and at once for another certificate. Not while we stop: nobody listens then.
    pub(super) async fn dial(&mut self, now: i64) {
        let Some((port, served)) = self.port.as_ref().zip(self.served.load()) else { return };
        let tick = Duration::from_secs(self.settings.lives.tick.unsigned_abs());
        let pause = self.redial().unwrap_or(tick);
        let known = self.dialed.last.as_ref();
        if port.closes() || known.is_some_and(|(chain, at)| *chain == served.cert && at.elapsed() < pause) {
            return;
        }
        if !self.problems(now).is_empty() {
            return;
        }
        let address = port.address;
        let answer = dial::chain(&dial::loopback(address), DEADLINE).await;
        if port.closes() {
            return;
        }
        self.dialed.note(address, &served.cert, answer);
        if self.dialed.problem.is_some() || self.dialed.remark.is_some() {
            self.metrics.certificate_call_failed("dial");
        }
    }
}

impl Dialed {
    fn note(
        &mut self,
        address: SocketAddr,
        served: &[CertificateDer<'static>],
        answer: Result<Vec<CertificateDer<'static>>, Silence>,
    ) {
        self.last = Some((served.to_vec(), Instant::now()));
        self.remark = None;
        // Fewer answers than before are no news about those that we had.
        if let Err(Silence::Unasked(why)) = &answer {
            self.remark = Some(format!("our own port {address} cannot be asked what it serves: {why}"));
            return;
        }
        self.problem = None;
        if answer != Err(Silence::Deaf) {
            self.unanswered = 0;
        }
        match answer {
            // One task changes what is served, and it is the one that asks.
            Ok(chain) if chain == served => {}
            Ok(_) => {
                self.problem = Some(format!("our own port {address} serves another certificate than ours"));
            }
            Err(Silence::Strange(what)) => {
                self.problem = Some(format!("our own port {address} answers no handshake of ours: {what}"));
            }
            // A port with too many connections: others are served, so it is no reason to go.
            Err(Silence::Closed) => {
                self.remark = Some(format!("our own port {address} closes handshakes; is it full?"));
            }
            Err(Silence::Deaf) => {
                self.unanswered += 1;
                let text = format!("our own port {address} answers no handshake");
                let place = if self.unanswered >= PATIENCE { &mut self.problem } else { &mut self.remark };
                *place = Some(text);
            }
            Err(Silence::Unasked(_)) => {}
        }
    }
}
