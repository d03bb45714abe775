//! The certificate: loaded and checked before the port is bound, checked for changes every few seconds, and kept if the
//! new files cannot be used.
//!
//! Kubelet swaps the files of a Secret volume by renaming a `..data` symlink; a watch on the file sees nothing
//! of it after the first time. Reading the files and comparing their content does.

use arc_swap::ArcSwapOption;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Most bytes of a certificate or key file; PEM is parsed only below that.
const MAX_PEM: usize = 1 << 20;

/// Why a certificate or key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// File.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file has the wrong content.
    #[error("{path}: {message}")]
    Pem {
        /// File.
        path: PathBuf,
        /// What is wrong and what is expected.
        message: String,
    },
    /// The key belongs to another certificate.
    #[error("{key} is not the key of the certificate in {cert}")]
    Mismatch {
        /// Certificate file.
        cert: PathBuf,
        /// Key file.
        key: PathBuf,
    },
    /// The TLS library refuses the settings.
    #[error("TLS: {0}")]
    Config(#[from] rustls::Error),
}

/// The certificate in use, for handshakes: one load of a pointer. Until there is one they fail, each for itself.
#[derive(Debug, Default)]
pub struct ServedCertificate(ArcSwapOption<CertifiedKey>);

impl ServedCertificate {
    /// The certificate, if there is one.
    #[must_use]
    pub fn load(&self) -> Option<Arc<CertifiedKey>> {
        self.0.load_full()
    }

    /// Serves another certificate from the next handshake on.
    pub fn replace_certificate(&self, certified: CertifiedKey) {
        self.0.store(Some(Arc::new(certified)));
    }
}

impl ResolvesServerCert for ServedCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.load()
    }
}

/// A certificate in files.
#[derive(Debug)]
pub struct CertificateFiles {
    cert: PathBuf,
    key: PathBuf,
    current: Arc<ServedCertificate>,
    fingerprint: std::sync::atomic::AtomicU64,
}

/// The one crypto provider of the process: handshakes, signatures and the client of the API server take it from here.
#[must_use]
pub fn crypto_provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> =
        LazyLock::new(|| Arc::new(rustls::crypto::ring::default_provider()));
    Arc::clone(&PROVIDER)
}

impl CertificateFiles {
    /// Loads and checks a certificate and its key.
    ///
    /// # Errors
    /// [`TlsError`] names the file and what is wrong with it.
    pub fn load(cert: &Path, key: &Path) -> Result<Self, TlsError> {
        let files = Files::read(cert, key)?;
        let current = Arc::new(ServedCertificate::default());
        current.replace_certificate(files.certified(cert, key)?);
        let fingerprint = files.fingerprint().into();
        Ok(Self { cert: cert.to_path_buf(), key: key.to_path_buf(), current, fingerprint })
    }

    /// What handshakes use.
    #[must_use]
    pub fn served(&self) -> Arc<ServedCertificate> {
        Arc::clone(&self.current)
    }

    /// When the certificate in use ends (Unix time); 0 where that cannot be read.
    #[must_use]
    pub fn expiry_time(&self) -> i64 {
        let served = self.current.load();
        let leaf = served.as_ref().and_then(|served| served.cert.first());
        leaf.and_then(|der| crate::certificates::parse_fields(der)).map_or(0, |fields| fields.until)
    }

    /// A problem with the dates now, and a remark about a near end.
    pub(crate) fn expiry_problem_and_remark(&self, now: i64) -> (Option<String>, Option<String>) {
        let served = self.current.load();
        let leaf = served.as_ref().and_then(|served| served.cert.first());
        let Some(fields) = leaf.and_then(|der| crate::certificates::parse_fields(der)) else {
            return (None, None);
        };
        let file = self.cert.display();
        if now >= fields.until {
            let text = format!("the certificate in {file} has expired, so API servers refuse it; replace it");
            return (Some(text), None);
        }
        if now < fields.from {
            return (Some(format!("the certificate in {file} is not valid yet; is the clock right?")), None);
        }
        let soon = now >= fields.until - (fields.until - fields.from) / 10;
        let text =
            format!("the certificate in {file} has less than a tenth of its lifetime left; replace it");
        (None, soon.then_some(text))
    }

    /// Reads the files again. Returns whether the certificate has changed.
    ///
    /// # Errors
    /// [`TlsError`] when the files cannot be used; the certificate in use stays.
    pub fn reload_if_files_changed(&self) -> Result<bool, TlsError> {
        use std::sync::atomic::Ordering;
        let files = Files::read(&self.cert, &self.key)?;
        let fingerprint = files.fingerprint();
        if fingerprint == self.fingerprint.load(Ordering::Acquire) {
            return Ok(false);
        }
        self.current.replace_certificate(files.certified(&self.cert, &self.key)?);
        self.fingerprint.store(fingerprint, Ordering::Release);
        Ok(true)
    }
}

struct Files {
    cert: Vec<u8>,
    key: Vec<u8>,
}

impl Files {
    /// Reads both, again if the directory was swapped in between: the two must be of one generation.
    fn read(cert: &Path, key: &Path) -> Result<Self, TlsError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|source| TlsError::Read { path: path.to_path_buf(), source })
        };
        let generation = || (std::fs::canonicalize(cert).ok(), std::fs::canonicalize(key).ok());
        let mut files = None;
        for _ in 0..3 {
            let before = generation();
            let now = Self { cert: read(cert)?, key: read(key)? };
            let steady = before == generation();
            files = Some(now);
            if steady {
                break;
            }
        }
        files.ok_or_else(|| TlsError::Pem { path: cert.to_path_buf(), message: "cannot be read".into() })
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.cert, &self.key).hash(&mut hasher);
        hasher.finish()
    }

    fn certified(&self, cert: &Path, key: &Path) -> Result<CertifiedKey, TlsError> {
        parse_chain_and_key((cert, &self.cert), (key, &self.key))
    }
}

/// A chain and its key out of PEM, each with the name it has in errors.
pub(crate) fn parse_chain_and_key(
    (cert, chain): (&Path, &[u8]),
    (key, private): (&Path, &[u8]),
) -> Result<CertifiedKey, TlsError> {
    let pem = |path: &Path, message: String| TlsError::Pem { path: path.to_path_buf(), message };
    for (path, bytes) in [(cert, chain), (key, private)] {
        if bytes.len() > MAX_PEM {
            return Err(pem(path, format!("has {} bytes, which is too long for a PEM file", bytes.len())));
        }
    }
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<_, _>>()
        .map_err(|error| pem(cert, format!("is not valid PEM: {error}")))?;
    if chain.is_empty() {
        return Err(pem(cert, "contains no certificate; expected a PEM block CERTIFICATE".into()));
    }
    let private = PrivateKeyDer::from_pem_slice(private).map_err(|error| {
        pem(key, format!("contains no usable private key; expected a PEM block PRIVATE KEY ({error})"))
    })?;
    let signing = crypto_provider()
        .key_provider
        .load_private_key(private)
        .map_err(|error| pem(key, format!("has a private key of an unsupported kind: {error}")))?;
    let certified = CertifiedKey::new(chain, signing);
    match certified.keys_match() {
        Ok(()) => Ok(certified),
        Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch)) => {
            Err(TlsError::Mismatch { cert: cert.to_path_buf(), key: key.to_path_buf() })
        }
        Err(error) => Err(pem(cert, format!("is not a usable certificate: {error}"))),
    }
}
