//! Certificates by chance, whole and broken, beside x509-parser.

use crate::readers::kept_fuzz_inputs::checks::agree;
use crate::support::suite::Suite;
use fabric_admission::certificates::parse_fields;
use proptest::prelude::{Strategy, any};
use proptest::sample::Index;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose, SanType, SerialNumber,
};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("properties::certificates_are_read_as_another_parser_reads_them", || {
        crate::support::run_property::check(
            "properties::certificates_are_read_as_another_parser_reads_them",
            2000,
            made(),
            |made| {
                let read = parse_fields(&made.0).ok_or("not read")?;
                let expected = made.1.as_slice();
                if read.alternatives != expected {
                    return Err(format!("{:?} instead of {expected:?}", read.alternatives));
                }
                if sound(&made.0)? { Ok(()) } else { Err("the other parser does not read it".to_owned()) }
            },
        )
    });
    suite.add("properties::broken_certificates_are_read_as_another_parser_reads_them", || {
        let read = Cell::new(0_u32);
        let strategy = (made(), any::<[(Index, u8, u8); 4]>(), 1..=4_usize);
        let checked = crate::support::run_property::check(
            "properties::broken_certificates_are_read_as_another_parser_reads_them",
            5000,
            strategy,
            |(made, edits, count)| {
                let mut der = made.0.clone();
                for (at, how, byte) in edits.iter().take(count) {
                    let at = at.index(der.len());
                    match how % 8 {
                        0 => der.truncate(at + 1),
                        1 => der.insert(at, *byte),
                        2 => drop(der.drain(at..der.len().min(at + 1 + usize::from(byte % 4)))),
                        3 => der[at] ^= 1 << (byte % 8),
                        // Bytes that are tags or lengths elsewhere.
                        4 => {
                            der[at] = [0x01, 0x02, 0x30, 0x31, 0x80, 0x81, 0xa0, 0xa3][usize::from(byte % 8)]
                        }
                        5 => der[at] = der[at].wrapping_add(1),
                        _ => der[at] = *byte,
                    }
                    if der.is_empty() {
                        break;
                    }
                }
                read.set(read.get() + u32::from(sound(&der)?));
                Ok(())
            },
        );
        checked?;
        assert!(read.get() > 500, "both parsers read {} of the broken certificates", read.get());
        Ok(())
    });
}

/// Whether both parsers read a certificate; an error where they differ or one of them panics.
fn sound(der: &[u8]) -> Result<bool, String> {
    catch_unwind(AssertUnwindSafe(|| agree(der))).map_err(|_| format!("see above: {}", hex(der)))
}

fn hex(der: &[u8]) -> String {
    der.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A certificate in DER with its DNS names and URIs.
#[derive(Clone)]
struct Made(Vec<u8>, Vec<String>);

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", hex(&self.0), self.1)
    }
}

fn made() -> impl Strategy<Value = Made> {
    let names = proptest::collection::vec(("[a-z]{1,12}(\\.[a-z]{1,12}){0,3}", 0..4_u8), 0..5);
    let subject = proptest::collection::vec(("[ -~é]{1,70}", 0..3_u8), 0..3);
    let dates = (-20_000_000_000_i64..=253_402_300_799, 0..40_000_000_000_i64);
    let rest = (any::<Option<[u8; 20]>>(), 0..4_u8, any::<[bool; 6]>());
    (names, subject, dates, rest)
        .prop_map(|(names, subject, dates, rest)| make(&names, &subject, dates, rest))
}

fn make(
    names: &[(String, u8)],
    subject: &[(String, u8)],
    (from, life): (i64, i64),
    (serial, ca, [sign, crl, server, other, identifier, reference]): (Option<[u8; 20]>, u8, [bool; 6]),
) -> Made {
    let date =
        |seconds: i64| time::OffsetDateTime::from_unix_timestamp(seconds.min(253_402_300_799)).unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for (text, kind) in subject {
        let kind = [DnType::CommonName, DnType::OrganizationName, DnType::OrganizationalUnitName]
            [usize::from(*kind)]
        .clone();
        params.distinguished_name.push(kind, text.as_str());
    }
    let mut expected = Vec::new();
    for (text, kind) in names {
        params.subject_alt_names.push(match kind {
            0 => SanType::IpAddress([10, 0, 0, 1].into()),
            1 => SanType::Rfc822Name(format!("a@{text}").as_str().try_into().unwrap()),
            2 => {
                expected.push(format!("spiffe://{text}/{}", text.repeat(30)));
                SanType::URI(expected[expected.len() - 1].as_str().try_into().unwrap())
            }
            _ => {
                expected.push(text.clone());
                SanType::DnsName(text.as_str().try_into().unwrap())
            }
        });
    }
    (params.not_before, params.not_after) = (date(from), date(from + life));
    params.serial_number = serial.map(|bytes| SerialNumber::from_slice(&bytes));
    params.is_ca = match ca {
        0 => IsCa::NoCa,
        1 => IsCa::ExplicitNoCa,
        2 => IsCa::Ca(BasicConstraints::Unconstrained),
        _ => IsCa::Ca(BasicConstraints::Constrained(1)),
    };
    let usages = [
        (sign, KeyUsagePurpose::KeyCertSign),
        (crl, KeyUsagePurpose::CrlSign),
        (reference, KeyUsagePurpose::DigitalSignature),
    ];
    params.key_usages = usages.into_iter().filter_map(|(wanted, usage)| wanted.then_some(usage)).collect();
    if server {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    }
    if other {
        params.custom_extensions = vec![CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0])];
    }
    params.use_authority_key_identifier_extension = identifier;
    let made = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
    Made(made.der().to_vec(), expected)
}
