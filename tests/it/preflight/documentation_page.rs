//! docs/preflight.md: the part about the checks comes from their declarations, their texts and the broken trees.

use super::modelled_trees::{text, trees};
use crate::support::file_trees::{Tree, path};
use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::{golden, read, root, run};
use fabric_admission::preflight::Check;
use fabric_admission::preflight::checks::CHECKS;
use fabric_admission::rules::Page;

const MARK: &str =
    "<!-- Below: generated from src/engine/preflight/checks and tests/preflight/broken by `just docs`. -->\n";

pub(crate) fn add(suite: &mut Suite) {
    suite.add("preflight::page_is_current", || {
        let place = root().join("docs/preflight.md");
        let page = read(&place)?;
        let (written, _) = page.split_once(MARK).ok_or("docs/preflight.md has no mark")?;
        let mut page = format!("{written}{MARK}");
        let mut group = "";
        for check in CHECKS {
            if group != of(check) {
                group = of(check);
                page.push_str(&format!("\n## {group}\n"));
            }
            page.push_str(&section(check)?);
        }
        Ok(golden(&place, Some(&page))?)
    });
    suite.add("preflight::the_table_of_other_tools_is_what_preflight_prints", || Ok(table()?));
    for check in CHECKS {
        suite.add(format!("preflight::{}::texts", check.id), || texts(check));
    }
}

/// Each row of the table "What others see": the failures that the page names are all that the tree's output has.
fn table() -> Result<(), String> {
    let page = read(&root().join("docs/preflight.md"))?;
    let mut rows = 0;
    for row in page.lines().filter_map(|line| line.strip_prefix("| `pf")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let tree = format!("broken/pf{}", cells[0].split_once('`').ok_or(row)?.0);
        let printed = text(&Tree::listed(&tree)?)?;
        let failed: Vec<&str> =
            printed.lines().filter(|line| line.get(5..11) == Some("  fail")).map(|line| &line[..5]).collect();
        same(&tree, cells[1].to_owned(), failed.join(", "))?;
        rows += 1;
    }
    same("rows", 12, rows)
}

/// The title of the group that a check's id belongs to.
fn of(check: &Check) -> &'static str {
    match check.id.as_bytes()[2] {
        b'0' => "preflight itself (PF0xx)",
        b'1' => "Devices and ports (PF1xx)",
        b'2' => "Addresses and GIDs (PF2xx)",
        b'3' => "Limits and shared memory (PF3xx)",
        b'4' => "GPUs and GPUDirect (PF4xx)",
        b'5' => "Libraries of the image (PF5xx)",
        b'6' => "Environment (PF6xx)",
        _ => "Peers (PF7xx)",
    }
}

/// The broken trees of a check, the first of which is the example.
fn broken(check: &Check) -> Vec<String> {
    let start = format!("broken/{}_", check.id.to_lowercase());
    trees().into_iter().filter(|name| name.starts_with(&start)).collect()
}

fn section(check: &Check) -> Result<String, String> {
    let page = Page::parse(check.page)?;
    let trees = broken(check);
    let example = trees.first().ok_or_else(|| format!("{}: no broken tree", check.id))?;
    let listing = read(&path(example))?;
    let what = listing.lines().next().unwrap_or_default().trim_start_matches("# ");
    let printed = text(&Tree::listed(example)?)?;
    let mut lines = printed.lines().skip_while(|line| !line.starts_with(check.id));
    let mut message = lines.next().unwrap_or_default().to_owned();
    if let Some(fix) = lines.next().filter(|line| line.trim_start().starts_with("fix: ")) {
        message = format!("{message}\n{fix}");
    }
    let tests: Vec<String> = trees.iter().map(|name| format!("`preflight::tree::{name}`")).collect();
    Ok(format!(
        "\n### {}: {}\n\n**What it reads.** {}\n\n**Why it matters.** {}\n\n**Example.** {what}\n\n```\n{message}\n```\n\n**Fix.** {}\n\n\
         **Tests.** {}\n",
        check.id,
        page.summary,
        page.what,
        page.why,
        page.fix,
        tests.join(", ")
    ))
}

/// A page has all sections, and `explain` shows it.
fn texts(check: &Check) -> Outcome {
    let page = Page::parse(check.page)?;
    assert_eq!((page.id.as_str(), page.summary.as_str()), (check.id, check.title()));
    assert!(
        check.id.len() == 5 && page.summary.len() < 60 && !page.summary.ends_with('.'),
        "{}",
        page.summary
    );
    for part in [&page.what, &page.why, &page.fix] {
        assert!(part.ends_with('.') && !part.contains("  "), "{part}");
    }
    let ran = run(&["explain", &check.id.to_lowercase()], b"", root())?;
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains(check.id) && ran.stdout.contains("What it reads"), "{}", ran.stdout);
    Ok(())
}
