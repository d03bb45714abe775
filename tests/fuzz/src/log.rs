//! The reader of NCCL's logs.

use fabric_admission::nccl_log::{Lines, Log, Place, findings_of_log};
use fabric_admission::report::verify_log::{json::VerifyLogDocument, text};

/// The whole log in chunks of `size` bytes, as JSON.
fn json(data: &[u8], size: usize) -> String {
    let (mut lines, mut log, mut line) = (Lines::default(), Log::default(), 0);
    for chunk in data.chunks(size) {
        lines.push(chunk, |cut| {
            line += u64::from(cut.begins_line);
            log.add_line(cut, Place { input: 0, line });
        });
    }
    lines.end_with_unfinished_line(|cut| {
        line += u64::from(cut.begins_line);
        log.add_line(cut, Place { input: 0, line });
    });
    // A log that shows no use of the network is not a pass.
    let found = findings_of_log(&log, &[]);
    let crosses = log.communicators().iter().any(|c| log.does_use_network(c));
    assert!(crosses || found.iter().any(|f| f.kind.is_unknown()), "a pass of nothing");
    let document = VerifyLogDocument::judge_log_and_group_ranks(&log, &["log".to_owned()], &[], Vec::new());
    let mut shown = Vec::new();
    text::write(&mut shown, &document, 80).unwrap();
    serde_json::to_string(&document).unwrap()
}

/// No panic; the chunks of the reader change nothing.
pub fn nccl_log(data: &[u8]) {
    let whole = json(data, usize::MAX);
    assert_eq!(whole, json(data, 7));
}
