//! The table of variables of NCCL and its companions (`src/engine/nccl/variables.txt`): it says what the shared data says.

use crate::support::suite::{Need, Suite};
use crate::support::{golden, read, root, run};
use serde_json::Value;
use std::path::Path;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("table_of_nccl_variables::explain_a_variable", || Ok(explain()?));
    let Some(shared) = suite.need(Need::Shared, "nccl") else { return };
    suite.add("table_of_nccl_variables::table_is_current", move || {
        let table = table(&shared.join("data/nccl-env.json"))?;
        Ok(golden(&root().join("src/engine/nccl/variables.txt"), Some(&table))?)
    });
}

fn explain() -> Result<(), String> {
    for (name, code, words) in [
        (
            "NCCL_IB_TIMEOUT",
            0,
            &["NCCL_IB_TIMEOUT (read by nccl; int; about ib)", "1 to 31", "Default           20"][..],
        ),
        ("NCCL_LL_THRESHOLD", 0, &["no longer read", "Until             2.4.8", "NCCL_PROTO"]),
        ("NCCL_IB_HCA", 0, &["`^` excludes and `=` is exact", "NCCL_IB_HCAS"]),
        ("NCCL_SOCKET_INFAME", 2, &["did you mean NCCL_SOCKET_IFNAME?"]),
        ("NCCL_NOTHING_LIKE_IT", 2, &["unknown variable \"NCCL_NOTHING_LIKE_IT\""]),
    ] {
        let ran = run(&["explain", name], b"", root())?;
        let text = if code == 0 { &ran.stdout } else { &ran.stderr };
        if let Some(word) = words.iter().find(|w| !text.contains(**w)).filter(|_| ran.code == code) {
            return Err(format!("{name}: {word:?} is missing:\n{text}"));
        }
        if ran.code != code {
            return Err(format!("{name}: exit code {}: {text}", ran.code));
        }
    }
    Ok(())
}

fn table(data: &Path) -> Result<String, String> {
    let rows: Vec<Value> = serde_json::from_str(&read(data)?).map_err(|e| e.to_string())?;
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.sort_unstable();
    Ok(lines.iter().flat_map(|l| [l.as_str(), "\n"]).collect())
}

/// One variable: `NAME FAMILY TYPE RELEVANCE`, then `key=value`. What takes more than a word to say is left out.
fn line(row: &Value) -> String {
    let text = |key: &str| row[key].as_str();
    let status = match text("status") {
        Some("ignored-by-nccl") => Some("other"),
        Some("newer-than-snapshot") => Some("newer"),
        other => other,
    };
    let family = match text("family") {
        Some("not-read-by-nccl") => "none",
        other => other.unwrap_or("none"),
    };
    let word = |text: Option<&str>| text.filter(|t| !t.is_empty() && !t.contains(' ')).map(str::to_owned);
    let first = |text: Option<&str>| word(text.and_then(|t| t.split(' ').next()));
    let list = |key: &str| {
        let words = row[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        let words: Vec<&str> = words.filter(|w| !w.contains(' ')).collect();
        (!words.is_empty()).then(|| words.join(","))
    };
    let default = match text("default") {
        Some("unset") => None,
        Some(auto) if auto.starts_with("auto") => Some("auto".to_owned()),
        other => word(other),
    };
    let numeric = |word: &String| word == "0,1";
    let fields = [
        ("read", reading(text("parser")).map(str::to_owned)),
        ("values", list("values").filter(|w| !numeric(w))),
        ("range", range(text("range"))),
        ("default", default),
        ("since", first(text("since")).map(|s| s.replace("<=", "..")).filter(|s| s != "after")),
        ("until", word(text("until"))),
        ("status", word(status)),
        ("deprecated", word(text("deprecated_since"))),
        ("instead", first(text("replaced_by"))),
        ("ranks", word(text("ranks"))),
        ("misnames", list("common_misnames")),
    ];
    let mut out = text("name").unwrap_or("?").to_owned();
    for word in [family, text("type").unwrap_or("string"), text("relevance").unwrap_or("misc")] {
        out.push(' ');
        out.push_str(word);
    }
    for (key, value) in fields.into_iter().filter_map(|(k, v)| Some((k, v?))) {
        out.push_str(&format!(" {key}={value}"));
    }
    out
}

fn reading(parser: Option<&str>) -> Option<&'static str> {
    Some(match parser? {
        "strtoll" | "strtoull" => "number",
        "strtoll-eq1" | "strtol-eq1" => "one",
        "level" => "level",
        "icase-enum" => "word",
        "case-enum" => "exact-word",
        "if-list" => "names",
        "func-list" => "functions",
        "caret-list" => "words",
        "cidr" => "range",
        _ => return None,
    })
}

/// `least..most` out of `0-7`, `>=1`, `>0 bytes`; the rest of the text is for people.
fn range(text: Option<&str>) -> Option<String> {
    let text = text?;
    let number = |t: &str| {
        let digits: String = t.chars().take_while(char::is_ascii_digit).collect();
        (digits.len() < 10).then(|| digits.parse::<i64>().ok()).flatten()
    };
    if let Some(least) = text.strip_prefix(">=").and_then(number) {
        return Some(format!("{least}.."));
    }
    if let Some(above) = text.strip_prefix('>').and_then(number) {
        return Some(format!("{}..", above + 1));
    }
    let text = text.split(" (").next().unwrap_or(text);
    let bounds = text.split(" or ").last().and_then(|t| t.split_once('-'));
    let (least, most) = bounds.filter(|(least, _)| !least.is_empty())?;
    let whole = least.chars().all(|c| c.is_ascii_digit());
    let end = most.trim_start_matches(|c: char| c.is_ascii_digit());
    (whole && end.is_empty())
        .then(|| number(least).zip(number(most)))
        .flatten()
        .map(|(a, b)| format!("{a}..{b}"))
}
