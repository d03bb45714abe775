//! The names in a certificate: common names of its subject, DNS names and URIs of its subject alternative names. rustls
//! has verified the certificate before.

use crate::certificates::{common_names, parse_fields};

/// Names of a certificate; none where it cannot be read.
pub(super) fn names_in_certificate(certificate: &[u8]) -> Vec<&str> {
    let Some(fields) = parse_fields(certificate) else { return Vec::new() };
    let mut names = common_names(fields.subject);
    names.extend(fields.alternatives);
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    fn certificate(edit: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        edit(&mut params);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn names_of_subject_and_alternatives() {
        let long = format!("spiffe://example.com/{}", "x".repeat(300));
        let der = certificate(|params| {
            params.distinguished_name.push(DnType::OrganizationName, "system:masters");
            params.distinguished_name.push(DnType::CommonName, "api-server");
            params.subject_alt_names = vec![
                SanType::DnsName("api.example.com".try_into().unwrap()),
                SanType::URI(long.as_str().try_into().unwrap()),
                SanType::IpAddress([127, 0, 0, 1].into()),
            ];
        });
        assert_eq!(names_in_certificate(&der), ["api-server", "api.example.com", long.as_str()]);
    }

    #[test]
    fn a_certificate_without_names_has_none() {
        assert!(names_in_certificate(&certificate(|_| {})).is_empty());
    }

    #[test]
    fn what_is_cut_short_or_no_certificate_does_no_harm() {
        let der = certificate(|params| params.distinguished_name.push(DnType::CommonName, "n"));
        for end in 0..der.len() {
            drop(names_in_certificate(&der[..end]));
        }
        for at in 0..der.len() {
            for value in [0, 0x30, 0x7f, 0x80, 0x83, 0xff] {
                let mut broken = der.clone();
                broken[at] = value;
                drop(names_in_certificate(&broken));
            }
        }
    }
}
