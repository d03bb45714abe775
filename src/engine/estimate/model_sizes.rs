//! Models, parameters and precisions.

/// A model that is named in place of a number of parameters.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Name on the command line.
    pub name: &'static str,
    /// Parameters.
    pub parameters: f64,
}

/// Models of published estimates.
pub const MODELS: [Model; 5] = [
    Model { name: "resnet-50", parameters: 25e6 },
    Model { name: "bert-base", parameters: 110e6 },
    Model { name: "bert-large", parameters: 340e6 },
    Model { name: "gpt-2", parameters: 1.5e9 },
    Model { name: "llama-7b", parameters: 7e9 },
];

/// Number format of the gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 4 bytes.
    Fp32,
    /// 2 bytes.
    Fp16,
    /// 2 bytes.
    Bf16,
    /// 1 byte.
    Fp8,
}

impl Precision {
    /// Bytes of a gradient.
    #[must_use]
    pub fn bytes(self) -> f64 {
        match self {
            Self::Fp32 => 4.0,
            Self::Fp16 | Self::Bf16 => 2.0,
            Self::Fp8 => 1.0,
        }
    }

    /// Name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
        }
    }
}

/// A number of parameters: `7B`, `340M`, `1.5e9`, or a model's name.
///
/// # Errors
/// A sentence about a text that is neither.
pub fn parse_parameter_count(text: &str) -> Result<f64, String> {
    if let Some(model) = MODELS.iter().find(|model| model.name.eq_ignore_ascii_case(text)) {
        return Ok(model.parameters);
    }
    let lower = text.to_ascii_lowercase();
    let units = [("k", 1e3), ("m", 1e6), ("b", 1e9), ("t", 1e12)];
    let unit = units.iter().find_map(|(unit, factor)| Some((lower.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.unwrap_or((&lower, 1.0));
    let value = number.trim().parse::<f64>().ok().map(|number| number * factor);
    value.filter(|value| value.is_finite() && *value >= 1.0 && *value <= 1e15).ok_or_else(|| {
        let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        format!("write a number such as 7B or 340M, or one of: {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::parse_parameter_count;

    #[test]
    fn numbers_have_units() {
        for (text, expected) in [
            ("7B", 7e9),
            ("340m", 340e6),
            ("1.5e9", 1.5e9),
            ("405 b", 405e9),
            ("BERT-base", 110e6),
            ("1T", 1e12),
        ] {
            assert_eq!(parse_parameter_count(text), Ok(expected), "{text}");
        }
        for wrong in ["", "b", "-7B", "nan", "inf", "0", "7G", "1e99", "bert"] {
            assert!(parse_parameter_count(wrong).is_err(), "{wrong}");
        }
    }
}
