//! `--tls-ca-out`: the CAs to trust, as a file for whoever calls us without a configuration.

use std::path::{Path, PathBuf};

/// The file, and what it has.
#[derive(Debug)]
pub(super) struct CaOut {
    path: PathBuf,
    written: Option<String>,
}

impl CaOut {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, written: None }
    }

    /// Writes the CAs where they are others than before.
    ///
    /// # Errors
    /// The file, and why it cannot be written.
    pub(super) async fn write(&mut self, bundle: &str) -> Result<(), String> {
        if self.written.as_deref() == Some(bundle) {
            return Ok(());
        }
        let (path, text) = (self.path.clone(), bundle.to_owned());
        let done = tokio::task::spawn_blocking(move || replace(&path, &text)).await;
        done.map_err(|error| error.to_string())
            .and_then(|done| done.map_err(|error| error.to_string()))
            .map_err(|error| format!("--tls-ca-out {}: {error}", self.path.display()))?;
        self.written = Some(bundle.to_owned());
        Ok(())
    }
}

/// Whoever reads sees the old content or the new.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_file_is_replaced_as_a_whole_and_only_when_it_changes() {
        let directory = std::env::temp_dir().join(format!("ca-out-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("ca.crt");
        let mut out = CaOut::new(path.clone());
        out.write("one").await.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        std::fs::write(&path, "by others").unwrap();
        out.write("one").await.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "by others");
        out.write("two").await.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
        let why = CaOut::new(path.join("x")).write("two").await.unwrap_err();
        assert!(why.starts_with("--tls-ca-out ") && why.contains("ca.crt"), "{why}");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
