//! Certificates.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fabric_admission::certificates::{common_name, common_names, parse_fields};
use x509_parser::prelude::{FromDer, GeneralName, ParsedExtension, X509Certificate};

/// A certificate as base64 text, or as it is.
pub fn certificate(data: &[u8]) {
    let text: Vec<u8> = data.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let decoded = STANDARD.decode(text);
    agree(decoded.as_deref().unwrap_or(data));
}

/// Whatever the bytes are, reading them ends well; what x509-parser reads of them too, it reads alike. Whether both read
/// a certificate.
pub fn agree(der: &[u8]) -> bool {
    let (_, _) = (common_name(der), common_names(der));
    let Some(ours) = parse_fields(der) else { return false };
    let names = common_names(ours.subject);
    assert!(common_name(ours.subject).is_none_or(|name| names == [name]), "{names:?}");
    let Ok((_, theirs)) = X509Certificate::from_der(der) else { return false };
    assert_eq!(ours.serial, theirs.raw_serial());
    let validity = theirs.validity();
    assert_eq!((ours.from, ours.until), (validity.not_before.timestamp(), validity.not_after.timestamp()));
    // It leaves out the end of a subject or key that it cannot read.
    assert!(ours.subject.starts_with(theirs.subject().as_raw()), "{ours:?}");
    assert!(ours.key.starts_with(theirs.public_key().raw), "{ours:?}");
    let (mut authority, mut certificates, mut alternatives) = (Some(false), Some(true), Some(Vec::new()));
    for extension in theirs.extensions() {
        let known = extension.parsed_extension();
        match extension.oid.to_id_string().as_str() {
            "2.5.29.19" => {
                authority = match known {
                    ParsedExtension::BasicConstraints(constraints) => Some(constraints.ca),
                    _ => None,
                }
            }
            "2.5.29.15" => {
                certificates = match known {
                    ParsedExtension::KeyUsage(usage) => Some(usage.key_cert_sign()),
                    _ => None,
                }
            }
            "2.5.29.17" => {
                alternatives = match known {
                    ParsedExtension::SubjectAlternativeName(names) => all(&names.general_names),
                    _ => None,
                }
            }
            _ => {}
        }
    }
    // `None`: the certificate can be read, an extension of it cannot.
    assert!(authority.is_none_or(|known| known == ours.authority), "{authority:?}: {ours:?}");
    if let (Some(authority), Some(certificates)) = (authority, certificates) {
        assert_eq!(ours.signs, authority && certificates, "{ours:?}");
    }
    assert!(
        alternatives.as_ref().is_none_or(|known| *known == ours.alternatives),
        "{alternatives:?}: {ours:?}"
    );
    true
}

/// DNS names and URIs; `None` where a name is of no kind that is known.
fn all<'a>(names: &[GeneralName<'a>]) -> Option<Vec<&'a str>> {
    let mut found = Vec::new();
    for name in names {
        match name {
            GeneralName::DNSName(text) | GeneralName::URI(text) => found.push(*text),
            GeneralName::Invalid(..) => return None,
            _ => {}
        }
    }
    Some(found)
}
