//! Where the instructions of a review go: the counts of callgrind by function, for one answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Answers that are counted.
const TIMES: u64 = 100;
/// Functions that are shown.
const SHOWN: usize = 40;

/// Prints two tables: what each function takes with its callees, and without.
pub(crate) fn print(review: &str) -> Result<(), String> {
    let file = std::env::temp_dir().join(format!("fabric-admission-callgrind-{}", std::process::id()));
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*Review::answer*"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(std::env::current_exe().map_err(|e| e.to_string())?)
        .args(["once", review, &TIMES.to_string()])
        .output();
    let ran = ran.map_err(|e| format!("valgrind: {e}"))?;
    if !ran.status.success() {
        return Err(format!("{review}: {}", String::from_utf8_lossy(&ran.stderr)));
    }
    for (inclusive, what) in [("yes", "with the functions that it calls"), ("no", "by itself")] {
        println!("\n{review}: instructions of a function {what}");
        for (function, count) in counts(&file, inclusive)?.into_iter().take(SHOWN) {
            println!("{count:>9}  {function}");
        }
    }
    std::fs::remove_file(file).map_err(|e| e.to_string())
}

/// Functions and their instructions per answer, the greatest first.
fn counts(file: &Path, inclusive: &str) -> Result<Vec<(String, u64)>, String> {
    let annotated = Command::new("callgrind_annotate")
        .args(["--threshold=100", "--auto=no", &format!("--inclusive={inclusive}")])
        .arg(file)
        .output()
        .map_err(|e| format!("callgrind_annotate: {e}"))?;
    let mut functions: BTreeMap<String, u64> = BTreeMap::new();
    // 34,942,000 (21.3%)  src/engine/json/cursor_in_text.rs:fabric_admission_engine::json::cursor_in_text::Cursor::plain_text [/path/guard]
    for line in String::from_utf8_lossy(&annotated.stdout).lines() {
        let Some((count, rest)) = line.trim_start().split_once(" (") else { continue };
        let Ok(count) = count.replace(',', "").parse::<u64>() else { continue };
        let Some((_, place)) = rest.split_once(")  ") else { continue };
        let place = place.rsplit_once(" [").map_or(place, |(place, _)| place);
        let function = place.split_once(':').map_or(place, |(_, function)| function);
        let function: String = function.chars().take(120).collect();
        *functions.entry(function).or_default() += count / TIMES;
    }
    let mut functions: Vec<_> = functions.into_iter().filter(|(_, count)| *count > 0).collect();
    functions.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(functions)
}
