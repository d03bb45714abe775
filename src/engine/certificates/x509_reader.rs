//! The only reader of X.509 certificates (RFC 5280, 4.1) in DER (X.690), for the few fields that are needed. The TLS
//! library's verifier checks signatures, chains and everything else.
//!
//! It may read a certificate that a verifier refuses. Tests compare each field with x509-parser (tests/fuzz/src/der.rs).

/// A certificate's fields, borrowed from its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields<'a> {
    /// The serial number as it is encoded, without tag and length.
    pub serial: &'a [u8],
    /// First second of its validity (Unix time).
    pub from: i64,
    /// Last second of its validity.
    pub until: i64,
    /// The subject as it is encoded.
    pub subject: &'a [u8],
    /// SubjectPublicKeyInfo as it is encoded.
    pub key: &'a [u8],
    /// Whether its basic constraints say `cA`.
    pub authority: bool,
    /// Whether it may sign others: Go asks for `cA` of a root as well, and for `keyCertSign` where key usage is given
    /// (crypto/x509, CheckSignatureFrom).
    pub signs: bool,
    /// DNS names and URIs of its subject alternative names, in order.
    pub alternatives: Vec<&'a str>,
}

/// Tags that matter here.
mod tag {
    pub(super) const BOOLEAN: u8 = 0x01;
    pub(super) const INTEGER: u8 = 0x02;
    pub(super) const BITS: u8 = 0x03;
    pub(super) const OCTETS: u8 = 0x04;
    pub(super) const OBJECT_ID: u8 = 0x06;
    pub(super) const UTF8: u8 = 0x0c;
    /// UTF8String, PrintableString, IA5String.
    pub(super) const TEXTS: [u8; 3] = [UTF8, 0x13, 0x16];
    pub(super) const UTC_TIME: u8 = 0x17;
    pub(super) const GENERALIZED_TIME: u8 = 0x18;
    pub(super) const SEQUENCE: u8 = 0x30;
    pub(super) const SET: u8 = 0x31;
    /// `[0]`, the version.
    pub(super) const VERSION: u8 = 0xa0;
    /// `[1]` and `[2]`, identifiers of issuer and subject that nobody uses.
    pub(super) const UNIQUE_IDS: [u8; 4] = [0x81, 0x82, 0xa1, 0xa2];
    /// `[3]`, the extensions.
    pub(super) const EXTENSIONS: u8 = 0xa3;
    /// The bit of an element that is made of others.
    pub(super) const CONSTRUCTED: u8 = 0x20;
    /// dNSName and uniformResourceIdentifier of a GeneralName.
    pub(super) const ALTERNATIVES: [u8; 2] = [0x82, 0x86];
}

/// id-at-commonName: 2.5.4.3
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// id-ce-keyUsage: 2.5.29.15
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
/// id-ce-subjectAltName: 2.5.29.17
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
/// id-ce-basicConstraints: 2.5.29.19
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];

/// An element.
#[derive(Clone, Copy)]
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
    /// With tag and length.
    whole: &'a [u8],
}

/// Elements one after another. An element that is truncated, longer than a certificate can be, or has a tag of several
/// bytes ends them.
#[derive(Clone, Copy)]
struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first().filter(|_| tag & 0x1f != 0x1f)?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            // Lengths of up to three bytes: no certificate has 16 MiB.
            0x81..=0x83 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (digits.iter().fold(0, |all, digit| all << 8 | usize::from(*digit)), rest)
            }
            _ => return None,
        };
        let (content, after) = rest.split_at_checked(length)?;
        let whole = self.0.get(..self.0.len() - after.len())?;
        self.0 = after;
        Some(Element { tag, content, whole })
    }
}

impl<'a> Elements<'a> {
    /// The next element where it has a tag.
    fn next_with_tag(&mut self, wanted: u8) -> Option<Element<'a>> {
        self.next().filter(|element| element.tag == wanted)
    }

    /// The elements of the next one where it has a tag.
    fn elements_inside_next(&mut self, wanted: u8) -> Option<Self> {
        self.next_with_tag(wanted).map(|element| Self(element.content))
    }

    /// Skips an element that has one of these tags.
    fn skip_if(&mut self, tags: &[u8]) {
        let mut ahead = *self;
        if ahead.next().is_some_and(|element| tags.contains(&element.tag)) {
            *self = ahead;
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads a certificate in DER.
#[must_use]
pub fn parse_fields(der: &[u8]) -> Option<Fields<'_>> {
    let mut signed =
        Elements(der).elements_inside_next(tag::SEQUENCE)?.elements_inside_next(tag::SEQUENCE)?;
    signed.skip_if(&[tag::VERSION]);
    let serial = signed.next_with_tag(tag::INTEGER)?.content;
    // Signature algorithm and issuer.
    signed.next_with_tag(tag::SEQUENCE)?;
    signed.next_with_tag(tag::SEQUENCE)?;
    let mut validity = signed.elements_inside_next(tag::SEQUENCE)?;
    let (from, until) = (time(validity.next()?)?, time(validity.next()?)?);
    let subject = signed.next_with_tag(tag::SEQUENCE)?.whole;
    let key = signed.next_with_tag(tag::SEQUENCE)?.whole;
    signed.skip_if(&tag::UNIQUE_IDS);
    signed.skip_if(&tag::UNIQUE_IDS);
    let Extensions { authority, certificates, alternatives } = extensions(signed)?;
    let signs = authority && certificates;
    Some(Fields { serial, from, until, subject, key, authority, signs, alternatives })
}

/// The needed extensions.
struct Extensions<'a> {
    authority: bool,
    /// Whether the key may sign certificates, by its usage.
    certificates: bool,
    alternatives: Vec<&'a str>,
}

/// Reads the extensions, which end a certificate. `None` where one of those that matter is given twice or cannot be read:
/// what it grants or denies is then unknown.
fn extensions(mut rest: Elements<'_>) -> Option<Extensions<'_>> {
    let mut found = Extensions { authority: false, certificates: true, alternatives: Vec::new() };
    if rest.is_empty() {
        return Some(found);
    }
    let mut list = rest.elements_inside_next(tag::EXTENSIONS)?.elements_inside_next(tag::SEQUENCE)?;
    let mut seen: Vec<&[u8]> = Vec::new();
    while !list.is_empty() {
        let mut extension = list.elements_inside_next(tag::SEQUENCE)?;
        let id = extension.next_with_tag(tag::OBJECT_ID)?.content;
        // Whether it is critical.
        extension.skip_if(&[tag::BOOLEAN]);
        let mut value = Elements(extension.next_with_tag(tag::OCTETS)?.content);
        if [BASIC_CONSTRAINTS, KEY_USAGE, ALTERNATIVE_NAMES].contains(&id) {
            if seen.contains(&id) {
                return None;
            }
            seen.push(id);
        }
        if id == BASIC_CONSTRAINTS {
            found.authority = is_authority(value.elements_inside_next(tag::SEQUENCE)?)?;
        } else if id == KEY_USAGE {
            // The first byte counts unused bits; keyCertSign is bit 5.
            let bits = value.next_with_tag(tag::BITS)?.content;
            found.certificates = bits.get(1).is_some_and(|bits| bits & 0x04 != 0);
        } else if id == ALTERNATIVE_NAMES {
            found.alternatives = alternatives(value.elements_inside_next(tag::SEQUENCE)?)?;
        }
    }
    Some(found)
}

/// `cA` of basic constraints: an optional boolean, before an optional number.
fn is_authority(mut constraints: Elements<'_>) -> Option<bool> {
    if constraints.is_empty() {
        return Some(false);
    }
    match constraints.next()? {
        Element { tag: tag::BOOLEAN, content: [flag], .. } => Some(*flag != 0),
        Element { tag: tag::INTEGER, .. } => Some(false),
        _ => None,
    }
}

fn alternatives(mut names: Elements<'_>) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    while !names.is_empty() {
        let name = names.next()?;
        if tag::ALTERNATIVES.contains(&name.tag) {
            found.push(std::str::from_utf8(name.content).ok()?);
        } else if tag::ALTERNATIVES.contains(&(name.tag & !tag::CONSTRUCTED)) {
            // A text is never made of parts in DER.
            return None;
        }
    }
    Some(found)
}

/// Common names of a subject, in order.
#[must_use]
pub fn common_names(subject: &[u8]) -> Vec<&str> {
    let sets = Elements(subject).elements_inside_next(tag::SEQUENCE).into_iter().flatten();
    let attributes = sets.filter(|set| set.tag == tag::SET).flat_map(|set| Elements(set.content));
    attributes
        .filter_map(|attribute| {
            let mut parts = Elements(attribute.content);
            let name = parts.next_with_tag(tag::OBJECT_ID)?.content == COMMON_NAME;
            let text = parts.next().filter(|text| name && tag::TEXTS.contains(&text.tag))?;
            std::str::from_utf8(text.content).ok()
        })
        .collect()
}

/// The common name of a subject that has nothing else; what we make has no more, and of another we could not write the
/// issuer of a leaf.
#[must_use]
pub fn common_name(subject: &[u8]) -> Option<&str> {
    let mut names = Elements(subject).elements_inside_next(tag::SEQUENCE)?;
    let mut name = names.elements_inside_next(tag::SET)?;
    let mut pair = name.elements_inside_next(tag::SEQUENCE)?;
    let named = pair.next_with_tag(tag::OBJECT_ID)?.content == COMMON_NAME;
    // UTF8String, which rcgen writes; another type would give another issuer.
    let text = pair.next_with_tag(tag::UTF8)?.content;
    let only = named && names.is_empty() && name.is_empty() && pair.is_empty();
    std::str::from_utf8(text).ok().filter(|_| only)
}

/// UTCTime (two digits of the year, 1950 to 2049) or GeneralizedTime, both in seconds and UTC (RFC 5280, 4.1.2.5).
fn time(Element { tag, content, .. }: Element<'_>) -> Option<i64> {
    let text = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        tag::UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i64 = number(year)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        tag::GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (number(year)?, rest)
        }
        _ => return None,
    };
    let mut parts = [0_i64; 5];
    let mut rest = rest;
    for part in &mut parts {
        let (two, after) = rest.split_at_checked(2)?;
        *part = number(two)?;
        rest = after;
    }
    let [month, day, hour, minute, second] = parts;
    let fits =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    (fits && rest.is_empty())
        .then(|| days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Days from 1970-01-01, by the Gregorian calendar: years begin in March, so that the leap day comes last.
#[must_use]
pub fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months = (month + 9) % 12;
    let of_year = (153 * months + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (tag, text, expected) in [
            (0x17, "700101000000Z", Some(0)),
            (0x17, "000229000000Z", Some(951_782_400)),
            (0x17, "491231235959Z", Some(2_524_607_999)),
            (0x18, "20500301000000Z", Some(2_529_705_600)),
            (0x18, "99991231235959Z", Some(253_402_300_799)),
            (0x18, "20501301000000Z", None),
            (0x17, "7001010000Z", None),
            (0x17, "70010100000+Z", None),
            (0x17, "7001010000000Z", None),
            (0x04, "700101000000Z", None),
        ] {
            let element = Element { tag, content: text.as_bytes(), whole: &[] };
            assert_eq!(time(element), expected, "{text}");
        }
    }

    #[test]
    fn extensions_decide_who_may_sign() {
        use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, KeyUsagePurpose};
        let ca = || IsCa::Ca(BasicConstraints::Constrained(0));
        for (is_ca, usages, expected) in [
            (ca(), vec![KeyUsagePurpose::KeyCertSign], true),
            (ca(), vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign], true),
            (ca(), Vec::new(), true),
            (ca(), vec![KeyUsagePurpose::DigitalSignature], false),
            (IsCa::ExplicitNoCa, Vec::new(), false),
            (IsCa::NoCa, vec![KeyUsagePurpose::KeyCertSign], false),
        ] {
            let mut params = CertificateParams::new(vec!["x".to_owned()]).unwrap();
            (params.is_ca, params.key_usages) = (is_ca, usages.clone());
            let made = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
            assert_eq!(parse_fields(made.der()).unwrap().signs, expected, "{is_ca:?} {usages:?}");
        }
    }

    #[test]
    fn a_certificate_is_read_and_its_parts_are_not() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, "a CA");
        params.not_before = rcgen::date_time_ymd(2026, 11, 21);
        params.not_after = rcgen::date_time_ymd(2051, 1, 1);
        let made = params.self_signed(&key).unwrap();
        let read = parse_fields(made.der()).unwrap();
        assert_eq!((read.from, read.until), (1_795_219_200, 2_556_144_000));
        assert_eq!((common_name(read.subject), read.signs), (Some("a CA"), false));
        assert_eq!(read.key, rcgen::PublicKeyData::subject_public_key_info(&key));
        for end in 0..made.der().len() {
            assert_eq!(parse_fields(&made.der()[..end]), None, "{end}");
        }
        assert_eq!(parse_fields(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
