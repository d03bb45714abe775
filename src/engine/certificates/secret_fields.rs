//! The Secret's fields. Everything else in the object is kept as it is.

use super::ca_certificate::Authority;
use super::what_ca_secret_holds::{Key, Record, Signer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

const CURRENT: [&str; 2] = ["current.crt", "current.key"];
const NEXT: [&str; 2] = ["next.crt", "next.key"];
const PREVIOUS: &str = "previous.crt";
const GENERATION: &str = "fabric-admission.dev/generation";
const SOAKING_SINCE: &str = "fabric-admission.dev/soaking-since";
const SWITCHED_AT: &str = "fabric-admission.dev/switched-at";
const PHASE: &str = "fabric-admission.dev/phase";
/// Annotation that requests another CA, with any value.
pub const ROTATE: &str = "fabric-admission.dev/rotate";

/// Reads a Secret. `judge` checks a CA and its key, except their dates.
pub fn record_from_secret(secret: &Value, judge: &dyn Fn(&Authority, &Key) -> Result<(), String>) -> Record {
    let signer = |[certificate, key]: [&str; 2]| -> Result<Signer, String> {
        let text = field(secret, certificate)?;
        let authority = Authority::from_pem(&text).map_err(|why| format!("{certificate} {why}"))?;
        let text = String::from_utf8(field(secret, key)?).map_err(|_| format!("{key} is not PEM"))?;
        let key = Key(text);
        judge(&authority, &key)?;
        Ok(Signer { authority, key })
    };
    let note = |name: &str| secret.pointer("/metadata/annotations").and_then(|all| all.get(name)?.as_str());
    let number = |name: &str| note(name)?.parse::<i64>().ok();
    let staged = NEXT.iter().any(|name| secret.pointer("/data").is_some_and(|data| data.get(name).is_some()));
    Record {
        current: signer(CURRENT),
        next: staged.then(|| signer(NEXT)),
        previous: certificates(secret, PREVIOUS),
        generation: note(GENERATION).and_then(|text| text.parse().ok()).unwrap_or(1),
        soaking_since: number(SOAKING_SINCE),
        switched_at: number(SWITCHED_AT),
        rotate: note(ROTATE).is_some(),
    }
}

/// Whatever certificates can be read in the field of the current CA, whether it can sign or not.
#[must_use]
pub fn certificates_in_current_field(secret: &Value) -> Vec<Authority> {
    CURRENT.first().map(|name| certificates(secret, name)).unwrap_or_default()
}

/// Certificate chain and key as cert-manager writes them (`kubernetes.io/tls`).
///
/// # Errors
/// What the Secret lacks.
pub fn certificate_chain_and_key(secret: &Value) -> Result<(Vec<u8>, Vec<u8>), String> {
    Ok((field(secret, "tls.crt")?, field(secret, "tls.key")?))
}

/// The CAs beside it, where the issuer gives them.
#[must_use]
pub fn ca_beside_certificate(secret: &Value) -> Option<String> {
    String::from_utf8(field(secret, "ca.crt").ok()?).ok()
}

fn certificates(secret: &Value, name: &str) -> Vec<Authority> {
    field(secret, name).ok().and_then(|text| Authority::read_all(&text).ok()).unwrap_or_default()
}

fn field(secret: &Value, name: &str) -> Result<Vec<u8>, String> {
    let text = secret.pointer("/data").and_then(|data| data.get(name)?.as_str());
    let text = text.ok_or_else(|| format!("has no {name}"))?;
    STANDARD.decode(text).map_err(|_| format!("{name} is not base64"))
}

/// The object with a record in it: `secret` as it was read, or a new one.
#[must_use]
pub fn secret_from_record(secret: Option<&Value>, name: &str, record: &Record) -> Value {
    let mut object = secret.cloned().unwrap_or_else(|| {
        json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": {"name": name,
               "labels": {"app.kubernetes.io/name": "fabric-admission", "app.kubernetes.io/component": "webhook"}}})
    });
    let mut data = taken(&object, "/data");
    for ([certificate, key], signer) in [
        (CURRENT, record.current.as_ref().ok()),
        (NEXT, record.next.as_ref().and_then(|next| next.as_ref().ok())),
    ] {
        set_or_remove_field(&mut data, certificate, signer.map(|s| STANDARD.encode(&s.authority.pem)));
        set_or_remove_field(&mut data, key, signer.map(|s| STANDARD.encode(&s.key.0)));
    }
    let previous: String = record.previous.iter().map(|authority| authority.pem.as_str()).collect();
    set_or_remove_field(&mut data, PREVIOUS, (!previous.is_empty()).then(|| STANDARD.encode(previous)));
    let mut notes = taken(&object, "/metadata/annotations");
    set_or_remove_field(&mut notes, GENERATION, Some(record.generation.to_string()));
    set_or_remove_field(&mut notes, SOAKING_SINCE, record.soaking_since.map(|at| at.to_string()));
    set_or_remove_field(&mut notes, SWITCHED_AT, record.switched_at.map(|at| at.to_string()));
    set_or_remove_field(&mut notes, PHASE, Some(phase(record).to_owned()));
    if !record.rotate {
        notes.remove(ROTATE);
    }
    if let Some(fields) = object.as_object_mut() {
        fields.insert("data".to_owned(), Value::Object(data));
        fields.remove("stringData");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("annotations".to_owned(), Value::Object(notes));
        metadata.remove("managedFields");
    }
    object
}

/// Fields for operators.
fn phase(record: &Record) -> &'static str {
    match (&record.next, record.soaking_since, record.previous.is_empty()) {
        (Some(_), Some(_), _) => "soaking",
        (Some(_), None, _) => "staged",
        (None, _, false) => "draining",
        (None, _, true) => "steady",
    }
}

fn taken(object: &Value, pointer: &str) -> Map<String, Value> {
    object.pointer(pointer).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn set_or_remove_field(map: &mut Map<String, Value>, name: &str, value: Option<String>) {
    match value {
        Some(value) => map.insert(name.to_owned(), Value::String(value)),
        None => map.remove(name),
    };
}
