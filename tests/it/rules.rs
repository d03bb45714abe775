//! The rules as a set: their texts, their examples, and every place that lists them.

use crate::round_trip::{review, same};
use crate::suite::{Outcome, Suite};
use crate::support::{golden, root, run};
use fabric_admission::rules::{Meta, RULES, Rule};
use serde_json::Value;

/// Speaks wherever no profile is named, as in most examples of other rules.
const NO_PROFILE: &str = "FAB803";
/// No manifest shows them: they speak in the webhook alone, beside an input error, or under a setting.
const WEBHOOK_ONLY: &[&str] = &["FAB150", "FAB802", "FAB811", "FAB812", "FAB813"];

fn metas() -> impl Iterator<Item = &'static Meta> {
    RULES.iter().map(|r: &&dyn Rule| r.meta())
}

pub(crate) fn add(suite: &mut Suite) {
    for meta in metas() {
        suite.add(format!("rules::{}::texts", meta.id), || texts(meta));
        suite.add(format!("rules::{}::explain", meta.id), || explain(meta));
        if !WEBHOOK_ONLY.contains(&meta.id) {
            suite.add(format!("rules::{}::bad_example", meta.id), || example(meta, meta.bad, &[meta.id]));
            suite.add(format!("rules::{}::good_example", meta.id), || example(meta, meta.good, &[]));
        }
    }
    suite.add("rules::ids_are_sorted_and_unique", || {
        let ids: Vec<&str> = metas().map(|m| m.id).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        Ok(same("ids", sorted, ids)?)
    });
    suite.add("rules::explain_unknown", || Ok(explain_unknown()?));
    suite.add("rules::list_as_json", || Ok(list_as_json()?));
    suite.add("rules::list_as_text", || {
        let ran = run(&["rules", "list"], b"", root())?;
        same("exit code", 0, ran.code)?;
        let ids: Vec<&str> = ran.stdout.lines().filter_map(|l| l.split(' ').next()).collect();
        Ok(same("ids", metas().map(|m| m.id).collect::<Vec<_>>(), ids)?)
    });
    suite.add("rules::page_is_current", || {
        let ran = run(&["rules", "list", "-o", "markdown"], b"", root())?;
        same("exit code", 0, ran.code)?;
        Ok(golden(&root().join("docs/rules.md"), Some(&ran.stdout))?)
    });
}

fn texts(meta: &Meta) -> Outcome {
    let digits = meta.id.strip_prefix("FAB").unwrap_or_default();
    let mut wrong = Vec::new();
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    expect(digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit()), "id: FAB and three digits");
    expect(!meta.group().is_empty(), "group: empty");
    expect(meta.summary.chars().count() < 100, "summary: 100 characters or more");
    expect(!meta.summary.ends_with('.'), "summary: ends with a dot");
    for (name, text) in [
        ("summary", meta.summary),
        ("what", meta.what),
        ("why", meta.why),
        ("fix", meta.fix),
        ("since", meta.since),
    ] {
        expect(!text.is_empty() && text.trim() == text, &format!("{name}: empty, or spaces around it"));
        expect(!text.contains("  ") && !text.contains('\n'), &format!("{name}: double space or line break"));
    }
    for (name, text) in [("what", meta.what), ("why", meta.why), ("fix", meta.fix)] {
        expect(text.ends_with('.'), &format!("{name}: no dot at the end"));
        expect(text.matches('`').count() % 2 == 0, &format!("{name}: a backtick without its pair"));
    }
    let shown = !WEBHOOK_ONLY.contains(&meta.id);
    for (name, text) in [("bad", meta.bad), ("good", meta.good)] {
        let whole = text.ends_with('\n') && text.starts_with("apiVersion:");
        expect(
            whole == shown,
            &format!("{name}: a whole manifest is expected, or none for the webhook's rules"),
        );
    }
    expect(meta.bad != meta.good || !shown, "bad and good are the same");
    expect(!meta.sources.is_empty(), "sources: none");
    expect(meta.sources.iter().all(|s| s.trim().len() > 10), "sources: one says nothing");
    expect(meta.kinds.iter().all(|(_, kind)| !kind.is_empty()), "kinds: an empty one");
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Reviews an example by itself. `expected`: the rules that must speak, and no other may.
fn example(meta: &Meta, manifest: &str, expected: &[&str]) -> Outcome {
    let review = review(&["-".to_owned()], manifest.as_bytes(), root())?;
    same("errors", 0, review.list("errors").len())?;
    same("stderr", "", review.ran.stderr.as_str())?;
    let mut rules = review.rules();
    rules.retain(|r| r != NO_PROFILE || meta.id == NO_PROFILE);
    rules.dedup();
    same("rules that speak", expected.iter().map(|r| (*r).to_owned()).collect(), rules)?;
    let findings = review.results().iter().flat_map(|r| r["findings"].as_array()).flatten();
    let own = findings.filter(|f| f["rule"] == meta.id).map(|f| f["severity"].as_str().unwrap_or("?"));
    // The example shows the rule at its loudest.
    let worst = meta.severity.to_string();
    if !expected.is_empty() && !own.clone().any(|s| s == worst) {
        return Err(
            format!("expected a finding of severity {worst}, found {:?}", own.collect::<Vec<_>>()).into()
        );
    }
    Ok(())
}

fn explain(meta: &Meta) -> Outcome {
    let upper = run(&["explain", meta.id], b"", root())?;
    let lower = run(&["explain", &meta.id.to_lowercase()], b"", root())?;
    same("exit code", 0, upper.code)?;
    same("stderr", "", upper.stderr.as_str())?;
    same("in lower case", &upper.stdout, &lower.stdout)?;
    let texts = [meta.id, meta.summary, meta.what, meta.why, meta.fix];
    for text in texts.iter().chain(meta.sources) {
        if !upper.stdout.contains(text) {
            return Err(format!("explain does not print: {text}").into());
        }
    }
    for title in ["Bad", "Good"] {
        let printed = upper.stdout.lines().any(|l| l == title);
        same(&format!("a section {title:?}"), !WEBHOOK_ONLY.contains(&meta.id), printed)?;
    }
    for line in meta.bad.lines().chain(meta.good.lines()) {
        if !upper.stdout.contains(line) {
            return Err(format!("explain does not print the example's line: {line}").into());
        }
    }
    Ok(())
}

fn explain_unknown() -> Result<(), String> {
    for (given, near) in [("FAB3O1", Some("FAB301")), ("fab3o1", Some("FAB301")), ("nonsense", None)] {
        let ran = run(&["explain", given], b"", root())?;
        same(&format!("exit code for {given}"), 2, ran.code)?;
        same("stdout", "", ran.stdout.as_str())?;
        let named = near.is_none_or(|n| ran.stderr.contains(n));
        if !named || !ran.stderr.contains("rules list") {
            return Err(format!(
                "{given}: expected the nearest id {near:?} and `rules list`: {}",
                ran.stderr
            ));
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
    let expected: Vec<_> = metas()
        .map(|m| (m.id.to_owned(), m.severity.to_string(), m.group().to_owned(), m.summary.to_owned()))
        .collect();
    same("rules list -o json", expected, list.iter().map(entry).collect())
}
