//! `verify-log`: reads logs of NCCL, and reports what `crate::nccl_log` finds in them.

use super::Exit;
use super::fail_on_flag::FailOn;
use super::terminal_width;
use crate::cli::input::links_in_directories::why_link_of_repository_is_refused;
use crate::cli::lines_on_stderr::write_error;
use crate::cli::pretty_json::write_pretty_json;
use crate::nccl_log::{Lines, Log, Place};
use crate::report::UnreadInput;
use crate::report::ci::{Annotation, CiFormat, GitHub, text_without_runner_commands};
use crate::report::verify_log::json::VerifyLogDocument;
use crate::report::verify_log::text;
use crate::text::escaped_and_cut;
use clap::ValueEnum;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes of one read.
const CHUNK: usize = 256 * 1024;

/// Longest line (bytes). A device such as /dev/zero never ends a line.
const MAX_LINE_BYTES: usize = 64 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Log with the output of NCCL, from one or more ranks; standard input if FILE is `-` or missing
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    output: Format,
    /// Name of the expected transport in the log, such as IB, Libfabric or Socket; repeatable; default: every transport
    /// except TCP
    #[arg(long, value_name = "NAME")]
    expect: Vec<String>,
    /// Lowest severity of a finding for which the command exits with code 1
    #[arg(long, value_enum, default_value_t = FailOn::DEFAULT)]
    fail_on: FailOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// One JSON document, schema fabric-admission.dev/verify-log/v1
    Json,
    /// Workflow commands of GitHub: annotations with file and line
    Github,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let stdin = [PathBuf::from("-")];
    let files = if arguments.files.is_empty() { &stdin[..] } else { &arguments.files };
    if arguments.files.is_empty() && io::stdin().is_terminal() {
        write_error(err, format_args!("no FILE: name a log, or pipe one to standard input"))?;
        return Ok(Exit::Usage);
    }
    let mut log = Log::default();
    let mut errors = Vec::new();
    for (input, file) in files.iter().enumerate() {
        if let Err(error) = read_input_into_log(&mut log, input, file) {
            let file = file.display().to_string();
            write_error(err, format_args!("{}: {error}", escaped_and_cut(&file, 400)))?;
            errors.push(UnreadInput { file: file.into(), line: 1, column: 1, message: error.to_string() });
        }
    }
    let names: Vec<String> = files.iter().map(|file| name(file)).collect();
    let unreadable = !errors.is_empty();
    let document = VerifyLogDocument::judge_log_and_group_ranks(&log, &names, &arguments.expect, errors);
    match arguments.output {
        Format::Text => text::write(out, &document, terminal_width::width())?,
        Format::Json => {
            write_pretty_json(out, &document)?;
        }
        Format::Github => write_github(out, &document)?,
    }
    Ok(Exit::of_worst_finding(unreadable, document.worst_severity(), arguments.fail_on))
}

fn name(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

/// Reads one input to its end, or to the first error: the lines before it count.
fn read_input_into_log(log: &mut Log, input: usize, file: &Path) -> io::Result<()> {
    let mut source: Box<dyn Read> =
        if file == Path::new("-") { Box::new(io::stdin().lock()) } else { Box::new(open(file)?) };
    let mut lines = Lines::default();
    let (mut line, mut unfinished) = (0, 0_usize);
    let mut buffer = vec![0; CHUNK];
    loop {
        let length = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let chunk = buffer.get(..length).unwrap_or_default();
        lines.push(chunk, |cut| {
            line += u64::from(cut.begins_line);
            log.add_line(cut, Place { input, line });
        });
        unfinished = match memchr::memrchr(b'\n', chunk) {
            Some(end) => length - end - 1,
            None => unfinished + length,
        };
        if unfinished > MAX_LINE_BYTES {
            let message = format!(
                "line {} of this log has more than {} MiB; name a log of NCCL",
                line + 1,
                MAX_LINE_BYTES >> 20
            );
            return Err(io::Error::other(message));
        }
    }
    lines.end_with_unfinished_line(|cut| {
        line += u64::from(cut.begins_line);
        log.add_line(cut, Place { input, line });
    });
    Ok(())
}

fn open(file: &Path) -> io::Result<File> {
    // A change of others may replace a log of a repository by a link to a file of the machine.
    if let Some(refused) = why_link_of_repository_is_refused(file) {
        return Err(io::Error::other(refused));
    }
    let opened = File::open(file)?;
    if opened.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory; name the log files in it"));
    }
    Ok(opened)
}

/// Annotations, then the last lines of the text.
fn write_github(out: &mut dyn Write, document: &VerifyLogDocument<'_>) -> io::Result<()> {
    let mut github = GitHub::default();
    for finding in &document.findings {
        let file = finding.file.as_deref().unwrap_or_default();
        let line = finding.line.unwrap_or(1);
        let of = finding.communicator.as_deref().map(|id| format!("communicator {id}: ")).unwrap_or_default();
        let annotation = Annotation {
            severity: finding.severity,
            file,
            place: format!("line={line}"),
            title: &format!("verify-log {}", finding.kind),
        };
        let plain = format!("{} {}:{line}", finding.kind, escaped_and_cut(file, 400));
        let message = escaped_and_cut(&finding.message, 2000);
        github.write_annotation_or_plain_line(
            out,
            &annotation,
            &plain,
            &format!("{of}{message}\nfix: {}", finding.fix),
        )?;
    }
    github.end(out, &document.errors)?;
    let mut summary = Vec::new();
    text::write_summary(&mut summary, document)?;
    let summary = anstream::adapter::strip_bytes(&summary).into_vec();
    let summary = String::from_utf8_lossy(&summary);
    summary.lines().try_for_each(|line| writeln!(out, "{}", text_without_runner_commands(line)))
}
