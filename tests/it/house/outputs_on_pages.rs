//! What the README and the book show as the output of a command is what the command prints.
//!
//! A block is marked by a comment before it: `<!-- output: ARGUMENTS -->`, or `<!-- output, first N lines: ARGUMENTS -->`. A
//! block after `<!-- file: PATH -->` is a file of the repository. `UPDATE_GOLDEN=1` writes the blocks again.

use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{names, read, root, run};

const MARK: &str = "<!-- output";
const FILE: &str = "<!-- file: ";

/// Every page of the book.
fn pages() -> Vec<String> {
    let of = |directory: &str| {
        let pages = names(&root().join(directory)).into_iter().filter(|n| n.ends_with(".md"));
        pages.map(|name| format!("{directory}/{name}")).collect::<Vec<_>>()
    };
    [vec!["README.md".to_owned()], of("docs"), of("docs/how-to")].concat()
}

pub(crate) fn add(suite: &mut Suite) {
    for page in pages() {
        suite.add(format!("outputs_on_pages::{page}"), move || Ok(check(&page)?));
    }
    suite.add("outputs_on_pages::the_readme_has_some", || {
        let marks = read(&root().join("README.md"))?.matches(MARK).count();
        if marks >= 2 { Ok(()) } else { Err(format!("{marks} marked blocks").into()) }
    });
}

fn check(page: &str) -> Result<(), String> {
    let text = read(&root().join(page))?;
    let mut written = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        written.push_str(line);
        written.push('\n');
        let file = line.strip_prefix(FILE).and_then(|rest| rest.strip_suffix(" -->"));
        let shown = match (file, command(line)?) {
            (Some(file), _) => read(&root().join(file))?,
            (None, Some(command)) => printed(&command)?,
            (None, None) => continue,
        };
        let fence = lines.next().filter(|l| l.starts_with("```")).ok_or("no fenced block after a mark")?;
        written.push_str(fence);
        written.push('\n');
        lines.by_ref().take_while(|l| !l.starts_with("```")).for_each(drop);
        written.push_str(&shown);
        written.push_str("```\n");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return std::fs::write(root().join(page), written).map_err(|e| e.to_string());
    }
    same(&format!("outputs in {page}"), text, written)
}

/// Arguments of a marked command, and how many lines of its output are shown.
struct Shown {
    arguments: Vec<String>,
    lines: usize,
}

fn command(line: &str) -> Result<Option<Shown>, String> {
    let Some(rest) = line.strip_prefix(MARK) else { return Ok(None) };
    let rest = rest.strip_suffix("-->").ok_or_else(|| format!("{line}: not closed"))?;
    let (how, arguments) = rest.split_once(':').ok_or_else(|| format!("{line}: no command"))?;
    let lines = match how.strip_prefix(", first ").and_then(|h| h.strip_suffix(" lines")) {
        Some(number) => number.parse().map_err(|e| format!("{line}: {e}"))?,
        None if how.is_empty() => usize::MAX,
        None => return Err(format!("{line}: expected \"output\" or \"output, first N lines\"")),
    };
    let arguments = arguments.split_whitespace().map(str::to_owned).collect();
    Ok(Some(Shown { arguments, lines }))
}

fn printed(command: &Shown) -> Result<String, String> {
    let ran = run(&command.arguments, b"", root())?;
    if !ran.stderr.is_empty() {
        return Err(format!("{:?} on stderr: {}", command.arguments, ran.stderr));
    }
    let all = ran.stdout.lines();
    let mut shown: String = all.take(command.lines).flat_map(|line| [line, "\n"]).collect();
    if command.lines < ran.stdout.lines().count() {
        shown.push_str("…\n");
    }
    Ok(shown)
}
