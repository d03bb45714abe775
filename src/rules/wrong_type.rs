//! What to write instead of a value of another type, from the message of the decoder.

use crate::text::nearest;

/// The sentence for a message such as `invalid type: string "63", expected u32` or
/// "unknown field `a`, expected one of `b`, `c`".
pub(super) fn fix(message: &str) -> String {
    let quoted = message.split_once("invalid type: string \"").and_then(|(_, rest)| rest.split_once('"'));
    if let Some((text, _)) = quoted.filter(|(text, _)| is_bare(text)) {
        return format!("Write {text} without quotes.");
    }
    let mut names = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field")
        && let Some(unknown) = names.next()
        && let Some(known) = nearest(unknown, names)
    {
        return format!("Rename {unknown} to {known}.");
    }
    "Write a value of the expected type.".to_owned()
}

/// Whether a text is a number or a truth value that belongs without quotes.
fn is_bare(text: &str) -> bool {
    text.parse::<i64>().is_ok() || matches!(text, "true" | "false")
}

#[cfg(test)]
mod tests {
    use super::fix;

    #[test]
    fn the_value_to_write_is_named_where_it_is_known() {
        let otherwise = "Write a value of the expected type.";
        for (message, expected) in [
            ("invalid type: string \"63\", expected u32 at line 1", "Write 63 without quotes."),
            ("invalid type: string \"true\", expected a boolean", "Write true without quotes."),
            ("invalid type: string \"many\", expected u32", otherwise),
            ("invalid type: sequence, expected a string", otherwise),
            (
                "unknown field `nodeSelectors`, expected one of `base`, `nodeSelector`",
                "Rename nodeSelectors to nodeSelector.",
            ),
            ("unknown field `colour`, expected one of `base`, `nodeSelector`", otherwise),
        ] {
            assert_eq!(fix(message), expected, "{message}");
        }
    }
}
