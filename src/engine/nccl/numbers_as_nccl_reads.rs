//! Numbers as NCCL and RCCL read them. Anything that does not start with a number, such as a word, reads as 0
//! (NVIDIA/nccl 2.30.7 src/misc/param.cc).

use super::variable_table::{Reading, Status, Variable, find_variable};

/// The result of C's `strtoll` with automatic base, as NCCL uses it: the leading number, 0 for none.
#[must_use]
pub fn leading_number(text: &str) -> i64 {
    let text = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (radix, digits) = match hex.filter(|h| h.starts_with(|c: char| c.is_ascii_hexdigit())) {
        Some(hex) => (16, hex),
        None if digits.starts_with('0') => (8, digits),
        None => (10, digits),
    };
    let value = digits
        .chars()
        .map_while(|c| c.to_digit(radix))
        .fold(0_i64, |n, d| n.saturating_mul(i64::from(radix)).saturating_add(i64::from(d)));
    if negative { value.saturating_neg() } else { value }
}

/// Whether current programs read a variable as a number.
#[must_use]
pub fn is_read_as_number(variable: &Variable) -> bool {
    matches!(variable.reading, Reading::Number | Reading::One) && variable.status != Status::Removed
}

/// Whether NCCL reads a variable as a number and a value does not start with one.
#[must_use]
pub fn is_word_for_number(name: &str, value: &str) -> bool {
    find_variable(name).is_some_and(is_read_as_number) && starts_with_no_number(value)
}

/// Whether a value starts with something other than a number. An empty value means the default, and a reference or
/// placeholder is not known yet.
#[must_use]
pub fn starts_with_no_number(value: &str) -> bool {
    let text = value.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !text.is_empty() && !has_unknown_part(value) && !digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether part of a value is not known yet: a reference, a command, a placeholder of a template.
#[must_use]
pub fn has_unknown_part(value: &str) -> bool {
    value.contains(['$', '{', '`']) || value.starts_with("PLACEHOLDER") || value.starts_with('<')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_numbers() {
        let reads = |name: &str| find_variable(name).map(is_read_as_number);
        assert_eq!(reads("NCCL_IB_DISABLE"), Some(true));
        assert_eq!(reads("NCCL_P2P_DISABLE"), Some(true));
        assert_eq!(reads("RCCL_MSCCL_ENABLE"), Some(true));
        assert_eq!(reads("NCCL_IB_HCA"), Some(false));
        assert_eq!(reads("NCCL_LL_THRESHOLD"), Some(false));
        assert_eq!(reads("IB_DISABLE"), None);
    }

    #[test]
    fn numbers_as_strtoll_reads_them() {
        for (text, value) in [
            ("1", 1),
            ("0", 0),
            ("true", 0),
            ("010", 8),
            ("0x29", 41),
            ("5,6", 5),
            ("", 0),
            (" 7", 7),
            ("-1", -1),
            ("0x", 0),
            ("+3", 3),
        ] {
            assert_eq!(leading_number(text), value, "{text:?}");
        }
    }

    #[test]
    fn words() {
        assert!(
            starts_with_no_number("true") && starts_with_no_number("auto") && starts_with_no_number("-x")
        );
        for number in ["", "1", "0x1", "-1", "$(N)", "${N}", "`nproc`"] {
            assert!(!starts_with_no_number(number), "{number}");
        }
    }
}
