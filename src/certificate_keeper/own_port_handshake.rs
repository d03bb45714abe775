//! A handshake with our own port: that the certificate in use is the one that is served, and that handshakes go on.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

/// Why no chain was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandshakeFailure {
    /// The port closed the connection, as it does when it has too many.
    Closed,
    /// Nobody listens, or the kernel has taken the connection and nobody answers.
    Deaf,
    /// Another server answered; its reaction.
    Strange(String),
    /// The check failed on our side: this machine lacks the address, or no file descriptor is free. It proves nothing about
    /// calls from others.
    Unasked(String),
}

/// Accepts every chain, since the caBundles are compared later, if the other side has the key.
#[derive(Debug)]
struct AnyChain(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyChain {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, leaf, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, leaf, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Addresses of our own port, the best first. A machine may listen on `::` without `::1`: IPv6 can be off for an interface
/// (sysctl net.ipv6.conf.*.disable_ipv6) while calls arrive over IPv4.
pub(super) fn addresses_to_reach_own_port(bound: SocketAddr) -> Vec<SocketAddr> {
    let ips = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => vec![Ipv4Addr::LOCALHOST.into()],
        IpAddr::V6(ip) if ip.is_unspecified() => vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()],
        ip => vec![ip],
    };
    // Everything except the IP is kept: a link-local address needs its scope.
    let with = |ip| {
        let mut address = bound;
        address.set_ip(ip);
        address
    };
    ips.into_iter().map(with).collect()
}

/// The chain at the first of these addresses that can be reached.
pub async fn fetch_served_chain(
    addresses: &[SocketAddr],
    deadline: Duration,
) -> Result<Vec<CertificateDer<'static>>, HandshakeFailure> {
    let mut unasked = HandshakeFailure::Unasked("no address".to_owned());
    let taken = Instant::now() + deadline;
    for address in addresses {
        match at(*address, taken, deadline).await {
            Err(silence @ HandshakeFailure::Unasked(_)) => unasked = silence,
            answer => return answer,
        }
    }
    Err(unasked)
}

/// `taken`: until when the connection is to be there, whatever was tried before.
async fn at(
    address: SocketAddr,
    taken: Instant,
    deadline: Duration,
) -> Result<Vec<CertificateDer<'static>>, HandshakeFailure> {
    let provider = crate::tls::crypto_provider();
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| HandshakeFailure::Unasked(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyChain(provider)))
        .with_no_client_auth();
    let stream = match tokio::time::timeout_at(taken, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => return Err(HandshakeFailure::Deaf),
        Ok(Err(error)) => return Err(HandshakeFailure::Unasked(error.to_string())),
        // The queue of the port is full, or a packet filter drops what we send.
        Err(_) => {
            return Err(HandshakeFailure::Unasked("the port does not accept the connection".to_owned()));
        }
    };
    let name = ServerName::IpAddress(address.ip().into());
    let shaken = TlsConnector::from(Arc::new(config)).connect(name, stream);
    match tokio::time::timeout(deadline, shaken).await {
        Ok(Ok(stream)) => {
            let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
            Ok(chain.iter().map(|der| der.clone().into_owned()).collect())
        }
        Ok(Err(error)) => Err(match error.kind() {
            ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe => HandshakeFailure::Closed,
            _ => HandshakeFailure::Strange(crate::text::escaped_and_cut(&error.to_string(), 120)),
        }),
        Err(_) => Err(HandshakeFailure::Deaf),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::certificate_keeper::issue_certificates;
    use crate::certificates::Lifetimes;
    use crate::tls::{ServedCertificate, server_config};
    use std::io::{Read, Write};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    const SOON: Duration = Duration::from_millis(300);

    /// A port with a certificate of its own.
    pub(in crate::certificate_keeper) async fn stranger() -> (SocketAddr, CertificateDer<'static>) {
        let lives = Lifetimes::DEFAULT;
        let signer = issue_certificates::create_ca(1_800_000_000, &lives).unwrap();
        let (certified, _) =
            issue_certificates::sign_leaf(&signer, &["x".to_owned()], 1_800_000_000, 0, &lives).unwrap();
        let leaf = certified.cert[0].clone();
        let served = Arc::<ServedCertificate>::default();
        served.replace_certificate(certified);
        let acceptor = TlsAcceptor::from(server_config(served, false, None).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = acceptor.accept(stream).await;
            }
        });
        (address, leaf)
    }

    async fn one(
        address: SocketAddr,
        deadline: Duration,
    ) -> Result<Vec<CertificateDer<'static>>, HandshakeFailure> {
        fetch_served_chain(&[address], deadline).await
    }

    #[tokio::test]
    async fn a_port_is_known_by_its_certificate() {
        let (address, leaf) = stranger().await;
        assert_eq!(one(address, Duration::from_secs(5)).await, Ok(vec![leaf]));
        // Full: closed at once. Hung: taken by the kernel, and by nobody else. Closed.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(one(address, SOON).await, Err(HandshakeFailure::Deaf));
        let closing = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                drop(stream);
            }
        });
        assert_eq!(one(address, Duration::from_secs(5)).await, Err(HandshakeFailure::Closed));
        closing.abort();
        let _ = closing.await;
        assert_eq!(one(address, SOON).await, Err(HandshakeFailure::Deaf));
    }

    #[tokio::test]
    async fn an_answer_that_is_no_tls_is_strange() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 2048]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        });
        let answer = one(address, Duration::from_secs(5)).await;
        assert!(matches!(answer, Err(HandshakeFailure::Strange(_))), "{answer:?}");
    }

    /// A link-local address without a scope is refused by the kernel, as `::1` is where IPv6 is off.
    #[tokio::test]
    async fn what_we_cannot_ask_is_passed_over() {
        let (address, leaf) = stranger().await;
        let nowhere: SocketAddr = "[fe80::1]:1".parse().unwrap();
        let answer = one(nowhere, SOON).await;
        assert!(matches!(answer, Err(HandshakeFailure::Unasked(_))), "{answer:?}");
        assert_eq!(fetch_served_chain(&[nowhere, address], Duration::from_secs(5)).await, Ok(vec![leaf]));
    }

    #[test]
    fn an_address_for_everybody_is_reached_by_loopback() {
        for (bound, reached) in [
            ("0.0.0.0:1", &["127.0.0.1:1"][..]),
            ("[::]:1", &["[::1]:1", "127.0.0.1:1"]),
            ("10.0.0.1:1", &["10.0.0.1:1"]),
            ("[fe80::1%3]:1", &["[fe80::1%3]:1"]),
        ] {
            let reached: Vec<SocketAddr> = reached.iter().map(|text| text.parse().unwrap()).collect();
            assert_eq!(addresses_to_reach_own_port(bound.parse().unwrap()), reached);
        }
    }
}
