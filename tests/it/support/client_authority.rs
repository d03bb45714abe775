//! An authority of clients, and the certificates that it signs.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, SanType,
};

use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its certificate (PEM).
    pub(crate) pem: String,
}

/// Certificate and key (PEM).
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

fn next() -> usize {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

impl Authority {
    pub(crate) fn new() -> Result<Self, String> {
        let made = || -> Result<Self, rcgen::Error> {
            let key = KeyPair::generate()?;
            let mut params = CertificateParams::new(Vec::new())?;
            // One name would make two authorities one whose signature is wrong.
            params.distinguished_name.push(DnType::CommonName, format!("clients {}", next()));
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let pem = params.self_signed(&key)?.pem();
            Ok(Self { issuer: Issuer::new(params, key), pem })
        };
        made().map_err(|e| e.to_string())
    }

    fn identity(
        &self,
        name: &str,
        other: Option<SanType>,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<Identity, String> {
        let made = || -> Result<Identity, rcgen::Error> {
            let key = KeyPair::generate()?;
            let mut params = CertificateParams::new(Vec::new())?;
            params.distinguished_name.push(DnType::CommonName, name);
            params.subject_alt_names = other.into_iter().collect();
            params.extended_key_usages = vec![usage];
            let certificate = params.signed_by(&key, &self.issuer)?.pem();
            Ok(Identity { certificate, key: key.serialize_pem() })
        };
        made().map_err(|e| e.to_string())
    }

    /// A certificate for a common name, and for a URI where one is given.
    pub(crate) fn sign(
        &self,
        name: &str,
        uri: Option<&str>,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<Identity, String> {
        self.identity(name, uri.map(|uri| SanType::URI(uri.try_into().unwrap())), usage)
    }

    /// A certificate for `localhost`.
    pub(crate) fn server(&self) -> Result<Identity, String> {
        self.identity(
            "localhost",
            Some(SanType::DnsName("localhost".try_into().unwrap())),
            ExtendedKeyUsagePurpose::ServerAuth,
        )
    }

    /// A client's certificate for a common name.
    pub(crate) fn client(&self, name: &str) -> Result<Identity, String> {
        self.sign(name, None, ExtendedKeyUsagePurpose::ClientAuth)
    }
}
