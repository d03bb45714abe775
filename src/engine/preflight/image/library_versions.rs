//! Versions in texts and names of libraries.

use crate::nccl::NcclVersion;

/// Before the version in a library of NCCL, or in one that it is linked into (NVIDIA/nccl src/init.cc).
const MARK: &[u8] = b"NCCL version ";

/// Most bytes after the mark that a version has.
const LONGEST: usize = 16;

/// Bytes that two blocks of a file must share, so that no text is cut in two.
pub const OVERLAP: usize = MARK.len() + LONGEST;

/// The version of NCCL in a block of a library.
#[must_use]
pub fn nccl_version_in_block(block: &[u8]) -> Option<NcclVersion> {
    memchr::memmem::find_iter(block, MARK).find_map(|at| {
        let rest = block.get(at + MARK.len()..)?;
        let rest = rest.get(..rest.len().min(LONGEST))?;
        let end = rest.iter().position(|b| !b.is_ascii_digit() && *b != b'.')?;
        let text = std::str::from_utf8(rest.get(..end)?).ok()?;
        NcclVersion::parse(text).filter(|version| version.0 == 2)
    })
}

/// The version in the name of a file, `libnccl.so.2.27.5`.
#[must_use]
pub fn of_file(name: &str) -> Option<NcclVersion> {
    NcclVersion::parse(name.strip_prefix("libnccl.so.")?).filter(|version| version.0 == 2)
}

/// The folder of configuration files that a libibverbs was built with, such as `/etc/libibverbs.d`.
#[must_use]
pub fn driver_folder(libibverbs: &[u8]) -> Option<String> {
    const MARK: &[u8] = b"/libibverbs.d\0";
    memchr::memmem::find_iter(libibverbs, MARK).find_map(|at| {
        let start = memchr::memrchr(0, libibverbs.get(..at)?).map_or(0, |zero| zero + 1);
        let folder = std::str::from_utf8(libibverbs.get(start..at + MARK.len() - 1)?).ok()?;
        folder.starts_with('/').then(|| folder.to_owned())
    })
}

/// The number that the names of the providers of a libibverbs end with, from the text `-rdmavNN.so` in it.
#[must_use]
pub fn provider_number(libibverbs: &[u8]) -> Option<u32> {
    const MARK: &[u8] = b"-rdmav";
    memchr::memmem::find_iter(libibverbs, MARK).find_map(|at| {
        let rest = libibverbs.get(at + MARK.len()..)?;
        let end = rest.iter().take(8).position(|b| !b.is_ascii_digit())?;
        let number = std::str::from_utf8(rest.get(..end)?).ok()?.parse().ok()?;
        rest.get(end..)?.starts_with(b".so").then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_libraries() {
        assert_eq!(nccl_version_in_block(b"\0NCCL version 2.27.5+cuda12.9\0"), Some(NcclVersion(2, 27, 5)));
        assert_eq!(
            nccl_version_in_block(b"NCCL version %d.%d.%d\0x NCCL version 2.30.7\0"),
            Some(NcclVersion(2, 30, 7))
        );
        for junk in
            [&b""[..], b"NCCL version ", b"NCCL version 2.27", b"NCCL version 99.1.2\0", b"NCCL 2.27.5"]
        {
            assert_eq!(nccl_version_in_block(junk), None, "{junk:?}");
        }
        assert_eq!(of_file("libnccl.so.2.27.5"), Some(NcclVersion(2, 27, 5)));
        assert_eq!((of_file("libnccl.so.2"), of_file("libnccl-net.so")), (None, None));
        assert_eq!(provider_number(b"x-rdmav.so\0-rdmav34.so\0"), Some(34));
        assert_eq!((provider_number(b"-rdmav34"), provider_number(b"-rdmav34.tar")), (None, None));
    }
}
