//! `docs/rules.md`, made from the list of rules.

use crate::rules::{Meta, RULES};

/// The whole page.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Rules\n\n\
         <!-- Generated from src/rules by `just docs`; a test keeps it current. -->\n\n\
         `error` denies in mode enforce, `warning` and `info` never do. A rule whose facts are missing says nothing.\n\n\
         | id | severity | group | what |\n| --- | --- | --- | --- |\n",
    );
    for meta in RULES.iter().map(|r| r.meta()) {
        let anchor = meta.id.to_lowercase();
        page.push_str(&format!(
            "| [{0}](#{anchor}) | {1} | {2} | {3} |\n",
            meta.id,
            meta.severity,
            meta.group(),
            meta.summary
        ));
    }
    for meta in RULES.iter().map(|r| r.meta()) {
        page.push_str(&section(meta));
    }
    page
}

fn section(meta: &Meta) -> String {
    let sources: String = meta.sources.iter().map(|s| format!("- {s}\n")).collect();
    let also = match meta.also {
        [] => String::new(),
        also => format!("\nIn the catalogue of field failures: {}.\n", also.join(", ")),
    };
    // A rule of the webhook alone has no manifest that shows it.
    let example = |title: &str, text: &str| match text {
        "" => String::new(),
        text => format!("{title}:\n\n```yaml\n{text}```\n\n"),
    };
    format!(
        "\n## {id}\n\n**{summary}** ({severity}, since {since})\n\n**What it looks at.** {what}\n\n\
         **Why it breaks.** {why}\n\n**Fix.** {fix}\n\n{bad}{good}**Set aside.** {waiver}.\n\nSources:\n\n{sources}{also}",
        id = meta.id,
        summary = meta.summary,
        severity = meta.severity,
        since = meta.since,
        what = meta.what,
        why = meta.why,
        fix = meta.fix,
        waiver = capital(&meta.waiver.words(meta.id)),
        also = also,
        bad = example("Bad", meta.bad),
        good = example("Good", meta.good),
    )
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
