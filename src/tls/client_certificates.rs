//! Client authentication: a certificate of one authority with an expected name. Other clients are refused in the handshake,
//! before a byte of HTTP.
//!
//! The authority is not enough: a cluster's CA signs for every kubelet, and for every approved signing request.

use super::certificate_names::names_in_certificate;
use super::{TlsError, crypto_provider};
use arc_swap::ArcSwap;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, UnixTime};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Most bytes of the file.
const MAX_PEM: usize = 1 << 20;

/// Most intermediate certificates of a client (count). API servers send none or a few. webpki looks for a path through all of
/// them before any signature is checked: its budget counts steps, each of which reads every intermediate again
/// (rustls-webpki src/verify_cert.rs, `build_chain_inner`). 64 KiB of made-up certificates took 25 s on the thread that
/// serves all connections. Four with the authority's own name took 46 ms with a P-384 key, because each order of them
/// ends in a check of a signature; two take 4 ms.
const MAX_INTERMEDIATES: usize = 2;

/// The authority's file, and the expected names.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// Certificates of the authority (PEM).
    pub ca: PathBuf,
    /// Names: common names, DNS names or URIs. A certificate needs one of them.
    pub names: Vec<String>,
    /// Check interval of the file.
    pub poll: Duration,
}

/// Verifies client certificates.
#[derive(Debug)]
pub struct ClientVerifier {
    settings: ClientSettings,
    /// The file as it was read last.
    known: Mutex<Vec<u8>>,
    current: ArcSwap<Authority>,
}

#[derive(Debug)]
struct Authority(Arc<dyn ClientCertVerifier>);

impl ClientVerifier {
    /// Loads and checks the authority.
    ///
    /// # Errors
    /// [`TlsError`] names the file and what is wrong with it.
    pub fn load(settings: ClientSettings) -> Result<Self, TlsError> {
        let known = read(&settings.ca)?;
        let current = ArcSwap::from_pointee(authority(&settings.ca, &known)?);
        Ok(Self { settings, known: Mutex::new(known), current })
    }

    /// Check interval of the file.
    #[must_use]
    pub fn check_interval(&self) -> Duration {
        self.settings.poll
    }

    /// Reads the file again. Returns whether the authority has changed.
    ///
    /// # Errors
    /// [`TlsError`] when the file cannot be used; the previous one stays in use.
    pub fn reload_if_file_changed(&self) -> Result<bool, TlsError> {
        let found = read(&self.settings.ca)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == found {
            return Ok(false);
        }
        self.current.store(Arc::new(authority(&self.settings.ca, &found)?));
        *known = found;
        Ok(true)
    }
}

/// A server without client authentication requests no certificate.
pub(super) fn verifier(clients: Option<Arc<ClientVerifier>>) -> Arc<dyn ClientCertVerifier> {
    match clients {
        Some(clients) => clients,
        None => WebPkiClientVerifier::no_client_auth(),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let bytes = std::fs::read(path).map_err(|source| TlsError::Read { path: path.to_path_buf(), source })?;
    if bytes.len() > MAX_PEM {
        let message = format!("has {} bytes, which is too long for a PEM file", bytes.len());
        return Err(TlsError::Pem { path: path.to_path_buf(), message });
    }
    Ok(bytes)
}

fn authority(path: &Path, pem: &[u8]) -> Result<Authority, TlsError> {
    let wrong = |message: String| TlsError::Pem { path: path.to_path_buf(), message };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| wrong(format!("is not valid PEM: {error}")))?;
        roots
            .add(certificate)
            .map_err(|error| wrong(format!("contains no usable CA certificate: {error}")))?;
    }
    if roots.is_empty() {
        return Err(wrong(
            "contains no certificate; expected the PEM certificates of the clients' CA".into(),
        ));
    }
    let built = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), crypto_provider()).build();
    built.map(Authority).map_err(|error| wrong(format!("cannot be used as a client CA: {error}")))
}

impl ClientCertVerifier for ClientVerifier {
    /// None: callers know which certificate to send, and others need not learn it.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if intermediates.len() > MAX_INTERMEDIATES {
            return Err(Error::InvalidCertificate(CertificateError::UnknownIssuer));
        }
        let verified = self.current.load().0.verify_client_cert(end_entity, intermediates, now)?;
        let names = names_in_certificate(end_entity);
        if names.iter().any(|name| self.settings.names.iter().any(|expected| expected == name)) {
            Ok(verified)
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.current.load().0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.current.load().0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.current.load().0.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{
        BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    };

    fn parameters(name: &str) -> CertificateParams {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params
    }

    /// Nobody has to sign a list of intermediates that costs seconds, so even the right client gets no longer list.
    #[test]
    fn a_client_may_send_few_intermediates() {
        let scratch = std::env::temp_dir().join(format!("client-certificates-{}", std::process::id()));
        let ca_key = KeyPair::generate().unwrap();
        let mut ca = parameters("clients");
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca_certificate = ca.self_signed(&ca_key).unwrap();
        std::fs::write(&scratch, ca_certificate.pem()).unwrap();
        let settings =
            ClientSettings { ca: scratch.clone(), names: vec!["api".into()], poll: Duration::from_secs(1) };
        let clients = ClientVerifier::load(settings).unwrap();
        std::fs::remove_file(scratch).unwrap();
        let mut leaf = parameters("api");
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let leaf = leaf.signed_by(&KeyPair::generate().unwrap(), &Issuer::new(ca, ca_key)).unwrap();
        let verified = |intermediates: usize| {
            let intermediates = vec![ca_certificate.der().clone(); intermediates];
            clients.verify_client_cert(leaf.der(), &intermediates, UnixTime::now()).map(|_| ())
        };
        assert_eq!(verified(0), Ok(()));
        assert_eq!(verified(MAX_INTERMEDIATES), Ok(()));
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert_eq!(verified(MAX_INTERMEDIATES + 1), Err(unknown));
    }
}
