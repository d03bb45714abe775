//! A CA's certificate, and the one form of it that is written into bundles.

use super::x509_reader;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

/// Most bytes of PEM that are parsed at all.
const MAX_PEM: usize = 1 << 20;
/// Prefix of the common names of our CAs.
pub const NAME: &str = "fabric-admission CA ";

/// A CA's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// PEM, in the form that we write.
    pub pem: String,
    /// First second of its validity.
    pub from: i64,
    /// Last second of its validity.
    pub until: i64,
    /// Its common name, where the subject has nothing else.
    pub name: Option<String>,
    /// Whether it may sign others.
    pub signs: bool,
}

impl Authority {
    /// Reads the one certificate of a PEM text.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn from_pem(text: &[u8]) -> Result<Self, String> {
        let all = Self::read_all(text)?;
        let count = all.len();
        let mut all = all.into_iter();
        match (all.next(), all.next()) {
            (Some(one), None) => Ok(one),
            _ => Err(format!("holds {count} certificates; expected one PEM block CERTIFICATE")),
        }
    }

    /// Reads every certificate of a PEM text.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn read_all(text: &[u8]) -> Result<Vec<Self>, String> {
        if text.len() > MAX_PEM {
            return Err(format!("has {} bytes, which is too long for a CA bundle", text.len()));
        }
        CertificateDer::pem_slice_iter(text)
            .map(|der| {
                let der = der.map_err(|error| format!("is not PEM: {error}"))?;
                Self::from_der(&der)
                    .ok_or_else(|| "holds a PEM block that is not an X.509 certificate".to_owned())
            })
            .collect()
    }

    /// Reads DER.
    #[must_use]
    pub fn from_der(der: &[u8]) -> Option<Self> {
        let fields = x509_reader::parse_fields(der)?;
        let name = x509_reader::common_name(fields.subject).map(str::to_owned);
        Some(Self { pem: pem(der), from: fields.from, until: fields.until, name, signs: fields.signs })
    }

    /// Whether this project issued it, by its name.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.name.as_ref().is_some_and(|name| name.starts_with(NAME))
    }

    /// Whether its time has begun and not ended.
    #[must_use]
    pub fn is_valid_at(&self, now: i64) -> bool {
        self.from <= now && now < self.until
    }
}

/// PEM in lines of 64, so that equal certificates are equal texts.
fn pem(der: &[u8]) -> String {
    let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
    for (at, c) in STANDARD.encode(der).chars().enumerate() {
        if at > 0 && at % 64 == 0 {
            text.push('\n');
        }
        text.push(c);
    }
    text.push_str("\n-----END CERTIFICATE-----\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_form_of_pem_gives_the_one_that_is_written() {
        let key = rcgen::KeyPair::generate().unwrap();
        let made = rcgen::CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap();
        let text = made.pem();
        let one = Authority::from_pem(text.as_bytes()).unwrap();
        let other = format!("# a comment\r\n{}", text.replace('\n', "\r\n"));
        assert_eq!(Authority::from_pem(other.as_bytes()).unwrap(), one);
        assert_eq!(Authority::from_pem(one.pem.as_bytes()).unwrap(), one);
        assert!(!one.is_ours());
        let two = text.repeat(2);
        assert!(Authority::from_pem(two.as_bytes()).unwrap_err().starts_with("holds 2 certificates"));
        assert!(Authority::from_pem(b"").unwrap_err().starts_with("holds 0 certificates"));
        assert!(
            Authority::from_pem(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").is_err()
        );
        assert!(Authority::from_pem(&[b' '; MAX_PEM + 1]).is_err());
    }
}
