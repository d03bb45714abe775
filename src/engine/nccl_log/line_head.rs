//! The head of a line: what NCCL and launchers write before the message.
//!
//! `host:pid:tid [device] NCCL INFO message`, and for warnings `host:pid:tid [device] file:line (function) NCCL WARN
//! message` (NVIDIA/nccl src/debug.cc, 2.18 to 2.30). Before it may stand a timestamp, and what a launcher writes:
//! `[1,3]<stdout>:` (Open MPI), `[default3]:` (torchrun), `3: ` (srun), `[pod/a/b] ` (kubectl --prefix).

use memchr::memmem;

/// How serious NCCL calls a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `NCCL INFO`, and `NCCL ATTN` of 2.32.
    Info,
    /// `NCCL WARN`.
    Warn,
}

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer<'a> {
    /// Host name; in a pod, the pod's name.
    pub host: &'a str,
    /// Process.
    pub pid: u32,
}

/// A line of NCCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// How serious the line is.
    pub level: Level,
    /// The process; `None` where the line does not name one.
    pub writer: Option<Writer<'a>>,
    /// The CUDA device of the thread.
    pub device: Option<i16>,
    /// The text after the head.
    pub message: &'a str,
}

/// What a line of a log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// NCCL wrote it.
    Nccl(Head<'a>),
    /// Two lines of NCCL in one: two processes wrote at once, so neither text is certain.
    Mixed,
    /// Another program wrote it.
    Other,
}

/// Reads the head of a line.
#[must_use]
pub fn split_head_from_message(text: &str) -> Line<'_> {
    let Some((at, level)) = find_level(text) else { return Line::Other };
    let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + MARK..).unwrap_or_default());
    if find_level(after).is_some() {
        return Line::Mixed;
    }
    // The last words before the mark: process, device, and for warnings file and function.
    let mut device = None;
    let mut writer = None;
    for word in before.split_ascii_whitespace().rev().take(WORDS) {
        if device.is_none() {
            device = word.strip_prefix('[').and_then(|w| w.strip_suffix(']')).and_then(|w| w.parse().ok());
        } else {
            writer = parse_host_and_process(word);
            break;
        }
    }
    Line::Nccl(Head { level, writer, device, message: message(after) })
}

/// Bytes of `NCCL INFO `.
const MARK: usize = 10;
/// Words before the mark that can belong to the head; a function's signature can have spaces.
const WORDS: usize = 12;

/// Place of the first mark, and its level.
fn find_level(text: &str) -> Option<(usize, Level)> {
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, b"NCCL ").find_map(|at| {
        let level = match bytes.get(at + 5..at + MARK)? {
            b"INFO " | b"ATTN " => Level::Info,
            b"WARN " => Level::Warn,
            _ => return None,
        };
        Some((at, level))
    })
}

/// `host:pid:tid`, with what a launcher writes before it without a space.
fn parse_host_and_process(word: &str) -> Option<Writer<'_>> {
    let mut parts = word.rsplitn(3, ':');
    let _thread: u32 = parts.next()?.parse().ok()?;
    let pid = parts.next()?.parse().ok()?;
    let before = parts.next()?;
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let host = before.rsplit(|c: char| !named(c)).next().filter(|host| !host.is_empty())?;
    Some(Writer { host, pid })
}

/// The message without what follows it in a line of Docker's JSON log, and without colours.
fn message(text: &str) -> &str {
    let text = text.find("\\n\",\"").map_or(text, |at| text.get(..at).unwrap_or(text));
    let text = text.trim_end();
    text.strip_suffix("\u{1b}[0m").unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head<'_> {
        match split_head_from_message(text) {
            Line::Nccl(head) => head,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn launchers_and_timestamps_stand_before_the_process() {
        for text in [
            "trainer-0:71:903 [3] NCCL INFO Using network IB",
            "[1,3]<stdout>:trainer-0:71:903 [3] NCCL INFO Using network IB",
            "[1,3]<stderr>: trainer-0:71:903 [3] NCCL INFO Using network IB",
            "[default3]:trainer-0:71:903 [3] NCCL INFO Using network IB",
            "[rank3]: trainer-0:71:903 [3] NCCL INFO Using network IB",
            "3: trainer-0:71:903 [3] NCCL INFO Using network IB",
            "[pod/trainer-0/main] trainer-0:71:903 [3] NCCL INFO Using network IB",
            "trainer-0 main trainer-0:71:903 [3] NCCL INFO Using network IB",
            "2026-01-02T03:04:05.678901234Z stdout F trainer-0:71:903 [3] NCCL INFO Using network IB",
            "[2026-01-02 03:04:05] trainer-0:71:903 [3] NCCL INFO Using network IB\r",
            "\u{1b}[36m(Worker pid=71, ip=10.0.0.1)\u{1b}[0m trainer-0:71:903 [3] NCCL INFO Using network IB\u{1b}[0m",
            "{\"log\":\"trainer-0:71:903 [3] NCCL INFO Using network IB\\n\",\"stream\":\"stdout\"}",
            "trainer-0:71:903 [3] NCCL ATTN Using network IB",
        ] {
            let head = head(text);
            assert_eq!(head.writer, Some(Writer { host: "trainer-0", pid: 71 }), "{text}");
            assert_eq!((head.device, head.message), (Some(3), "Using network IB"), "{text}");
        }
    }

    #[test]
    fn warnings_name_a_file_and_newer_ones_a_function() {
        for text in [
            "h.example:1:2 [0] misc/ibvwrap.cc:206 NCCL WARN text",
            "h.example:1:2 [0] misc/ibvwrap.cc:206 (wrap_ibv_modify_qp) NCCL WARN text",
            "h.example:1:2 [0] nccl_net_ofi_create_plugin:335 NCCL WARN text",
            "[2026-01-02 03:04:05] h.example:1:2 [0] a.cc:1 NCCL WARN text",
        ] {
            let head = head(text);
            assert_eq!(head.writer, Some(Writer { host: "h.example", pid: 1 }), "{text}");
            assert_eq!((head.level, head.device, head.message), (Level::Warn, Some(0), "text"), "{text}");
        }
    }

    #[test]
    fn a_line_without_a_process_is_still_a_line_of_nccl() {
        let head = head(" [0] NCCL INFO text");
        assert_eq!((head.writer, head.device), (None, Some(0)));
        let bare = self::head("NCCL INFO text");
        assert_eq!((bare.writer, bare.device, bare.message), (None, None, "text"));
    }

    #[test]
    fn two_lines_in_one_are_mixed_and_other_lines_are_not_of_nccl() {
        assert_eq!(
            split_head_from_message("a:1:2 [0] NCCL INFO Channb:3:4 [1] NCCL INFO Using network IB"),
            Line::Mixed
        );
        for other in [
            "",
            "step 1 loss 2.3",
            "NCCL version 2.27.7+cuda12.9",
            "NCCL INFO",
            "NCCL  INFO x",
            "NCCL DEBUG x",
        ] {
            assert_eq!(split_head_from_message(other), Line::Other, "{other}");
        }
    }
}
