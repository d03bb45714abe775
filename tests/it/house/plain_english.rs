//! Plain English in everything that users read: help, explanations, messages, documents, schemas.
//!
//! A list of phrases that readers stumbled over. Each is precise enough that a legitimate use of the same words is not
//! found; no file is excepted.

use crate::house::layers::{sources, string};
use crate::support::suite::{Outcome, Suite};
use crate::support::{names, read, root, run};
use fabric_admission::preflight::checks::CHECKS;
use fabric_admission::rules::RULES;
use std::path::{Path, PathBuf};

/// Whole words and phrases, in lower case.
const ODD: &[&str] = &[
    "told",
    "tells",
    "mend",
    "mends",
    "mended",
    "for ever",
    "without a word",
    "of ours",
    "passes over",
    "passed over",
    "is known of",
    "becomes of",
    "became of",
    "comes of it",
    "brings no rest",
    "brought no rest",
    "a moment ago",
    "since a moment",
    "is left as it is",
    "are left as they are",
    "stays as it is",
    "stay as they are",
    "that is none",
    "of which nothing",
    "counts on",
    "speaks for",
    "land on",
    "lands on",
    "let through",
    "lets through",
    "for want of",
    "begins anew",
    "goes well",
    "counts before",
    "stands in the way",
];

/// `is no NOUN` should be `is not a NOUN`, unless one of these words is before or after it: `there is no NOUN`,
/// `is no longer`.
const NO: &[&str] = &["is no", "are no", "was no", "were no"];
const BEFORE: &[&str] = &["there", "is there"];
const AFTER: &[&str] = &["longer", "more", "less", "fewer", "later", "earlier", "different", "such"];

pub(crate) fn add(suite: &mut Suite) {
    suite.add("plain_english::the_scan_sees", || Ok(sees()?));
    suite.add("plain_english::help", || plain(help()?));
    suite.add("plain_english::explanations", || plain(explanations()?));
    suite.add("plain_english::documents", || plain(documents()?));
    suite.add("plain_english::schemas", || plain(schemas()?));
    suite.add("plain_english::messages", || plain(messages()?));
}

/// Where a text is, and the text.
type Text = (String, String);

fn plain(texts: Vec<Text>) -> Outcome {
    if texts.is_empty() {
        return Err("nothing to read".into());
    }
    let found: Vec<String> = texts
        .iter()
        .flat_map(|(place, text)| odd(text).into_iter().map(move |around| format!("{place}: … {around} …")))
        .collect();
    if found.is_empty() { Ok(()) } else { Err(format!("odd phrases:\n{}", found.join("\n")).into()) }
}

/// The odd phrases of a text, each with the words around it.
fn odd(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    // A word without the punctuation around it. An underscore is a letter: names of tests and metrics are one word.
    let bare: Vec<&str> =
        words.iter().map(|w| w.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')).collect();
    // A sentence ends between two words.
    let ends = |at: usize| words[at].ends_with(['.', ':', ';', ',', '|']);
    let is = |at: usize, phrase: &str| {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        bare.get(at..at + wanted.len()) == Some(wanted.as_slice()) && !(at..at + wanted.len() - 1).any(ends)
    };
    let negated = |at: usize| {
        NO.iter().any(|phrase| is(at, phrase))
            && !ends(at + 1)
            && bare.get(at + 2).is_some_and(|next| !next.is_empty() && !AFTER.contains(next))
            && !(at > 0 && BEFORE.contains(&bare[at - 1]))
    };
    (0..bare.len())
        .filter(|at| ODD.iter().any(|phrase| is(*at, phrase)) || negated(*at))
        .map(|at| words[at.saturating_sub(4)..words.len().min(at + 6)].join(" "))
        .collect()
}

/// `--help` of every command, as the help itself lists them.
fn help() -> Result<Vec<Text>, String> {
    let mut texts = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(command) = open.pop() {
        let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let text = run(&args, b"", root())?.stdout;
        let listed = text.split("\nCommands:\n").nth(1).unwrap_or_default();
        for line in listed.lines().take_while(|l| l.starts_with("  ")) {
            let name = line
                .split_whitespace()
                .next()
                .filter(|n| *n != "help" && line.starts_with("  ") && !line.starts_with("   "));
            open.extend(name.map(|n| [command.clone(), vec![n.to_owned()]].concat()));
        }
        texts.push((args.join(" "), text));
    }
    // The commands with commands of their own are among them.
    let expected = ["serve --help", "rules export --help", "certs dev --help"];
    match expected.iter().find(|e| !texts.iter().any(|(place, _)| place == *e)) {
        Some(missing) => Err(format!("{missing} was not read")),
        None => Ok(texts),
    }
}

fn explanations() -> Result<Vec<Text>, String> {
    let explain =
        |id: &str| run(&["explain", id], b"", root()).map(|ran| (format!("explain {id}"), ran.stdout));
    let checks = CHECKS.iter().map(|check| explain(check.id));
    let rules = RULES.iter().map(|rule| explain(rule.id)).chain(checks);
    rules.chain(["NCCL_IB_HCA", "NCCL_NET"].map(explain)).collect()
}

/// Files of a directory whose names end so; none of the directories in it.
fn files(directory: &str, end: &str) -> Vec<PathBuf> {
    let directory = root().join(directory);
    names(&directory).iter().filter(|n| n.ends_with(end)).map(|n| directory.join(n)).collect()
}

fn texts(files: Vec<PathBuf>) -> Result<Vec<Text>, String> {
    let shown = |file: &Path| file.strip_prefix(root()).unwrap_or(file).display().to_string();
    files.iter().map(|file| Ok((shown(file), read(file)?))).collect()
}

fn documents() -> Result<Vec<Text>, String> {
    let mut all = ["README.md", "CHANGELOG.md", "SECURITY.md", "deploy/README.md", "examples/README.md"]
        .map(|name| root().join(name))
        .to_vec();
    all.extend(files("docs", ".md"));
    all.extend(files("docs/how-to", ".md"));
    all.extend(files("policies", ".yaml"));
    texts(all)
}

fn schemas() -> Result<Vec<Text>, String> {
    texts([files("docs/schema", ".json"), files("deploy/crds", ".yaml")].concat())
}

/// String literals of the sources, tests aside: messages, log lines, help of metrics.
fn messages() -> Result<Vec<Text>, String> {
    let mut all = Vec::new();
    for file in sources(&root().join("src")) {
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        let test = |part: &str| part == "tests" || part.ends_with("tests.rs");
        if shown.split('/').any(test) {
            continue;
        }
        all.extend(literals(&read(&file)?).into_iter().map(|text| (shown.clone(), text)));
    }
    Ok(all)
}

/// The string literals of a source, but for those of test code.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    // What follows `#[cfg(test)]`: braces that are open in it.
    let (mut test, mut depth) = (false, 0_usize);
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("#[cfg(test)]") {
            test = true;
            "#[cfg(test)]".len()
        } else if let Some(length) = string(rest) {
            if !test && rest[..length].ends_with(['"', '#']) {
                found.push(unescaped(&rest[..length]));
            }
            length
        } else if c.is_alphabetic() || c == '_' {
            // So that the `r` or `b` at the end of a word begins no string.
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            length.max(1)
        } else {
            depth = match c {
                '{' if test => depth + 1,
                '}' if test => depth.saturating_sub(1),
                _ => depth,
            };
            test &= depth > 0 || !matches!(c, '}' | ';');
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

/// The text of a literal, with spaces for line breaks.
fn unescaped(literal: &str) -> String {
    let text =
        literal.trim_start_matches(['b', 'c']).trim_start_matches('r').trim_matches('#').trim_matches('"');
    text.replace("\\n", " ").replace("\\\n", "").replace("\\\"", "\"")
}

/// The scan itself must see what it is to see.
fn sees() -> Result<(), String> {
    for text in [
        "The author is told once.",
        "it tells\nthe operator",
        "mend the value",
        "kept for ever",
        "dropped without a word to clients",
        "a fault of ours",
        "this is no rule",
        "objects that are no pods",
        "where it is no pod itself, the template",
        "stays as it is;",
        "| what is known of it |",
        "says so. There it is no rule",
    ] {
        if odd(text).is_empty() {
            return Err(format!("no odd phrase is seen in {text:?}"));
        }
    }
    for text in [
        "there is no rule, and there are no pods",
        "is no longer read, and are no more than 8",
        "we recommend it",
        "`live::a_task_that_panics_is_told_and_serves_on`",
        "the answer is no. Rules follow",
        "untold, retells, amend, of hours",
        "for every pod",
    ] {
        if !odd(text).is_empty() {
            return Err(format!("seen in {text:?}: {:?}", odd(text)));
        }
    }
    let source = "// \"told\"\nconst A: &str = \"one \\\n    two\"; let b = r#\"th\"ree\"#; let c = '\"';\n\
                  #[cfg(test)]\nmod tests { fn a() { \"test\"; } }\nconst D: &str = \"four\";\n\
                  #[cfg(test)]\nmod more;\nfn e<'a>() { \"five\" }";
    let expected = ["one two", "th\"ree", "four", "five"].map(str::to_owned).to_vec();
    let seen: Vec<String> =
        literals(source).iter().map(|t| t.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    if seen == expected { Ok(()) } else { Err(format!("literals: {seen:?}")) }
}
