//! The value of a YAML scalar: go-yaml v2's resolution, which is YAML 1.1 with exceptions of its own (no base-60
//! numbers, timestamps stay strings).

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::go_numbers;
use super::node_tree::NodeKind;

const PREFIX: &str = "tag:yaml.org,2002:";

/// The value of a scalar; the error is a message without a place.
pub(super) fn value_of_scalar(tag: Option<&str>, text: String, plain: bool) -> Result<NodeKind, String> {
    match tag {
        None | Some("") if !plain => Ok(NodeKind::Str(text)),
        None | Some("") => Ok(resolve_plain_unless_string(&text).unwrap_or(NodeKind::Str(text))),
        Some(tag) => match tag.strip_prefix(PREFIX) {
            Some("str") => Ok(NodeKind::Str(text)),
            Some("binary") => binary(&text).map(NodeKind::Str),
            Some("timestamp") => timestamp(text),
            Some(name @ ("bool" | "int" | "float" | "null")) => tagged(name, &text),
            Some("merge") if text == "<<" => Ok(NodeKind::Merge),
            // The tag `!` leaves a scalar of any style implicit, and go-yaml asks no more of `<<` (yaml.v2 decode.go,
            // `isMerge`).
            _ if tag == "!" && text == "<<" => Ok(NodeKind::Merge),
            // go-yaml keeps the text of a scalar whose tag it does not know.
            _ => Ok(NodeKind::Str(text)),
        },
    }
}

/// The value of a plain scalar that is not a string.
pub(super) fn resolve_plain_unless_string(text: &str) -> Option<NodeKind> {
    // The first byte decides which rules can apply, as in go-yaml's resolve table.
    match text.as_bytes().first() {
        None => Some(NodeKind::Null),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => word(text),
        Some(b'<') => (text == "<<").then_some(NodeKind::Merge),
        Some(b'.') => match text {
            ".nan" | ".NaN" | ".NAN" => Some(NodeKind::Float(f64::NAN)),
            ".inf" | ".Inf" | ".INF" => Some(NodeKind::Float(f64::INFINITY)),
            _ => go_numbers::parse_float_starting_with_point(text).map(NodeKind::Float),
        },
        Some(b'+' | b'-' | b'0'..=b'9') => match text {
            "+.inf" | "+.Inf" | "+.INF" => Some(NodeKind::Float(f64::INFINITY)),
            "-.inf" | "-.Inf" | "-.INF" => Some(NodeKind::Float(f64::NEG_INFINITY)),
            _ => numeric(text),
        },
        Some(_) => None,
    }
}

fn word(text: &str) -> Option<NodeKind> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Some(NodeKind::Bool(true))
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Some(NodeKind::Bool(false))
        }
        "~" | "null" | "Null" | "NULL" => Some(NodeKind::Null),
        _ => None,
    }
}

fn numeric(text: &str) -> Option<NodeKind> {
    let plain = if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) };
    let value = go_numbers::parse_integer(&plain)
        .or_else(|| go_numbers::parse_float(&plain).map(NodeKind::Float))
        .or_else(|| go_numbers::signed_binary(&plain))?;
    match value {
        // Go prints -0.0 as `-0`, and the next reader takes that for the integer.
        NodeKind::Float(0.0) => Some(NodeKind::Int(0)),
        value => Some(value),
    }
}

fn tagged(name: &str, text: &str) -> Result<NodeKind, String> {
    let value = resolve_plain_unless_string(text);
    let found = match &value {
        Some(NodeKind::Null) => "null",
        Some(NodeKind::Bool(_)) => "bool",
        Some(NodeKind::Int(_) | NodeKind::Uint(_)) => "int",
        Some(NodeKind::Float(_)) => "float",
        _ => "str",
    };
    match value {
        Some(value) if found == name => Ok(value),
        Some(NodeKind::Int(value)) if name == "float" => Ok(NodeKind::Float(value as f64)),
        _ => Err(format!("cannot read {} as !!{name}: the value is !!{found}", quoted(text))),
    }
}

/// `!!timestamp` yields the text itself; a text that is not a timestamp must be refused.
fn timestamp(text: String) -> Result<NodeKind, String> {
    let bytes = text.as_bytes();
    let year = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    if year == 4 && bytes.get(4) == Some(&b'-') && bytes.get(5).is_some_and(u8::is_ascii_digit) {
        return Ok(NodeKind::Str(text));
    }
    Err(format!("cannot read {} as !!timestamp", quoted(&text)))
}

/// Standard base64 as Go's decoder accepts it: with padding, and any bits after the last byte.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true),
);

/// Line breaks are skipped, as Go's decoder does. Bytes that are not UTF-8 become U+FFFD, as in Go's JSON.
fn binary(text: &str) -> Result<String, String> {
    let bytes = BASE64
        .decode(text.replace(['\r', '\n'], ""))
        .map_err(|_| format!("!!binary value {} is not base64", quoted(text)))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A value inside a message: short, on one line.
fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(kind: &NodeKind) -> String {
        match kind {
            NodeKind::Null => "null".to_owned(),
            NodeKind::Bool(value) => value.to_string(),
            NodeKind::Int(value) => value.to_string(),
            NodeKind::Uint(value) => format!("{value}u"),
            NodeKind::Float(value) => format!("{value}f"),
            NodeKind::Str(value) => format!("{value:?}"),
            NodeKind::Merge => "merge".to_owned(),
            _ => "?".to_owned(),
        }
    }

    fn plain(text: &str) -> String {
        show(&value_of_scalar(None, text.to_owned(), true).unwrap())
    }

    #[test]
    fn plain_scalars_as_kubectl_reads_them() {
        for (text, value) in [
            ("0644", "420"),
            ("0o14", "12"),
            ("0x1F", "31"),
            ("0X1f", "31"),
            ("0b11", "3"),
            ("0b-11", "-3"),
            ("-0b11", "-3"),
            ("1_000", "1000"),
            ("0777_7", "4095"),
            ("+12", "12"),
            ("-_1", "-1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0_", "0"),
            (".5", "0.5f"),
            (".5_0", "0.5f"),
            ("1_0.5", "10.5f"),
            ("1e3", "1000f"),
            ("08", "8f"),
            ("09", "9f"),
            ("1.", "1f"),
            ("18446744073709551615", "18446744073709551615u"),
            ("+18446744073709551615", "18446744073709552000f"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("y", "true"),
            ("On", "true"),
            ("OFF", "false"),
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            (".NaN", "NaNf"),
            ("-.inf", "-inff"),
            ("<<", "merge"),
        ] {
            assert_eq!(plain(text), value, "{text}");
        }
    }

    #[test]
    fn plain_scalars_that_stay_strings() {
        for text in [
            "12:30:45",
            "190:20:30",
            "2001-01-01",
            "1e400",
            "99x",
            "0x",
            "0o8",
            "0b2",
            "0b",
            "+_",
            "_1",
            "._5",
            ".",
            "..",
            "-",
            "=",
            "yEs",
            "nULL",
            "+.iNf",
            "10.0.0.1",
            "1.2.3",
        ] {
            assert_eq!(plain(text), format!("{text:?}"));
        }
        assert_eq!(show(&value_of_scalar(None, "on".to_owned(), false).unwrap()), "\"on\"");
    }

    #[test]
    fn tags() {
        let read = |tag: &str, text: &str| {
            value_of_scalar(Some(&format!("{PREFIX}{tag}")), text.to_owned(), false).map(|kind| show(&kind))
        };
        assert_eq!(read("str", "12").unwrap(), "\"12\"");
        assert_eq!(read("int", "0x1f").unwrap(), "31");
        assert_eq!(read("float", "1").unwrap(), "1f");
        assert_eq!(read("bool", "yes").unwrap(), "true");
        assert_eq!(read("null", "~").unwrap(), "null");
        assert_eq!(read("timestamp", "2001-01-01").unwrap(), "\"2001-01-01\"");
        assert_eq!(read("binary", "aGVs\nbG8=").unwrap(), "\"hello\"");
        assert_eq!(read("binary", "/w==").unwrap(), "\"\u{fffd}\"");
        assert_eq!(read("binary", "aGl=").unwrap(), "\"hi\"");
        assert_eq!(read("binary", "aG\r\nk\n=").unwrap(), "\"hi\"");
        assert_eq!(read("set", "12").unwrap(), "\"12\"");
        let non_specific = |text: &str| show(&value_of_scalar(Some("!"), text.to_owned(), true).unwrap());
        assert_eq!((non_specific("12"), non_specific("<<")), ("\"12\"".to_owned(), "merge".to_owned()));
        for (tag, text) in
            [("int", "1.5"), ("int", ""), ("bool", "x"), ("null", "x"), ("timestamp", "x"), ("binary", "a")]
        {
            assert!(read(tag, text).is_err(), "{tag} {text}");
        }
        assert!(read("float", "18446744073709551615").is_err());
        assert!(read("binary", "aGVs bG8=").is_err());
        assert!(read("binary", "aG=sbG8=").is_err());
        for unpadded in ["aGk", "aGk==", "aGk=aGk=", "===="] {
            assert!(read("binary", unpadded).is_err(), "{unpadded}");
        }
    }
}
