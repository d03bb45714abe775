//! What the suites share. Here: running the binary, scratch directories, comparing with files.

pub(crate) mod api_pods;
pub(crate) mod client_authority;
pub(crate) mod complete_pods;
pub(crate) mod elf;
pub(crate) mod file_trees;
pub(crate) mod generated_cases;
pub(crate) mod generated_documents;
pub(crate) mod generated_nodes;
pub(crate) mod generated_placement;
pub(crate) mod generated_world;
pub(crate) mod helm;
pub(crate) mod in_the_pod;
pub(crate) mod jobset_with_long_decision;
pub(crate) mod many_profiles_and_nodes;
pub(crate) mod monitor;
pub(crate) mod peak_memory;
pub(crate) mod round_trip;
pub(crate) mod run_property;
pub(crate) mod scripted_api_server;
pub(crate) mod server;
pub(crate) mod server_in_process;
pub(crate) mod suite;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The binary under test: the one that cargo built with the tests, or that of `FABRIC_ADMISSION_BINARY`, so that the same
/// tests can run with the binary of a release.
pub(crate) fn binary() -> OsString {
    std::env::var_os("FABRIC_ADMISSION_BINARY")
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_fabric-admission").into())
}

/// Whether `binary` is one that could be shipped, without the options that only tests use.
pub(crate) fn release_under_test() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("FABRIC_ADMISSION_BINARY").is_some()
}

/// What a run of the binary left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the binary. Its output must be UTF-8, and it must not end by a signal.
pub(crate) fn run<S: AsRef<str>>(args: &[S], stdin: &[u8], cwd: &Path) -> Result<Ran, String> {
    let mut child = Command::new(binary())
        .args(args.iter().map(AsRef::as_ref))
        .current_dir(cwd)
        .env_remove("CLICOLOR_FORCE")
        .env("COLUMNS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot start the binary: {e}"))?;
    let mut pipe = child.stdin.take().ok_or("no pipe to the binary")?;
    let output = std::thread::scope(|scope| {
        // A binary that does not read its input closes the pipe; that is not a fault.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output()
    })
    .map_err(|e| format!("the binary: {e}"))?;
    let text = |bytes| String::from_utf8(bytes).map_err(|e| format!("output is not UTF-8: {e}"));
    let stderr = text(output.stderr)?;
    let code = output.status.code().ok_or_else(|| format!("ended by a signal: {stderr}"))?;
    if code == 101 || stderr.contains("panicked") {
        return Err(format!("panic: {stderr}"));
    }
    Ok(Ran { code, stdout: text(output.stdout)?, stderr })
}

/// A directory of its own, removed in the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self, String> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("fabric-admission-it-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), String> {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.0)).map_err(|e| e.to_string())?;
        fs::write(&path, content).map_err(|e| format!("{}: {e}", path.display()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left over in the temporary directory fails no test.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Names in a directory, sorted, hidden ones left out.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|n| !n.starts_with('.'))
        .collect();
    names.sort();
    names
}

/// Reads a file as text.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Whether generated files are to be written.
pub(crate) fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some_and(|v| !v.is_empty() && v != "0")
}

/// Compares with a file of the repository, or writes it. `None` stands for no file.
pub(crate) fn golden(path: &Path, actual: Option<&str>) -> Result<(), String> {
    let expected = fs::read_to_string(path).ok();
    if expected.as_deref() == actual {
        return Ok(());
    }
    if updating() {
        let parent = path.parent().ok_or("no parent")?;
        let done = match actual {
            Some(text) => fs::create_dir_all(parent).and_then(|()| fs::write(path, text)),
            None => fs::remove_file(path),
        };
        return done.map_err(|e| format!("{}: {e}", path.display()));
    }
    let (expected, actual) = (expected.unwrap_or_default(), actual.unwrap_or_default());
    let lines = InternedInput::new(expected.as_str(), actual);
    let mut diff = Diff::compute(Algorithm::Histogram, &lines);
    diff.postprocess_lines(&lines);
    let diff = diff
        .unified_diff(&BasicLineDiffPrinter(&lines.interner), UnifiedDiffConfig::default(), &lines)
        .to_string();
    Err(format!("{} differs (UPDATE_GOLDEN=1 rewrites):\n{diff}", path.display()))
}
