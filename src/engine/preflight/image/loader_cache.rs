//! `/etc/ld.so.cache`, which names the path of each library (glibc `sysdeps/generic/dl-cache.h`).

/// Start of the form that glibc has written since 2.2; older forms stand before it in the same file.
const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const HEADER: usize = 48;
const ENTRY: usize = 24;
/// Most paths of one library (count). A library has one for each kind of processor and of glibc-hwcaps.
const MAX_PATHS: usize = 64;

/// Paths of a library by its name, in the order of the cache.
#[must_use]
pub fn paths_of_library(cache: &[u8], name: &str) -> Vec<String> {
    let Some(start) = memchr::memmem::find(cache, MAGIC) else { return Vec::new() };
    let cache = cache.get(start..).unwrap_or_default();
    let count = cache.get(20..24).and_then(number).unwrap_or(0);
    let entries = cache.get(HEADER..).unwrap_or_default().chunks_exact(ENTRY).take(count);
    let text = |at: Option<usize>| {
        let rest = cache.get(at?..)?;
        let end = memchr::memchr(0, rest.get(..rest.len().min(4096))?)?;
        std::str::from_utf8(rest.get(..end)?).ok()
    };
    let found = entries.filter(|entry| text(entry.get(4..8).and_then(number)) == Some(name));
    found
        .filter_map(|entry| text(entry.get(8..12).and_then(number)).map(str::to_owned))
        .take(MAX_PATHS)
        .collect()
}

fn number(bytes: &[u8]) -> Option<usize> {
    let bytes: [u8; 4] = bytes.try_into().ok()?;
    usize::try_from(u32::from_ne_bytes(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_by_its_name() {
        let strings = b"liba.so.1\0/lib/liba.so.1\0";
        let texts_at = u32::try_from(HEADER + ENTRY).unwrap();
        let mut cache = MAGIC.to_vec();
        cache.extend(1_u32.to_ne_bytes());
        cache.extend(u32::try_from(strings.len()).unwrap().to_ne_bytes());
        cache.resize(HEADER, 0);
        cache.extend(3_u32.to_ne_bytes());
        cache.extend(texts_at.to_ne_bytes());
        cache.extend((texts_at + 10).to_ne_bytes());
        cache.resize(HEADER + ENTRY, 0);
        cache.extend(strings);
        assert_eq!(paths_of_library(&cache, "liba.so.1"), ["/lib/liba.so.1"]);
        assert!(
            paths_of_library(&cache, "libb.so.1").is_empty() && paths_of_library(b"", "liba.so.1").is_empty()
        );
        let mut many = cache.clone();
        many[20..24].copy_from_slice(&1_000_u32.to_ne_bytes());
        many.splice(HEADER..HEADER + ENTRY, cache[HEADER..HEADER + ENTRY].repeat(1_000));
        let moved = u32::try_from(HEADER + 1_000 * ENTRY).unwrap();
        for entry in many[HEADER..HEADER + 1_000 * ENTRY].chunks_exact_mut(ENTRY) {
            entry[4..8].copy_from_slice(&moved.to_ne_bytes());
            entry[8..12].copy_from_slice(&(moved + 10).to_ne_bytes());
        }
        assert_eq!(paths_of_library(&many, "liba.so.1").len(), MAX_PATHS);
        for cut in 0..cache.len() {
            let _ = paths_of_library(&cache[..cut], "liba.so.1");
        }
    }
}
