//! CAs and leaves: ECDSA P-256, since a burst of pods is a burst of handshakes. Keys stay in memory and in the Secret.

use super::does_ca_bundle_trust;
use crate::certificates::{Authority, Key, Leaf, Lifetimes, NAME, Signer, parse_fields};
use crate::tls::crypto_provider;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, PublicKeyData,
};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fmt::Write;
use time::OffsetDateTime;

fn date(seconds: i64) -> Result<OffsetDateTime, String> {
    OffsetDateTime::from_unix_timestamp(seconds).map_err(|error| format!("invalid date: {error}"))
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("cannot be created: {error}")
}

/// Parameters of a CA with this name.
fn ca_parameters(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

/// A new CA. Of several in one bundle the API server finds the right one by name and key identifier, which differ from
/// generation to generation.
pub(super) fn create_ca(now: i64, lives: &Lifetimes) -> Result<Signer, String> {
    let key = KeyPair::generate().map_err(failed)?;
    let mut name = NAME.to_owned();
    for byte in key.public_key_raw().iter().skip(1).take(5) {
        let _ = write!(name, "{byte:02x}");
    }
    let mut params = ca_parameters(&name);
    (params.not_before, params.not_after) = (date(now - lives.backdate())?, date(now + lives.ca)?);
    let made = params.self_signed(&key).map_err(failed)?;
    let authority = Authority::from_der(made.der()).ok_or_else(|| failed("it cannot be read back"))?;
    Ok(Signer { authority, key: Key(key.serialize_pem()) })
}

fn issuer(authority: &Authority, key: &Key) -> Result<Issuer<'static, KeyPair>, String> {
    let name = authority.name.as_deref();
    let name = name.ok_or("has an unexpected name; expected only a common name")?;
    let pair = KeyPair::from_pem(&key.0).map_err(|_| "has no readable key; expected PKCS#8 in PEM")?;
    let der = CertificateDer::from_pem_slice(authority.pem.as_bytes()).map_err(|_| "is not PEM")?;
    let known = parse_fields(&der).ok_or("is not a certificate")?;
    if known.key != pair.subject_public_key_info() {
        return Err("has the key of another certificate".to_owned());
    }
    Ok(Issuer::new(ca_parameters(name), pair))
}

/// Whether a CA and its key can sign a leaf that an API server accepts, regardless of dates. It signs a trial leaf.
pub(super) fn check_ca_by_trial_leaf(authority: &Authority, key: &Key) -> Result<(), String> {
    let issuer = issuer(authority, key)?;
    let middle = authority.from + (authority.until - authority.from) / 2;
    let names = ["trial".to_owned()];
    let (certified, _) = sign(&issuer, &names, (authority.from, authority.until))?;
    does_ca_bundle_trust::verify_chain_with_ca_bundle(
        &certified.cert,
        authority.pem.as_bytes(),
        "trial",
        middle,
    )
    .map_err(|why| format!("cannot be used as a CA for servers: {why}"))
}

fn sign(
    issuer: &Issuer<'static, KeyPair>,
    names: &[String],
    (from, until): (i64, i64),
) -> Result<(CertifiedKey, i64), String> {
    let key = KeyPair::generate().map_err(failed)?;
    let mut params = CertificateParams::new(names.to_vec()).map_err(failed)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "fabric-admission");
    (params.not_before, params.not_after) = (date(from)?, date(until)?);
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let made = params.signed_by(&key, issuer).map_err(failed)?;
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let signing = crypto_provider().key_provider.load_private_key(private).map_err(failed)?;
    Ok((CertifiedKey::new(vec![made.der().clone()], signing), until))
}

/// A leaf for these names. It ends with its CA at the latest.
pub(super) fn sign_leaf(
    signer: &Signer,
    names: &[String],
    now: i64,
    jitter: i64,
    lives: &Lifetimes,
) -> Result<(CertifiedKey, Leaf), String> {
    let issuer = issuer(&signer.authority, &signer.key)?;
    let until = (now + lives.leaf).min(signer.authority.until);
    let from = now - lives.backdate();
    let (certified, until) = sign(&issuer, names, (from, until))?;
    let renewal = lives.renew_at(now, until, jitter);
    Ok((certified, Leaf { issuer: signer.authority.pem.clone(), from, signed: now, until, renewal }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    #[test]
    fn a_ca_signs_leaves_that_verify_under_it_and_under_no_other() {
        let lives = Lifetimes::DEFAULT;
        let (a, b) = (create_ca(NOW, &lives).unwrap(), create_ca(NOW, &lives).unwrap());
        assert!(a.authority.is_ours() && a.authority.name != b.authority.name);
        assert_eq!((a.authority.from, a.authority.until), (NOW - 1200, NOW + lives.ca));
        assert!(!format!("{a:?}").contains("PRIVATE"));
        let names = ["x.y.svc".to_owned(), "127.0.0.1".to_owned()];
        let (leaf, known) = sign_leaf(&a, &names, NOW, 500, &lives).unwrap();
        assert_eq!((known.until, known.renewal), (NOW + lives.leaf, NOW + lives.leaf * 2 / 3));
        let check = |bundle: &str, name: &str, at: i64| {
            does_ca_bundle_trust::verify_chain_with_ca_bundle(&leaf.cert, bundle.as_bytes(), name, at)
        };
        let (one, two) = (&a.authority.pem, &b.authority.pem);
        check(one, "x.y.svc", NOW).unwrap();
        check(&format!("{two}{one}"), "127.0.0.1", NOW - 1100).unwrap();
        for (bundle, name, at, expected) in [
            (two.as_str(), "x.y.svc", NOW, "not signed by a CA of the caBundle"),
            (one, "z.y.svc", NOW, "is not for z.y.svc"),
            (one, "x.y.svc", NOW + lives.leaf + 1, "has expired"),
            (one, "x.y.svc", NOW - 1300, "not valid yet"),
            ("", "x.y.svc", NOW, "is empty"),
            ("garbage", "x.y.svc", NOW, "contains no certificate"),
        ] {
            let why = check(bundle, name, at).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn a_ca_that_cannot_sign_is_reported() {
        let lives = Lifetimes::DEFAULT;
        let (a, b) = (create_ca(NOW, &lives).unwrap(), create_ca(NOW, &lives).unwrap());
        check_ca_by_trial_leaf(&a.authority, &a.key).unwrap();
        assert_eq!(
            check_ca_by_trial_leaf(&a.authority, &b.key).unwrap_err(),
            "has the key of another certificate"
        );
        assert!(
            check_ca_by_trial_leaf(&a.authority, &Key("garbage".into()))
                .unwrap_err()
                .contains("no readable key")
        );
        // A leaf in the place of a CA.
        let names = ["x".to_owned()];
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(names.to_vec()).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "x");
        let made = params.self_signed(&key).unwrap();
        let leaf = Authority::from_der(made.der()).unwrap();
        let why = check_ca_by_trial_leaf(&leaf, &Key(key.serialize_pem())).unwrap_err();
        assert!(why.contains("cannot be used as a CA for servers"), "{why}");
    }
}
