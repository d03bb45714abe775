//! Opens files of directories that others may write to. A pipe in place of a file would hold up the call until somebody
//! opens its other end, and a look at the path before the call does not help: the pipe may come in between.

use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::io;
use std::path::Path;

/// What to do with a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLink {
    /// Open the file that the path leads to.
    Follow,
    /// Fail if the last part of the path is a link.
    Refuse,
}

/// How every file is opened: without waiting for the other end of a pipe.
const FLAGS: OFlags = OFlags::NONBLOCK.union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// Opens a regular file for reading, without waiting.
///
/// # Errors
/// Those of the system, and anything that is not a regular file.
pub fn open_regular_file(path: &Path, link: LastLink) -> io::Result<File> {
    let follow = if link == LastLink::Refuse { OFlags::NOFOLLOW } else { OFlags::empty() };
    only_regular(open(path, OFlags::RDONLY | FLAGS | follow, Mode::empty())?.into())
}

/// Opens a regular file for writing, without waiting, and empties it. Creates it for one user to write and every user to read.
///
/// # Errors
/// Those of the system, and anything that is not a regular file.
pub fn create_or_empty_regular_file(path: &Path) -> io::Result<File> {
    let file = match open(path, OFlags::WRONLY | OFlags::CREATE | FLAGS, Mode::from_raw_mode(0o644)) {
        // A pipe that nobody reads.
        Err(rustix::io::Errno::NXIO) => return Err(not_regular()),
        opened => only_regular(opened?.into())?,
    };
    file.set_len(0)?;
    Ok(file)
}

fn only_regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::other("is not a regular file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, mknodat};
    use std::io::{Read, Write};

    #[test]
    fn nothing_waits_for_the_other_end_of_a_pipe() {
        let folder = std::env::temp_dir().join(format!("open-regular-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, pipe, link) = (folder.join("file"), folder.join("pipe"), folder.join("link"));
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        create_or_empty_regular_file(&file).unwrap().write_all(b"a").unwrap();
        let mut text = String::new();
        open_regular_file(&link, LastLink::Follow).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "a");
        assert!(open_regular_file(&link, LastLink::Refuse).is_err());
        for refused in [&pipe, &folder] {
            let error = open_regular_file(refused, LastLink::Refuse).unwrap_err();
            assert_eq!(error.to_string(), "is not a regular file");
        }
        assert_eq!(create_or_empty_regular_file(&pipe).unwrap_err().to_string(), "is not a regular file");
        let reader = open(&pipe, OFlags::RDONLY | FLAGS, Mode::empty()).unwrap();
        assert_eq!(create_or_empty_regular_file(&pipe).unwrap_err().to_string(), "is not a regular file");
        drop(reader);
        assert_eq!(create_or_empty_regular_file(&link).unwrap().metadata().unwrap().len(), 0);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
