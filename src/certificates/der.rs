//! The few fields of an X.509 certificate that are asked for (RFC 5280, 4.1): validity, subject, public key. Signatures
//! and extensions are the verifier's.

/// A certificate's fields, borrowed from its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields<'a> {
    /// First second of its validity (Unix time).
    pub from: i64,
    /// Last second of its validity.
    pub until: i64,
    /// The subject as it is encoded.
    pub subject: &'a [u8],
    /// SubjectPublicKeyInfo as it is encoded.
    pub key: &'a [u8],
    /// Whether it may sign others: Go asks for `cA` of a root as well, and for `keyCertSign` where key usage is told
    /// (crypto/x509, CheckSignatureFrom).
    pub signs: bool,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const OCTETS: u8 = 0x04;
/// id-ce-basicConstraints, id-ce-keyUsage, id-at-commonName.
const BASIC_CONSTRAINTS: [u8; 5] = [0x06, 0x03, 0x55, 0x1d, 0x13];
const KEY_USAGE: [u8; 5] = [0x06, 0x03, 0x55, 0x1d, 0x0f];
const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];

/// An element: its tag, its content, the whole of it, and what follows.
type Element<'a> = (u8, &'a [u8], &'a [u8], &'a [u8]);

/// The first element.
fn element(bytes: &[u8]) -> Option<Element<'_>> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
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
    let whole = bytes.get(..bytes.len() - after.len())?;
    Some((tag, content, whole, after))
}

/// The content of the first element where it has a tag, and what follows.
fn inside(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, _, after) = element(bytes)?;
    (tag == wanted).then_some((content, after))
}

/// Reads a certificate in DER.
#[must_use]
pub fn fields(der: &[u8]) -> Option<Fields<'_>> {
    let (certificate, _) = inside(der, SEQUENCE)?;
    let (mut rest, _) = inside(certificate, SEQUENCE)?;
    if let Some((_, after)) = inside(rest, VERSION) {
        rest = after;
    }
    // Serial number, signature algorithm, issuer.
    for _ in 0..3 {
        (_, _, _, rest) = element(rest)?;
    }
    let (validity, rest) = inside(rest, SEQUENCE)?;
    let (_, _, subject, rest) = element(rest)?;
    let (_, _, key, rest) = element(rest)?;
    let (tag, from, _, until) = element(validity)?;
    let from = time(tag, from)?;
    let (tag, until, _, _) = element(until)?;
    Some(Fields { from, until: time(tag, until)?, subject, key, signs: signs(rest) })
}

/// Whether the extensions, which end the certificate, let it sign others.
fn signs(mut rest: &[u8]) -> bool {
    let (mut authority, mut usage) = (false, true);
    while let Some((tag, content, _, after)) = element(rest) {
        rest = after;
        let Some((mut list, _)) = (tag == EXTENSIONS).then(|| inside(content, SEQUENCE)).flatten() else {
            continue;
        };
        while let Some((extension, others)) = inside(list, SEQUENCE) {
            list = others;
            // Between name and value there may be a boolean: whether it is critical.
            let value = |rest| match element(rest) {
                Some((0x01, _, _, rest)) => inside(rest, OCTETS),
                _ => inside(rest, OCTETS),
            };
            if let Some((value, _)) = extension.strip_prefix(&BASIC_CONSTRAINTS).and_then(value) {
                let first = inside(value, SEQUENCE).and_then(|(content, _)| element(content));
                authority = matches!(first, Some((0x01, [flag], _, _)) if *flag != 0);
            }
            if let Some((value, _)) = extension.strip_prefix(&KEY_USAGE).and_then(value) {
                // The first byte counts unused bits; keyCertSign is bit 5.
                usage = matches!(inside(value, 0x03), Some(([_, bits, ..], _)) if bits & 0x04 != 0);
            }
        }
    }
    authority && usage
}

/// The common name of a subject that has nothing else; what we make has no more, and of another we could not write the
/// issuer of a leaf.
#[must_use]
pub fn common_name(subject: &[u8]) -> Option<&str> {
    let (names, _) = inside(subject, SEQUENCE)?;
    let (name, others) = inside(names, SET)?;
    let (pair, also) = inside(name, SEQUENCE)?;
    let value = pair.strip_prefix(&COMMON_NAME)?;
    // UTF8String, which rcgen writes; another type would give another issuer.
    let (text, more) = inside(value, 0x0c)?;
    if others.is_empty() && also.is_empty() && more.is_empty() {
        std::str::from_utf8(text).ok()
    } else {
        None
    }
}

/// UTCTime (two digits of the year, 1950 to 2049) or GeneralizedTime, both in seconds and UTC (RFC 5280, 4.1.2.5).
fn time(tag: u8, text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        0x17 => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i64 = number(year)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        0x18 => {
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
    (fits && rest.is_empty()).then(|| days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Days from 1970-01-01, by the Gregorian calendar: years begin in March, so that the leap day comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
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
            assert_eq!(time(tag, text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn who_may_sign_is_told_by_extensions() {
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
            assert_eq!(fields(made.der()).unwrap().signs, expected, "{is_ca:?} {usages:?}");
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
        let read = fields(made.der()).unwrap();
        assert_eq!((read.from, read.until), (1_795_219_200, 2_556_144_000));
        assert_eq!((common_name(read.subject), read.signs), (Some("a CA"), false));
        assert_eq!(read.key, rcgen::PublicKeyData::subject_public_key_info(&key));
        for end in 0..made.der().len() {
            assert_eq!(fields(&made.der()[..end]), None, "{end}");
        }
        assert_eq!(fields(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
