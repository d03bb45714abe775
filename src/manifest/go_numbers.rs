//! Numbers as Go reads and prints them.
//!
//! kubectl's values pass through Go's `strconv` and `encoding/json`; with Rust's rules, some manifests would read
//! differently here and in the cluster.

use std::fmt::Write as _;

use super::node_tree::NodeKind;

/// `strconv.ParseInt(text, 0, 64)`, then `ParseUint`: an optional sign and a base prefix, where a bare
/// leading zero means octal. `None` for anything else and for numbers out of range.
pub(super) fn parse_integer(text: &str) -> Option<NodeKind> {
    let (negative, signed, rest) = match text.as_bytes().first()? {
        b'-' => (true, true, text.get(1..)?),
        b'+' => (false, true, text.get(1..)?),
        _ => (false, false, text),
    };
    let magnitude = match rest.as_bytes() {
        [] => return None,
        [b'0', b'x' | b'X', _, ..] => digits(rest.get(2..)?, 16)?,
        [b'0', b'b' | b'B', _, ..] => digits(rest.get(2..)?, 2)?,
        [b'0', b'o' | b'O', _, ..] => digits(rest.get(2..)?, 8)?,
        [b'0'] => 0,
        [b'0', ..] => digits(rest.get(1..)?, 8)?,
        _ => digits(rest, 10)?,
    };
    if negative {
        return 0i64.checked_sub_unsigned(magnitude).map(NodeKind::Int);
    }
    match i64::try_from(magnitude) {
        Ok(value) => Some(NodeKind::Int(value)),
        // ParseUint takes no sign, so `+18446744073709551615` becomes a float.
        Err(_) if !signed => Some(NodeKind::Uint(magnitude)),
        Err(_) => None,
    }
}

/// go-yaml's second look at `0b…`: a sign may follow the prefix (`0b-11` is -3).
pub(super) fn signed_binary(text: &str) -> Option<NodeKind> {
    let rest = text.strip_prefix("0b")?;
    match rest.as_bytes().first()? {
        b'-' => 0i64.checked_sub_unsigned(digits(rest.get(1..)?, 2)?).map(NodeKind::Int),
        b'+' => i64::try_from(digits(rest.get(1..)?, 2)?).ok().map(NodeKind::Int),
        _ => None,
    }
}

fn digits(text: &str, radix: u32) -> Option<u64> {
    // from_str_radix would accept a sign here.
    if text.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(text, radix).ok()
}

/// A decimal float of go-yaml's pattern `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`; `None` if it does not
/// match or exceeds a double, which go-yaml then takes for a string.
pub(super) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at)?, unsigned.get(at + 1..)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let shaped = all_digits(whole)
        && fraction.is_none_or(all_digits)
        && (!whole.is_empty() || fraction.is_some_and(|part| !part.is_empty()))
        && exponent.is_none_or(|part| {
            let part = part.strip_prefix(['+', '-']).unwrap_or(part);
            !part.is_empty() && all_digits(part)
        });
    let value = if shaped { text.parse::<f64>().ok()? } else { return None };
    value.is_finite().then_some(value)
}

/// `strconv.ParseFloat` on a text that starts with a point: like [`parse_float`], but with underscores allowed between
/// digits.
pub(super) fn parse_float_starting_with_point(text: &str) -> Option<f64> {
    if !text.contains('_') {
        return parse_float(text);
    }
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let between = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_');
    let allowed =
        between.into_iter().all(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1)));
    if allowed { parse_float(&text.replace('_', "")) } else { None }
}

/// A double as Go's encoding/json prints it: the shortest digits, with an exponent below 1e-6 and from 1e21.
pub(super) fn write_float(out: &mut String, value: f64) {
    let size = value.abs();
    let written = if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) if !exponent.starts_with('-') => write!(out, "{mantissa}e+{exponent}"),
            _ => out.write_str(&text),
        }
    } else {
        write!(out, "{value}")
    };
    // Writing to a String does not fail.
    let _ = written;
}

/// A float used as a key: `strconv.FormatFloat(value, 'g', -1, 32)`, in single precision as sigs.k8s.io/yaml has it,
/// with the YAML spellings of the infinities and of not-a-number.
pub(super) fn write_float_as_key(value: f64) -> String {
    let single = value as f32;
    if single.is_nan() {
        return ".nan".to_owned();
    }
    if single.is_infinite() {
        return if single > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = format!("{single:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let Ok(exponent) = exponent.parse::<i32>() else { return text };
    // %g with the shortest digits takes an exponent below -4 and from six digits on.
    if (-4..6).contains(&exponent) || single == 0.0 {
        return format!("{single}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(value: f64) -> String {
        let mut out = String::new();
        write_float(&mut out, value);
        out
    }

    #[test]
    fn floats_print_as_in_go() {
        for (value, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (1.5e-7, "1.5e-7"),
            (1e-6, "0.000001"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-2.5e30, "-2.5e+30"),
            (18_446_744_073_709_551_615.0, "18446744073709552000"),
            (0.0, "0"),
        ] {
            assert_eq!(printed(value), text);
        }
    }

    #[test]
    fn float_keys_are_single_precision() {
        for (value, text) in [
            (1.5, "1.5"),
            (1e10, "1e+10"),
            (1_000_000.0, "1e+06"),
            (123_456_789.5, "1.2345679e+08"),
            (0.00001, "1e-05"),
            (0.0001, "0.0001"),
            (123_456.0, "123456"),
            (f64::INFINITY, ".inf"),
            (1e300, ".inf"),
        ] {
            assert_eq!(write_float_as_key(value), text);
        }
    }

    #[test]
    fn float_patterns() {
        for text in ["1.", ".5", "-.5", "1.e5", "08.5", "1e3", "6.8523015e+5"] {
            assert!(parse_float(text).is_some(), "{text}");
        }
        for text in ["", ".", "e5", ".e5", "1e", "1e+", "1e400", "inf", "nan", "1.5.2", "0x1p3", "1_0"] {
            assert!(parse_float(text).is_none(), "{text}");
        }
        assert_eq!(parse_float_starting_with_point(".1_000"), Some(0.1));
        assert_eq!(parse_float_starting_with_point("._5"), None);
        assert_eq!(parse_float_starting_with_point(".5_"), None);
    }
}
