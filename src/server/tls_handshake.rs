//! The TLS handshakes of the webhook port, on a thread of their own: whoever opens connections as fast as possible would let the
//! requests of others wait for all these handshakes, if they were on the same threads; and bodies of others would let a
//! handshake wait.

use super::begin_in_turn::take_steps_in_turns;
use super::client_address_and_connection::Caller;
use super::metrics::{Handshake, Shed};
use super::shared_state::State;
use super::shared_tcp_stream::SharedTcpStream;
use super::tls_records_without_data::{CountedRecords, RecordAllowance};
use rustls::ServerConfig;
use rustls::server::Acceptor;
use std::io;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

/// Bytes of an answer that TLS keeps for a connection before the kernel has room for them. They are not in the budget. The default
/// is 64 KiB.
const TLS_BUFFER: usize = 16 * 1024;

/// Most protocols that a client may offer (count). Go's client and OpenSSL's offer two at most.
const MOST_PROTOCOLS: usize = 32;

/// An answer with our certificate is longer, and one that only asks for another key share is shorter (bytes; RFC 8446, section
/// 4.1.4). The client's next message then needs all the work.
const MIN_ANSWER_WITH_CERTIFICATE: usize = 256;

/// How handshakes are made.
#[derive(Clone)]
pub(super) struct TlsHandshakes {
    pub(super) config: Arc<ServerConfig>,
    /// The runtime of their thread.
    pub(super) runtime: Handle,
    /// Whether a client's second message takes much work: its certificate is checked, or its key is used for the first time (TLS
    /// 1.2).
    pub(super) is_second_message_long: bool,
}

/// A connection after its handshake.
pub(super) type Tls = TlsStream<CountedRecords<SharedTcpStream>>;

impl TlsHandshakes {
    /// The handshake of a connection. Where it fails, comes too late, or has to make room for another connection, it is counted,
    /// and there is `None`.
    pub(super) async fn complete_or_count(
        &self,
        stream: SharedTcpStream,
        allowance: &Arc<RecordAllowance>,
        state: &Arc<State>,
        caller: &Caller,
    ) -> Option<Tls> {
        let mut thread = JoinSet::new();
        let shaken = async {
            // A client that sends nothing is none of the thread's business.
            stream.wait_until_client_sends_or_ends().await;
            let shake = self.clone().shake(stream, Arc::clone(allowance), Arc::clone(state), caller.clone());
            thread.spawn_on(shake, &self.runtime);
            match thread.join_next().await {
                Some(Ok(shaken)) => shaken,
                Some(Err(ended)) => Err(io::Error::other(ended)),
                None => Err(io::ErrorKind::NotConnected.into()),
            }
        };
        let handshake = tokio::select! {
            handshake = tokio::time::timeout(state.limits.handshake, shaken) => handshake,
            () = caller.watch.wait_until_asked_to_make_room() => {
                state.metrics.count_handshake(Handshake::Timeout);
                return None;
            }
        };
        match handshake {
            Ok(Ok(mut tls)) => {
                state.metrics.count_handshake(Handshake::Ok);
                tls.get_mut().1.set_buffer_limit(Some(TLS_BUFFER));
                caller.watch.record_handshake_end();
                allowance.record_handshake_end();
                Some(tls)
            }
            Ok(Err(error)) => {
                let is_certificate_fault = is_client_certificate_fault(&error);
                state.metrics.count_handshake(match is_certificate_fault {
                    true => Handshake::Refused,
                    false => Handshake::Failed,
                });
                tracing::debug!(%error, "TLS handshake failed");
                None
            }
            Err(_) => {
                state.metrics.count_handshake(Handshake::Timeout);
                state.metrics.count_shed(Shed::SlowHandshake);
                None
            }
        }
    }

    /// Nearly all work is in the client's first message and our answer to it, in the check of the client's certificate, and in
    /// TLS 1.2 in the key of the client, which comes after our certificate. What else follows has no turn: a client that opens
    /// connections and closes them again would make connections wait that are already closed.
    async fn shake(
        self,
        stream: SharedTcpStream,
        allowance: Arc<RecordAllowance>,
        state: Arc<State>,
        caller: Caller,
    ) -> io::Result<Tls> {
        let is_certificate_sent = || allowance.sent_bytes() >= MIN_ANSWER_WITH_CERTIFICATE;
        let is_next_step_long = || self.is_second_message_long || !is_certificate_sent();
        let turn = || state.budgets.turns.wait_for_turn_of_handshake(caller.address);
        let config = Arc::clone(&self.config);
        let counted = CountedRecords::new(stream.clone(), Arc::clone(&allowance));
        let messages = async {
            // Clients that go away while they wait for a turn would take the time of those that are still there.
            if stream.is_given_up_by_client() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            let hello = LazyConfigAcceptor::new(Acceptor::default(), counted).await?;
            if hello.client_hello().alpn().is_some_and(|mut names| names.nth(MOST_PROTOCOLS).is_some()) {
                return Err(io::Error::other("the client offers too many protocols"));
            }
            allowance.record_first_message();
            hello.into_stream(config).await
        };
        take_steps_in_turns(messages, turn, is_next_step_long).await
    }
}

/// Whether a handshake failed because the client lacks the right certificate.
fn is_client_certificate_fault(error: &io::Error) -> bool {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(of_tls, Some(rustls::Error::NoCertificatesPresented | rustls::Error::InvalidCertificate(_)))
}
