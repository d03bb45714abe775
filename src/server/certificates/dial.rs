//! A handshake with our own port: that the certificate in use is the one that is served, and that handshakes go on.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Why there is no chain to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silence {
    /// The port closed the connection, as it does when it has too many.
    Closed,
    /// Nobody listens, or nobody answers.
    Deaf,
}

/// Takes every chain, since the caBundles judge it, but none whose key the other side has not.
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

/// Where we reach ourselves.
pub(super) fn loopback(bound: SocketAddr) -> SocketAddr {
    let ip = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, bound.port())
}

/// The chain that a port serves.
pub(super) async fn chain(
    address: SocketAddr,
    deadline: Duration,
) -> Result<Vec<CertificateDer<'static>>, Silence> {
    let provider = crate::server::tls::provider();
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|_| Silence::Deaf)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyChain(provider)))
        .with_no_client_auth();
    let shaken = async {
        let stream = TcpStream::connect(address).await.map_err(|_| Silence::Deaf)?;
        let name = ServerName::IpAddress(address.ip().into());
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        let stream = stream.map_err(|_| Silence::Closed)?;
        let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
        Ok(chain.iter().map(|der| der.clone().into_owned()).collect())
    };
    tokio::time::timeout(deadline, shaken).await.unwrap_or(Err(Silence::Deaf))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::certificates::Lives;
    use crate::server::certificates::issue;
    use crate::server::tls::{Served, server_config};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    const SOON: Duration = Duration::from_millis(300);

    /// A port with a certificate of its own.
    pub(in crate::server::certificates) async fn stranger() -> (SocketAddr, CertificateDer<'static>) {
        let lives = Lives::default();
        let signer = issue::authority(1_800_000_000, &lives).unwrap();
        let (certified, _) = issue::leaf(&signer, &["x".to_owned()], 1_800_000_000, 0, &lives).unwrap();
        let leaf = certified.cert[0].clone();
        let served = Arc::<Served>::default();
        served.serve(certified);
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

    #[tokio::test]
    async fn a_port_is_told_by_what_it_serves() {
        let (address, leaf) = stranger().await;
        assert_eq!(chain(address, Duration::from_secs(5)).await, Ok(vec![leaf]));
        // Full: closed at once. Hung: taken by the kernel, and by nobody else. Closed.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(chain(address, SOON).await, Err(Silence::Deaf));
        let closing = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                drop(stream);
            }
        });
        assert_eq!(chain(address, Duration::from_secs(5)).await, Err(Silence::Closed));
        closing.abort();
        let _ = closing.await;
        assert_eq!(chain(address, SOON).await, Err(Silence::Deaf));
    }

    #[test]
    fn an_address_for_everybody_is_reached_by_loopback() {
        for (bound, reached) in [
            ("0.0.0.0:1", "127.0.0.1:1"),
            ("[::]:1", "[::1]:1"),
            ("10.0.0.1:1", "10.0.0.1:1"),
            ("[fe80::1]:1", "[fe80::1]:1"),
        ] {
            assert_eq!(loopback(bound.parse().unwrap()), reached.parse().unwrap());
        }
    }
}
