//! Bounded reads under a root directory. A pipe, a device or an endless file cannot hold them up.

use crate::rdma::{Reading, Unreadable};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Longest file of sysfs that is read (bytes); the kernel gives at most a page.
pub(super) const MAX_SYSFS_BYTES: usize = 4 << 10;
/// Longest other file that is read (bytes).
pub(super) const MAX_OTHER_BYTES: usize = 64 << 10;
/// Most entries of a directory that are read.
pub(super) const MAX_ENTRIES: usize = 4096;
/// The same of the RDMA devices of one interface. There is one, seldom two.
const MAX_DEVICES_OF_INTERFACE: usize = 64;

const OUTSIDE: Unreadable = Unreadable::NotRead("the symbolic link points outside the directory of --root");

/// The root of the tree that is read: `/` in a pod, a directory in a test or for a recorded tree.
#[derive(Debug, Clone)]
pub struct Root {
    path: PathBuf,
}

impl Root {
    /// A root directory.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Whether it is the root of the container, so that the kernel's answers are about the same tree.
    #[must_use]
    pub fn is_container(&self) -> bool {
        self.path == Path::new("/")
    }

    /// Where a path of the container is.
    #[must_use]
    pub fn path_under_root(&self, path: &str) -> PathBuf {
        self.path.join(path.trim_start_matches('/'))
    }

    /// The root without links. It may be a directory that has just been created.
    fn without_links(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// Where a file is read: below the root, also after links. A link of a recorded tree could lead to a file of the machine that
    /// reads the tree.
    fn path_to_read(&self, path: &str) -> Reading<PathBuf> {
        let joined = self.path_under_root(path);
        if self.is_container() {
            return Ok(joined);
        }
        match fs::canonicalize(&joined) {
            Ok(real) if real.starts_with(self.without_links()) => Ok(real),
            Ok(_) => Err(OUTSIDE),
            // Whether the target exists depends on the machine that reads the tree.
            Err(_) if fs::read_link(&joined).is_ok_and(|target| target.is_absolute()) => Err(OUTSIDE),
            Err(error) => Err(reason(&error)),
        }
    }

    /// Where a file of the container is written: below the root, also after `..` and links.
    ///
    /// # Errors
    /// The path leads out of the root. `/` has nothing outside, but a path with `..` is a mistake there too.
    pub fn path_to_write(&self, path: &str) -> Result<PathBuf, String> {
        let joined = self.path_under_root(path);
        if Path::new(path).components().any(|part| part == Component::ParentDir) {
            return Err(format!("{path}: the path contains `..`; write the path without `..`"));
        }
        if self.is_container() {
            return Ok(joined);
        }
        // The nearest part that exists; a link to nothing would create its target.
        let below_root = joined.ancestors().take_while(|part| part.starts_with(&self.path));
        let mut existing = below_root.filter(|part| fs::symlink_metadata(part).is_ok());
        match existing.next().map(fs::canonicalize) {
            Some(Ok(real)) if !real.starts_with(self.without_links()) => {
                Err(format!("{path}: a symbolic link leads out of the directory of --root; remove the link"))
            }
            Some(Err(_)) => Err(format!("{path}: a symbolic link leads to no file; remove the link")),
            _ => Ok(joined.clone()),
        }
    }

    /// Reads a file.
    pub(super) fn read_at_most(&self, path: &str, most: usize) -> Reading<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = open(self.path_to_read(path)?, flags, Mode::empty()).map_err(errno)?;
        let kind = fstat(&file).map(|stat| FileType::from_raw_mode(stat.st_mode)).map_err(errno)?;
        if kind != FileType::RegularFile {
            return Err(Unreadable::NotAFile);
        }
        let mut content = Vec::new();
        fs::File::from(file)
            .take(most as u64 + 1)
            .read_to_end(&mut content)
            .map_err(|error| reason(&error))?;
        if content.len() > most { Err(Unreadable::TooLong(most)) } else { Ok(content) }
    }

    /// Size of a file that can be read (bytes).
    pub(super) fn size(&self, path: &str) -> Reading<u64> {
        if !path.starts_with('/') {
            return Err(Unreadable::NotRead("the path is not absolute"));
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = open(self.path_to_read(path)?, flags, Mode::empty()).map_err(errno)?;
        let found = fstat(file).map_err(errno)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Ok(u64::try_from(found.st_size).unwrap_or(0)),
            _ => Err(Unreadable::NotAFile),
        }
    }

    /// Reads a file of sysfs, and its value.
    pub(super) fn read_and_parse<T>(&self, path: &str, parse: fn(&[u8]) -> Reading<T>) -> Reading<T> {
        parse(&self.read_at_most(path, MAX_SYSFS_BYTES)?)
    }

    /// Names in a directory, sorted; numbers in names count as numbers.
    pub(super) fn names_in_directory(&self, path: &str) -> Reading<Vec<String>> {
        let too_many = Unreadable::NotRead("the directory has more than 4096 entries");
        self.names_at_most(path, MAX_ENTRIES, too_many)
    }

    /// The same of the RDMA devices of one interface.
    pub(super) fn names_in_directory_of_interface(&self, path: &str) -> Reading<Vec<String>> {
        let too_many = Unreadable::NotRead("the directory has more than 64 entries");
        self.names_at_most(path, MAX_DEVICES_OF_INTERFACE, too_many)
    }

    /// Which entries of a directory have numbers from 1 to `most`. Others are not looked at: a device of a switch has a port for
    /// each virtual function, and a tree of files may have any number.
    pub(super) fn numbers_in_directory(&self, path: &str, most: u32) -> Reading<Vec<u32>> {
        fs::read_dir(self.path_to_read(path)?).map_err(|error| reason(&error))?;
        Ok((1..=most).filter(|number| self.exists(&format!("{path}/{number}"))).collect())
    }

    fn names_at_most(&self, path: &str, most: usize, too_many: Unreadable) -> Reading<Vec<String>> {
        let entries = fs::read_dir(self.path_to_read(path)?).map_err(|error| reason(&error))?;
        let mut names = Vec::new();
        for (at, entry) in entries.enumerate() {
            if at == most {
                return Err(too_many);
            }
            let name = entry.map_err(|error| reason(&error))?.file_name();
            names.extend(name.to_str().map(str::to_owned));
        }
        names.sort_by_cached_key(|name| natural(name));
        Ok(names)
    }

    /// Whether there is a regular file at a path.
    pub(super) fn is_file(&self, path: &str) -> Reading<bool> {
        match self.path_to_read(path) {
            Ok(path) => Ok(path.is_file()),
            Err(OUTSIDE) => Err(OUTSIDE),
            Err(_) => Ok(false),
        }
    }

    /// Whether a path exists.
    pub(super) fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.path_under_root(path)).is_ok()
    }

    /// Whether a file can be opened for reading and writing, as programs open device files.
    pub(super) fn can_be_opened(&self, path: &str) -> Reading<()> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        open(self.path_to_read(path)?, flags, Mode::empty()).map(drop).map_err(errno)
    }

    /// The path without links, as a path of the container. A link that leads out of the root is not followed.
    pub(super) fn path_without_links(&self, path: &str) -> Reading<String> {
        let real = fs::canonicalize(self.path_under_root(path)).map_err(|error| reason(&error))?;
        let inside = real.strip_prefix(self.without_links()).map_err(|_| OUTSIDE)?;
        let text = inside.to_str().ok_or(Unreadable::NotRead("the path is not UTF-8"))?;
        Ok(format!("/{text}"))
    }

    /// The last part of the path that a link leads to.
    pub(super) fn link_name(&self, path: &str) -> Reading<String> {
        let target = fs::read_link(self.path_under_root(path)).map_err(|error| reason(&error))?;
        let name = target.file_name().and_then(|name| name.to_str());
        name.map(str::to_owned).ok_or(Unreadable::NotRead("the link has no name"))
    }
}

/// Sorts `mlx5_10` after `mlx5_9`.
fn natural(name: &str) -> (String, u64, String) {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name.strip_prefix(prefix).and_then(|digits| digits.parse().ok()).unwrap_or(0);
    (prefix.to_owned(), number, name.to_owned())
}

pub(super) fn reason(error: &io::Error) -> Unreadable {
    // The system's number is named apart from its words.
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    Unreadable::of_errno(error.raw_os_error(), words)
}

pub(super) fn errno(error: rustix::io::Errno) -> Unreadable {
    reason(&io::Error::from(error))
}
