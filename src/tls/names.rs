//! The names in a certificate: common names of its subject, DNS names and URIs of its subject alternative names. Only as
//! much DER (X.690) as that needs; the signature and all else is checked by rustls before.

/// Tags of DER that matter here.
mod tag {
    pub(super) const OCTETS: u8 = 0x04;
    pub(super) const OBJECT_ID: u8 = 0x06;
    pub(super) const SEQUENCE: u8 = 0x30;
    pub(super) const SET: u8 = 0x31;
    /// `[0]`, the version.
    pub(super) const VERSION: u8 = 0xa0;
    /// `[3]`, the extensions.
    pub(super) const EXTENSIONS: u8 = 0xa3;
    /// UTF8String, PrintableString, IA5String.
    pub(super) const TEXTS: [u8; 3] = [0x0c, 0x13, 0x16];
    /// dNSName and uniformResourceIdentifier of a GeneralName.
    pub(super) const ALTERNATIVES: [u8; 2] = [0x82, 0x86];
}

/// 2.5.4.3
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// 2.5.29.17
const SUBJECT_ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// Values one after another.
struct Values<'a>(&'a [u8]);

impl<'a> Iterator for Values<'a> {
    type Item = (u8, &'a [u8]);

    /// Tag and content of the next value. What is cut short or longer than a certificate can be ends it.
    fn next(&mut self) -> Option<Self::Item> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(*first), rest),
            0x81..=0x83 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x0f))?;
                (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }
}

impl<'a> Values<'a> {
    /// The next value, if it has this tag.
    fn tagged(&mut self, wanted: u8) -> Option<&'a [u8]> {
        self.next().filter(|(tag, _)| *tag == wanted).map(|(_, content)| content)
    }
}

/// Names of a certificate; none where it cannot be read.
pub(super) fn names(certificate: &[u8]) -> Vec<&str> {
    parts(certificate)
        .map(|(subject, extensions)| {
            let mut names = common_names(subject);
            names.extend(alternatives(extensions));
            names
        })
        .unwrap_or_default()
}

/// Subject and extensions (RFC 5280, 4.1).
fn parts(certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    let signed = Values(Values(certificate).tagged(tag::SEQUENCE)?).tagged(tag::SEQUENCE)?;
    let mut values = Values(signed).filter(|(tag, _)| *tag != tag::VERSION);
    // Serial number, algorithm, issuer and validity come before the subject.
    let (_, subject) = values.nth(4).filter(|(tag, _)| *tag == tag::SEQUENCE)?;
    let extensions = values.find(|(tag, _)| *tag == tag::EXTENSIONS).map(|(_, content)| content);
    Some((subject, Values(extensions.unwrap_or_default()).tagged(tag::SEQUENCE).unwrap_or_default()))
}

fn common_names(subject: &[u8]) -> Vec<&str> {
    let sets = Values(subject).filter(|(tag, _)| *tag == tag::SET);
    let attributes = sets.flat_map(|(_, set)| Values(set));
    attributes
        .filter_map(|(_, attribute)| {
            let mut values = Values(attribute);
            let name = values.tagged(tag::OBJECT_ID)? == COMMON_NAME;
            let (kind, text) = values.next()?;
            std::str::from_utf8(text).ok().filter(|_| name && tag::TEXTS.contains(&kind))
        })
        .collect()
}

fn alternatives(extensions: &[u8]) -> Vec<&str> {
    let of_subject = Values(extensions).filter_map(|(_, extension)| {
        let mut values = Values(extension);
        let wanted = values.tagged(tag::OBJECT_ID)? == SUBJECT_ALTERNATIVE_NAME;
        let octets = values.find(|(tag, _)| *tag == tag::OCTETS).filter(|_| wanted)?;
        Values(octets.1).tagged(tag::SEQUENCE)
    });
    of_subject
        .flat_map(Values)
        .filter(|(tag, _)| tag::ALTERNATIVES.contains(tag))
        .filter_map(|(_, text)| std::str::from_utf8(text).ok())
        .collect()
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
        assert_eq!(names(&der), ["api-server", "api.example.com", long.as_str()]);
    }

    #[test]
    fn a_certificate_without_names_has_none() {
        assert!(names(&certificate(|_| {})).is_empty());
    }

    #[test]
    fn what_is_cut_short_or_no_certificate_does_no_harm() {
        let der = certificate(|params| params.distinguished_name.push(DnType::CommonName, "n"));
        for end in 0..der.len() {
            drop(names(&der[..end]));
        }
        for at in 0..der.len() {
            for value in [0, 0x30, 0x7f, 0x80, 0x83, 0xff] {
                let mut broken = der.clone();
                broken[at] = value;
                drop(names(&broken));
            }
        }
    }
}
