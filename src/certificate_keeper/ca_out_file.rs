//! Writes the file of `--tls-ca-out`: the CAs to trust, as a file for clients without a webhook configuration. The file may be on a volume that
//! hangs, and must not delay certificates.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::oneshot;

/// Longest wait for a write; it happens once.
const DEADLINE: Duration = Duration::from_secs(5);

/// The file.
#[derive(Debug)]
pub(super) struct CaFile {
    path: PathBuf,
    /// Where the content is prepared.
    beside: PathBuf,
    deadline: Duration,
    /// A read or write that has not ended.
    hanging: Option<oneshot::Receiver<io::Result<()>>>,
}

impl CaFile {
    /// `identity` is our name among those that may share the directory.
    pub(super) fn new(path: PathBuf, identity: &str) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        // Names of files have 255 bytes at most.
        let identity: String = identity.chars().map(plain).take(80).collect();
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{identity}.{}.new", std::process::id()));
        Self { path, beside: beside.into(), deadline: DEADLINE, hanging: None }
    }

    /// Writes the CAs where the file has another content, by whomever.
    ///
    /// # Errors
    /// The file, and why it cannot be written.
    pub(super) async fn write_if_content_differs(&mut self, bundle: &str) -> Result<(), String> {
        let failed = |why: String| Err(format!("--tls-ca-out {}: {why}", self.path.display()));
        if let Some(hanging) = &mut self.hanging {
            match hanging.try_recv() {
                Err(oneshot::error::TryRecvError::Empty) => {
                    return failed("a read or write hangs; is the volume of the file available?".to_owned());
                }
                // Its content is outdated.
                Ok(_) | Err(oneshot::error::TryRecvError::Closed) => self.hanging = None,
            }
        }
        let (path, beside, text) = (self.path.clone(), self.beside.clone(), bundle.to_owned());
        let (sender, mut result) = oneshot::channel();
        // A thread of its own: the end of the process would wait for one of the runtime's.
        let started = std::thread::Builder::new().name("ca-out".to_owned()).spawn(move || {
            let done = if has(&path, &text) { Ok(()) } else { replace(&path, &beside, &text) };
            let _ = sender.send(done);
        });
        if let Err(error) = started {
            return failed(error.to_string());
        }
        match tokio::time::timeout(self.deadline, &mut result).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(error))) => failed(error.to_string()),
            Ok(Err(_)) => failed("the thread that writes the file has ended unexpectedly".to_owned()),
            Err(_) => {
                self.hanging = Some(result);
                failed(format!("a read or write took more than {} s", self.deadline.as_secs()))
            }
        }
    }
}

/// Whether the file is this text. A pipe is not opened: that would wait for its other end.
fn has(path: &Path, text: &str) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && usize::try_from(file.len()) == Ok(text.len()))
        && fs::read(path).is_ok_and(|content| content == text.as_bytes())
}

/// Replaces the file atomically: a reader sees the old content or the new.
fn replace(path: &Path, beside: &Path, text: &str) -> io::Result<()> {
    // A leftover of an earlier process, or a file of somebody else: never written through.
    let _ = fs::remove_file(beside);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(beside)?;
    let done = file.write_all(text.as_bytes()).and_then(|()| fs::rename(beside, path));
    if done.is_err() {
        let _ = fs::remove_file(beside);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("ca-out-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        directory
    }

    #[tokio::test]
    async fn the_file_is_replaced_as_a_whole_and_put_back() {
        let directory = directory("whole");
        let path = directory.join("ca.crt");
        let mut out = CaFile::new(path.clone(), "a/b");
        let mut other = CaFile::new(path.clone(), "c");
        assert_ne!(out.beside, other.beside);
        assert_eq!(out.beside.parent(), Some(directory.as_path()));
        out.write_if_content_differs("one").await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        let made = || fs::metadata(&path).unwrap().modified().unwrap();
        let before = made();
        out.write_if_content_differs("one").await.unwrap();
        other.write_if_content_differs("one").await.unwrap();
        assert_eq!(made(), before, "nothing to do");
        for content in ["by others", "eno"] {
            fs::write(&path, content).unwrap();
            out.write_if_content_differs("one").await.unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        }
        fs::remove_file(&path).unwrap();
        fs::write(&out.beside, "left by one that died").unwrap();
        out.write_if_content_differs("two").await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        let why = CaFile::new(path.join("x"), "a").write_if_content_differs("two").await.unwrap_err();
        assert!(why.starts_with("--tls-ca-out ") && why.contains("ca.crt"), "{why}");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[tokio::test]
    async fn a_write_that_hangs_is_reported_and_not_repeated() {
        let directory = directory("hangs");
        let path = directory.join("ca.crt");
        let mut out = CaFile::new(path.clone(), "a");
        let (end, hanging) = oneshot::channel();
        out.hanging = Some(hanging);
        assert!(out.write_if_content_differs("one").await.unwrap_err().contains("hangs"));
        assert!(!path.exists());
        end.send(Ok(())).unwrap();
        out.write_if_content_differs("one").await.unwrap();
        assert!(path.exists());
        out.deadline = Duration::ZERO;
        fs::remove_file(&path).unwrap();
        // Timers are polled after what they guard: a thread that is quick may still be in time.
        if let Err(why) = out.write_if_content_differs("two").await {
            assert!(why.contains("more than 0 s"), "{why}");
            assert!(out.hanging.is_some());
        }
        fs::remove_dir_all(&directory).unwrap();
    }
}
