//! Whether our own port serves what the caBundles are asked about.

use super::super::dial::{self, Silence};
use super::Keeper;
use rustls_pki_types::CertificateDer;
use std::time::{Duration, Instant};

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

impl Keeper {
    /// Once a tick, and at once for another certificate.
    pub(super) async fn dial(&mut self, now: i64) {
        let Some((address, served)) = self.port.zip(self.served.load()) else { return };
        let tick = Duration::from_secs(self.settings.lives.tick.unsigned_abs());
        let known = self.dialed.last.as_ref();
        if known.is_some_and(|(chain, at)| *chain == served.cert && at.elapsed() < tick) {
            return;
        }
        if !self.problems(now).is_empty() {
            return;
        }
        let address = dial::loopback(address);
        let answer = dial::chain(address, DEADLINE).await;
        let dialed = &mut self.dialed;
        dialed.last = Some((served.cert.clone(), Instant::now()));
        (dialed.problem, dialed.remark) = (None, None);
        match answer {
            Ok(chain) => {
                dialed.unanswered = 0;
                // One task changes what is served, and it is here.
                if chain != served.cert {
                    dialed.problem =
                        Some(format!("our own port {address} serves another certificate than ours"));
                }
            }
            Err(Silence::Closed) => {
                // A port with too many connections: others are served, so it is no reason to go.
                dialed.unanswered = 0;
                dialed.remark = Some(format!("our own port {address} closes handshakes; is it full?"));
            }
            Err(Silence::Deaf) => {
                dialed.unanswered += 1;
                let text = format!("our own port {address} answers no handshake");
                if dialed.unanswered >= PATIENCE {
                    dialed.problem = Some(text);
                } else {
                    dialed.remark = Some(text);
                }
            }
        }
        if self.dialed.problem.is_some() || self.dialed.remark.is_some() {
            self.metrics.certificate_call_failed("dial");
        }
    }
}
