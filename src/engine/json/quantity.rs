//! Kubernetes resource quantities, with the API server's grammar (k8s.io/apimachinery
//! pkg/api/resource/quantity.go).

use std::borrow::Cow;
use std::fmt;

/// A parsed quantity. Exact for every value the API can hold; larger ones saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    nanos: i128,
}

/// Why a text is not a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Looks like a placeholder that a template engine or `envsubst` should have replaced.
    #[error("a placeholder that nothing has replaced")]
    Placeholder,
    /// Anything else outside the grammar.
    #[error("not a Kubernetes quantity")]
    Grammar,
}

/// 10^9: the API server rounds quantities up to nano precision.
const NANO: i128 = 1_000_000_000;

impl Quantity {
    /// A whole number of units.
    #[must_use]
    pub const fn from_units(units: i64) -> Self {
        Self { nanos: units as i128 * NANO }
    }

    /// Parses the text of a quantity: `8`, `0.5`, `64Gi`, `100m`, `1e3`.
    ///
    /// # Errors
    /// [`QuantityError`] when the API server would refuse the text.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        Self::parse_number(text).ok_or_else(|| {
            if looks_like_placeholder(text) { QuantityError::Placeholder } else { QuantityError::Grammar }
        })
    }

    fn parse_number(text: &str) -> Option<Self> {
        // Nearly all quantities: a plain number with few digits.
        if (1..=18).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()) {
            return text.parse().ok().map(Self::from_units);
        }
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at_checked(end)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let scale = Scale::parse(suffix)?;
        let nanos = scale.apply(whole, fraction);
        Some(Self { nanos: if negative { -nanos } else { nanos } })
    }

    /// Whether it is a whole number.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.nanos % NANO == 0
    }

    /// Whole units, rounded up as the API server does; saturates at the range of `i64`.
    #[must_use]
    pub fn units_rounded_up(self) -> i64 {
        let up = self.nanos.div_euclid(NANO) + i128::from(self.nanos.rem_euclid(NANO) != 0);
        i64::try_from(up).unwrap_or(if up < 0 { i64::MIN } else { i64::MAX })
    }

    /// The number of another quantity in it, rounded up; `None` for a divisor that is not positive.
    #[must_use]
    pub fn in_units_of(self, divisor: Self) -> Option<i128> {
        (divisor.nanos > 0).then(|| div_up(self.nanos, divisor.nanos))
    }

    /// The sum of two quantities.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_add(other.nanos) }
    }

    /// Whether it is negative.
    #[must_use]
    pub fn is_negative(self) -> bool {
        self.nanos < 0
    }
}

/// Longest text of a quantity that is kept as it is written (bytes). The API server writes a quantity in its shortest form,
/// with at most 19 digits and nine after the point (k8s.io/apimachinery pkg/api/resource/quantity.go, `maxAllowed` and
/// `CanonicalizeBytes`); only a manifest or a custom resource can have a longer one.
const MAX_TEXT_LENGTH: usize = 64;

/// A text that reads as the same quantity, or as the same error, and is not long.
pub(super) fn shorten_with_same_meaning(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() <= MAX_TEXT_LENGTH {
        return text;
    }
    let start: String = text.chars().take(MAX_TEXT_LENGTH / 4 - 1).collect();
    Cow::Owned(match Quantity::parse(&text) {
        Ok(quantity) if quantity.is_integer() => (quantity.nanos / NANO).to_string(),
        Ok(quantity) => format!("{}n", quantity.nanos),
        Err(QuantityError::Placeholder) => format!("{start}{{…}}"),
        Err(QuantityError::Grammar) => format!("{start}…"),
    })
}

/// The multiplier of the suffix.
#[derive(Clone, Copy)]
enum Scale {
    Binary(u32),
    Decimal(i32),
}

impl Scale {
    fn parse(suffix: &str) -> Option<Self> {
        Some(match suffix {
            "" => Self::Decimal(0),
            "Ki" => Self::Binary(10),
            "Mi" => Self::Binary(20),
            "Gi" => Self::Binary(30),
            "Ti" => Self::Binary(40),
            "Pi" => Self::Binary(50),
            "Ei" => Self::Binary(60),
            "n" => Self::Decimal(-9),
            "u" => Self::Decimal(-6),
            "m" => Self::Decimal(-3),
            "k" => Self::Decimal(3),
            "M" => Self::Decimal(6),
            "G" => Self::Decimal(9),
            "T" => Self::Decimal(12),
            "P" => Self::Decimal(15),
            "E" => Self::Decimal(18),
            _ => {
                let exponent = suffix.strip_prefix(['e', 'E'])?;
                // The API reads the exponent as a 32-bit integer after an optional sign.
                Self::Decimal(exponent.parse::<i32>().ok()?)
            }
        })
    }

    /// The number in nanos, rounded up; `whole` and `fraction` hold digits only.
    fn apply(self, whole: &str, fraction: &str) -> i128 {
        match self {
            Self::Binary(shift) => {
                let factor = NANO << shift;
                let whole = digits(whole).saturating_mul(factor);
                if fraction.is_empty() {
                    return whole;
                }
                // A fraction of 18 digits is more precise than the API keeps.
                let short = fraction.get(..18).unwrap_or(fraction);
                let power = 10_i128.pow(u32::try_from(short.len()).unwrap_or(18));
                let part = digits(short) * (factor / NANO);
                let nanos = match part.checked_mul(NANO) {
                    Some(n) => div_up(n, power),
                    None => div_up(part, power).saturating_mul(NANO),
                };
                whole.saturating_add(nanos)
            }
            Self::Decimal(exponent) => {
                let shift = i64::from(exponent) + 9 - i64::try_from(fraction.len()).unwrap_or(i64::MAX);
                let value = append(digits(whole), fraction);
                if shift >= 0 {
                    match u32::try_from(shift).ok().and_then(|s| 10_i128.checked_pow(s)) {
                        Some(power) => value.saturating_mul(power),
                        None => {
                            if value == 0 {
                                0
                            } else {
                                i128::MAX
                            }
                        }
                    }
                } else {
                    match u32::try_from(-shift).ok().and_then(|s| 10_i128.checked_pow(s)) {
                        Some(power) => div_up(value, power),
                        None => i128::from(value != 0),
                    }
                }
            }
        }
    }
}

/// Digits of `i128::MAX`, beyond which a number saturates; a quantity may be as long as its object.
const MAX_DIGITS: usize = 39;

fn digits(text: &str) -> i128 {
    let text = text.trim_start_matches('0');
    if text.len() > MAX_DIGITS {
        return i128::MAX;
    }
    append(0, text)
}

/// A number with further digits.
fn append(number: i128, digits: &str) -> i128 {
    digits
        .bytes()
        .fold(number, |n, b| n.saturating_mul(10).saturating_add(i128::from(b.saturating_sub(b'0'))))
}

fn div_up(n: i128, by: i128) -> i128 {
    n / by + i128::from(n % by != 0)
}

fn looks_like_placeholder(text: &str) -> bool {
    let t = text.trim();
    t.contains('$')
        || t.contains('{')
        || t.contains('<')
        || t.contains("__")
        || (t.len() > 2 && t.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit()) && {
            t.bytes().any(|b| b.is_ascii_uppercase())
        })
}

/// Bytes in the largest binary unit that divides them, as people write sizes: `64Gi`, `512Mi`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub i64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in [("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)] {
            if self.0 != 0 && self.0 % (1_i64 << shift) == 0 {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> i64 {
        Quantity::parse(text).unwrap().units_rounded_up()
    }

    #[test]
    fn reads_what_the_api_reads() {
        for (text, expected) in [
            ("8", 8),
            ("+8", 8),
            ("-1", -1),
            ("0", 0),
            ("64Gi", 64 << 30),
            ("1.5Gi", 3 << 29),
            ("0.5", 1),
            ("100m", 1),
            ("1500m", 2),
            ("1e3", 1000),
            ("1E3", 1000),
            ("1e-3", 1),
            ("2k", 2000),
            ("1E", 1_000_000_000_000_000_000),
            (".5Ki", 512),
            ("5.", 5),
            ("9999999999999999999999", i64::MAX),
            ("1e400000", i64::MAX),
        ] {
            assert_eq!(units(text), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_the_api_refuses() {
        for text in
            ["", "-", ".", "8 ", " 8", "8g", "8GiB", "1.2.3", "0x8", "true", "1e", "1e3Gi", "1_000", "٣"]
        {
            assert_eq!(Quantity::parse(text), Err(QuantityError::Grammar), "{text:?}");
        }
    }

    #[test]
    fn names_a_placeholder() {
        for text in
            ["$GPUS", "${GPU_PER_NODE}", "{{ .Values.gpus }}", "__NUM_NODES__", "GPU_COUNT", "<gpus>", "{…}"]
        {
            assert_eq!(Quantity::parse(text), Err(QuantityError::Placeholder), "{text:?}");
        }
    }

    #[test]
    fn distinguishes_fractions() {
        assert!(Quantity::parse("2000m").unwrap().is_integer());
        assert!(!Quantity::parse("1.5").unwrap().is_integer());
        assert!(Quantity::parse("-2").unwrap().is_negative());
    }

    #[test]
    fn a_long_text_is_shortened_to_one_with_the_same_meaning() {
        let (zeros, nines) = ("0".repeat(100), "9".repeat(100));
        for (text, short) in [
            (format!("{zeros}8"), "8"),
            (format!("-{zeros}1500m"), "-1500000000n"),
            (format!("0.{zeros}1"), "1n"),
            (format!("{zeros}64Gi"), "68719476736"),
            (nines.clone(), "170141183460469231731687303715884105727n"),
            (format!("{nines}x"), "999999999999999…"),
            (format!("${{{}}}", "A".repeat(100)), "${AAAAAAAAAAAAA{…}"),
            ("A".repeat(100), "AAAAAAAAAAAAAAA{…}"),
        ] {
            assert_eq!(shorten_with_same_meaning(Cow::Borrowed(&text)), short);
            assert_eq!(Quantity::parse(short), Quantity::parse(&text), "{text}");
        }
        for text in ["0".repeat(MAX_TEXT_LENGTH), "x".repeat(MAX_TEXT_LENGTH)] {
            assert!(matches!(shorten_with_same_meaning(Cow::Borrowed(&text)), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn prints_sizes_as_people_write_them() {
        assert_eq!(Bytes(64 << 30).to_string(), "64Gi");
        assert_eq!(Bytes(3 << 29).to_string(), "1536Mi");
        assert_eq!(Bytes(0).to_string(), "0");
        assert_eq!(Bytes(1000).to_string(), "1000");
    }
}
