//! The rules as a set: their declarations, their texts, and every place that lists them. The trials of their examples are
//! in `examples_of_rules`.

use crate::rules::examples_of_rules::is_shown;
use crate::support::round_trip::{review, same};
use crate::support::suite::{Outcome, Suite};
use crate::support::{golden, names, read, root, run};
use fabric_admission::rules::{RULES, Rule};
use serde_json::Value;

fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied()
}

pub(crate) fn add(suite: &mut Suite) {
    for rule in rules() {
        suite.add(format!("rules::{}::texts", rule.id), || texts(rule));
        suite.add(format!("rules::{}::explain", rule.id), || explain(rule));
    }
    suite.add("rules::a_lesser_severity_has_its_reason", reasons);
    suite.add("rules::ids_are_sorted_and_unique", || {
        let ids: Vec<&str> = rules().map(|r| r.id).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        Ok(same("ids", sorted, ids)?)
    });
    suite.add("rules::each_has_a_folder_that_its_id_finds", folders);
    suite.add("rules::explain_unknown", || Ok(explain_unknown()?));
    suite.add("rules::list_as_json", || Ok(list_as_json()?));
    suite.add("rules::list_as_text", || {
        let ran = run(&["rules", "list"], b"", root())?;
        same("exit code", 0, ran.code)?;
        let ids: Vec<&str> = ran.stdout.lines().filter_map(|l| l.split(' ').next()).collect();
        Ok(same("ids", rules().map(|r| r.id).collect::<Vec<_>>(), ids)?)
    });
    suite.add("rules::page_is_current", || {
        let ran = run(&["rules", "list", "-o", "markdown"], b"", root())?;
        same("exit code", 0, ran.code)?;
        Ok(golden(&root().join("docs/rules.md"), Some(&ran.stdout))?)
    });
}

/// A finding below its rule's severity says why, in every manifest that the tests have.
fn reasons() -> Outcome {
    let paths = vec!["tests/cases".to_owned(), "tests/facts-behind-rules".to_owned(), "examples".to_owned()];
    let mut wrong = std::collections::BTreeSet::new();
    for path in paths {
        let review = review(&[path], b"", root())?;
        for finding in review.results().iter().flat_map(|r| r["findings"].as_array()).flatten() {
            let rule = rules().find(|rule| finding["rule"] == rule.id).ok_or("an unknown rule")?;
            let lesser = finding["severity"] != rule.severity.to_string();
            if lesser == (finding["because"] == "") {
                wrong.insert(format!(
                    "{} {}: because {} ({})",
                    rule.id, finding["severity"], finding["because"], finding["message"]
                ));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Vec::from_iter(wrong).join("\n").into()) }
}

/// `src/engine/rules/GROUP/fabNNN_…` has the declaration of rule FABNNN, and no other folder is there.
fn folders() -> Outcome {
    let mut found = Vec::new();
    for group in names(&root().join("src/engine/rules")).iter().filter(|name| !name.ends_with(".rs")) {
        for name in
            names(&root().join("src/engine/rules").join(group)).iter().filter(|name| !name.ends_with(".rs"))
        {
            let source = read(&root().join("src/engine/rules").join(group).join(name).join("mod.rs"))?;
            let id = name.split('_').next().unwrap_or_default().to_uppercase();
            if !source.contains(&format!("id: {id:?},")) {
                return Err(format!("{group}/{name} does not declare {id}").into());
            }
            found.push((id, group.clone()));
        }
    }
    found.sort();
    let expected = rules().map(|rule| (rule.id.to_owned(), rule.group().to_owned())).collect::<Vec<_>>();
    Ok(same("folders", expected, found)?)
}

fn texts(rule: &Rule) -> Outcome {
    let page = rule.page();
    let digits = rule.id.strip_prefix("FAB").unwrap_or_default();
    let mut wrong = Vec::new();
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    expect(digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit()), "id: FAB and three digits");
    expect(!rule.group().is_empty(), "group: empty");
    expect(page.summary.chars().count() < 100, "summary: 100 characters or more");
    expect(!page.summary.ends_with('.'), "summary: ends with a dot");
    expect(!page.summary.contains('\n'), "summary: line break");
    for (name, text) in [
        ("summary", page.summary.as_str()),
        ("what", page.what.as_str()),
        ("why", page.why.as_str()),
        ("fix", page.fix.as_str()),
        ("since", rule.since),
    ] {
        expect(!text.is_empty() && text.trim() == text, &format!("{name}: empty, or spaces around it"));
        expect(!text.contains("  "), &format!("{name}: double space"));
    }
    for (name, text) in [("what", page.what.as_str()), ("why", page.why.as_str()), ("fix", page.fix.as_str())]
    {
        expect(text.ends_with('.'), &format!("{name}: no dot at the end"));
        expect(text.matches('`').count() % 2 == 0, &format!("{name}: a backtick without its pair"));
    }
    let shown = is_shown(rule);
    for (name, text) in [("bad", rule.files.bad), ("good", rule.files.good)] {
        let whole = text.ends_with('\n') && text.starts_with("apiVersion:");
        expect(
            whole == shown,
            &format!("{name}: a whole manifest is expected, or none for the webhook's rules"),
        );
    }
    expect(rule.files.bad != rule.files.good || !shown, "bad and good are the same");
    expect(!page.sources.is_empty(), "sources: none");
    expect(page.sources.iter().all(|s| s.trim().len() > 10), "sources: one says nothing");
    expect(rule.kinds.iter().all(|(_, kind)| !kind.is_empty()), "kinds: an empty one");
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn explain(rule: &Rule) -> Outcome {
    let upper = run(&["explain", rule.id], b"", root())?;
    let lower = run(&["explain", &rule.id.to_lowercase()], b"", root())?;
    same("exit code", 0, upper.code)?;
    same("stderr", "", upper.stderr.as_str())?;
    same("in lower case", &upper.stdout, &lower.stdout)?;
    let page = rule.page();
    let id = rule.id.to_owned();
    // The title, sources and examples are not wrapped.
    let prose = upper.stdout.split("\nBad\n").next().unwrap_or_default();
    let prose = prose.split("\nSources\n").next().unwrap_or_default();
    if let Some(line) = prose.lines().skip(1).find(|line| line.chars().count() > 100) {
        return Err(format!("wider than a terminal: {line}").into());
    }
    let unwrapped = upper.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let texts = [&id, &page.summary, &page.what, &page.why, &page.fix];
    // Pages are Markdown. A terminal shows a literal without backticks, in quotes where it is not one plain word.
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace(['`', '"'], "");
    for text in texts.into_iter().chain(&page.sources) {
        if !plain(&unwrapped).contains(&plain(text)) {
            return Err(format!("explain does not print: {text}").into());
        }
    }
    let outside = |part: &str| part.lines().find(|l| l.contains('`')).map(str::to_owned);
    let ends = upper.stdout.rsplit("\nSources\n").next().unwrap_or_default();
    if let Some(line) = outside(prose).or_else(|| outside(ends)) {
        return Err(format!("backticks in a terminal: {line}").into());
    }
    for title in ["Bad", "Good"] {
        let printed = upper.stdout.lines().any(|l| l == title);
        same(&format!("a section {title:?}"), is_shown(rule), printed)?;
    }
    for line in rule.files.bad.lines().chain(rule.files.good.lines()) {
        if !upper.stdout.contains(line) {
            return Err(format!("explain does not print the example's line: {line}").into());
        }
    }
    Ok(())
}

fn explain_unknown() -> Result<(), String> {
    for (given, hint) in [
        ("FAB3O1", "; did you mean FAB301? To list"),
        ("fab3o1", "; did you mean FAB301? To list"),
        ("501", "\"501\"; did you mean FAB501? To list"),
        ("FAB999", "\"FAB999\". To list"),
        ("nonsense", "\"nonsense\". To list"),
    ] {
        let ran = run(&["explain", given], b"", root())?;
        same(&format!("exit code for {given}"), 2, ran.code)?;
        same("stdout", "", ran.stdout.as_str())?;
        if !ran.stderr.contains(hint) || !ran.stderr.contains("rules list") {
            return Err(format!("{given}: expected {hint:?} and `rules list`: {}", ran.stderr));
        }
    }
    same("exit code without an id", 2, run(&["explain"], b"", root())?.code)
}

fn list_as_json() -> Result<(), String> {
    let ran = run(&["rules", "list", "-o", "json"], b"", root())?;
    same("exit code", 0, ran.code)?;
    let list: Vec<Value> = serde_json::from_str(&ran.stdout).map_err(|e| e.to_string())?;
    let entry = |v: &Value| {
        let text = |key: &str| v[key].as_str().unwrap_or("?").to_owned();
        (text("id"), text("severity"), text("group"), text("summary"))
    };
    let expected: Vec<_> = rules()
        .map(|r| (r.id.to_owned(), r.severity.to_string(), r.group().to_owned(), r.page().summary))
        .collect();
    same("rules list -o json", expected, list.iter().map(entry).collect())
}
