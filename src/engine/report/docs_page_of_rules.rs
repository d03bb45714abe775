//! `docs/rules.md`, made from the list of rules.

use crate::rules::{RULES, Rule};

/// The whole page.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Rules\n\n\
         <!-- Generated from src/engine/rules by `just docs`; a test keeps it current. -->\n\n\
         This page is for users who got a finding. In mode `enforce`, a finding of severity `error` denies the object. A\n\
         finding of severity `warning` or `info` never denies an object. A rule without the facts that it needs reports\n\
         nothing. [truth.md](truth.md) explains how a rule gets its severity, and how to report a false finding.\n\n\
         | id | severity | group | summary |\n| --- | --- | --- | --- |\n",
    );
    for rule in RULES.iter() {
        let anchor = rule.id.to_lowercase();
        page.push_str(&format!(
            "| [{0}](#{anchor}) | {1} | {2} | {3} |\n",
            rule.id,
            rule.severity,
            rule.group(),
            rule.page().summary
        ));
    }
    for rule in RULES.iter() {
        page.push_str(&section(rule));
    }
    page
}

fn section(rule: &Rule) -> String {
    let page = rule.page();
    let sources: String = page.sources.iter().map(|s| format!("- {s}\n")).collect();
    let also = match page.catalogue.as_slice() {
        [] => String::new(),
        also => format!("\nCatalogue of known failures: {}.\n", also.join(", ")),
    };
    // A rule that only the webhook can report has no example manifest.
    let example = |title: &str, text: &str| match text {
        "" => String::new(),
        text => format!("{title}:\n\n```yaml\n{text}```\n\n"),
    };
    format!(
        "\n## {id}\n\n**{summary}** ({severity}, since {since})\n\n**What it checks.** {what}\n\n\
         **Why it breaks.** {why}\n\n**Fix.** {fix}\n\n{lesser}{bad}{good}**Ignore.** {waiver}.\n\nSources:\n\n{sources}{also}",
        id = rule.id,
        summary = page.summary,
        severity = rule.severity,
        since = rule.since,
        what = page.what,
        why = page.why,
        fix = page.fix,
        lesser = lesser(rule),
        waiver = capital(&rule.waiver.how_to_ignore_in_words(rule.id)),
        also = also,
        bad = example("Bad", rule.files.bad),
        good = example("Good", rule.files.good),
    )
}

/// Why findings of a rule are less severe: a sentence for each severity.
fn lesser(rule: &Rule) -> String {
    if rule.lesser.is_empty() {
        return String::new();
    }
    let reasons: String =
        rule.lesser.iter().map(|(severity, reason)| format!("- {severity}: {reason}\n")).collect();
    format!(
        "**Less severe.** In the following cases, the severity is lower than the severity of the rule. The finding \
         names the case.\n\n{reasons}\n"
    )
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
