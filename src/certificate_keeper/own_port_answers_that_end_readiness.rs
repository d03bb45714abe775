//! Which answers of our own port to handshakes end readiness, and which are only remarked on `/readyz`.

use super::own_port_handshake::HandshakeFailure;
use rustls_pki_types::CertificateDer;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// Handshakes in a row without an answer after which we are not ready.
const UNANSWERED_BEFORE_NOT_READY: u32 = 2;

/// The last handshakes with ourselves.
#[derive(Debug, Default)]
pub(super) struct OwnPortAnswers {
    pub(super) last: Option<(Vec<CertificateDer<'static>>, Instant)>,
    pub(super) unanswered: u32,
    pub(super) problem: Option<String>,
    pub(super) remark: Option<String>,
}

/// Our own port, and whether it still accepts connections.
pub(crate) struct OwnPort {
    pub(crate) address: SocketAddr,
    /// Whether it accepts no more connections.
    pub(crate) closes: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl OwnPort {
    pub(super) fn is_server_stopping(&self) -> bool {
        (self.closes)()
    }
}

impl OwnPortAnswers {
    pub(super) fn record_answer_as_problem_or_remark(
        &mut self,
        address: SocketAddr,
        served: &[CertificateDer<'static>],
        answer: Result<Vec<CertificateDer<'static>>, HandshakeFailure>,
    ) {
        self.last = Some((served.to_vec(), Instant::now()));
        self.remark = None;
        // A check that could not be made says nothing about the last answer.
        if let Err(HandshakeFailure::Unasked(why)) = &answer {
            self.remark =
                Some(format!("checking the certificate on the server's own port {address} failed: {why}"));
            return;
        }
        self.problem = None;
        if answer != Err(HandshakeFailure::Deaf) {
            self.unanswered = 0;
        }
        match answer {
            // Only the task that asks changes the certificate in use.
            Ok(chain) if chain == served => {}
            Ok(_) => {
                self.problem = Some(format!(
                    "the server's own port {address} presents a certificate that is not the server's"
                ));
            }
            Err(HandshakeFailure::Strange(what)) => {
                self.problem =
                    Some(format!("the TLS handshake with the server's own port {address} failed: {what}"));
            }
            // A port with too many connections serves others, so this does not affect readiness.
            Err(HandshakeFailure::Closed) => {
                self.remark = Some(format!(
                    "the server's own port {address} closes connections during the TLS handshake; is --max-connections reached?"
                ));
            }
            Err(HandshakeFailure::Deaf) => {
                self.unanswered += 1;
                let text = format!("the server's own port {address} does not answer TLS handshakes");
                let place = if self.unanswered >= UNANSWERED_BEFORE_NOT_READY {
                    &mut self.problem
                } else {
                    &mut self.remark
                };
                *place = Some(text);
            }
            Err(HandshakeFailure::Unasked(_)) => {}
        }
    }
}
