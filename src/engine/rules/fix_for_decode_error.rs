//! What to write instead of a value of another type or an unknown key, from the message of the decoder.

/// The sentence for a message such as `invalid type: string "63", expected u32`, or
/// `unknown field "a"; did you mean "b"?`.
pub(super) fn fix_for_decode_error(message: &str) -> String {
    let quoted = message.split_once("invalid type: string \"").and_then(|(_, rest)| rest.split_once('"'));
    if let Some((text, _)) = quoted.filter(|(text, _)| is_bare(text)) {
        return format!("Write {text} without quotes.");
    }
    let unknown = message.split_once("unknown ").map(|(_, rest)| rest.split('"'));
    if let Some(mut parts) = unknown {
        parts.next();
        return match (parts.next(), parts.nth(1)) {
            (Some(unknown), Some(meant)) => format!("Rename {unknown} to {meant}."),
            _ => "Write a name from the kind's schema.".to_owned(),
        };
    }
    if message.contains("; at most ") || message.contains("entries; expected at most ") {
        return "Remove entries.".to_owned();
    }
    "Write a value of the expected type.".to_owned()
}

/// Whether a text is a number or a truth value that belongs without quotes.
fn is_bare(text: &str) -> bool {
    text.parse::<i64>().is_ok() || matches!(text, "true" | "false")
}

#[cfg(test)]
mod tests {
    use super::fix_for_decode_error;

    #[test]
    fn the_value_to_write_is_named_where_it_is_known() {
        let otherwise = "Write a value of the expected type.";
        for (message, expected) in [
            ("invalid type: string \"63\", expected a whole number", "Write 63 without quotes."),
            ("/a/b: invalid type: string \"true\", expected true or false", "Write true without quotes."),
            ("invalid type: string \"many\", expected a whole number", otherwise),
            ("invalid type: sequence, expected a string", otherwise),
            ("1001 entries; at most 1000 are read", "Remove entries."),
            ("1001 entries; expected at most 1000", "Remove entries."),
            (
                "unknown field \"nodeSelectors\"; did you mean \"nodeSelector\"?",
                "Rename nodeSelectors to nodeSelector.",
            ),
            ("unknown value \"Hard\"; did you mean \"hard\"?", "Rename Hard to hard."),
            ("unknown field `colour`, expected one of `base`", "Write a name from the kind's schema."),
        ] {
            assert_eq!(fix_for_decode_error(message), expected, "{message}");
        }
    }
}
