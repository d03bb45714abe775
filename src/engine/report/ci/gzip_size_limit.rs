//! How large a text is after gzip: GitHub's limit for a SARIF file counts these bytes.

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, compress_to_output, create_comp_flags_from_zip_params,
};

/// The fastest level. GitHub's upload action uses zlib's level 6, whose result is smaller (github/codeql-action,
/// src/upload-lib.ts).
const FASTEST: i32 = 1;

/// Counts the bytes that gzip makes of a text. The last 64 KiB or less are not counted yet.
pub(super) struct Gzipped {
    compressor: CompressorOxide,
    bytes: usize,
}

impl Gzipped {
    fn new() -> Self {
        Self { compressor: CompressorOxide::new(create_comp_flags_from_zip_params(FASTEST, 0, 0)), bytes: 0 }
    }

    fn add(&mut self, text: &[u8]) {
        let bytes = &mut self.bytes;
        compress_to_output(&mut self.compressor, text, TDEFLFlush::None, |written| {
            *bytes += written.len();
            true
        });
    }

    /// How many of the first texts fit into a number of bytes.
    pub(super) fn count_texts_that_fit<'a>(
        texts: impl Iterator<Item = &'a [u8]> + Clone,
        most: usize,
    ) -> usize {
        // Compression costs time, and is needed only where the texts themselves do not fit.
        let size: usize = texts.clone().map(<[u8]>::len).sum();
        if size <= most {
            return texts.count();
        }
        let mut all = Self::new();
        texts
            .take_while(|text| {
                all.add(text);
                all.bytes <= most
            })
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of letters without a pattern (a linear congruential generator).
    fn noise(count: usize, length: usize) -> Vec<Vec<u8>> {
        let mut state = 1_u64;
        let mut letter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            b'a' + u8::try_from((state >> 33) % 26).unwrap_or_default()
        };
        (0..count).map(|_| (0..length).map(|_| letter()).collect()).collect()
    }

    fn fitting(texts: &[Vec<u8>], most: usize) -> usize {
        Gzipped::count_texts_that_fit(texts.iter().map(Vec::as_slice), most)
    }

    #[test]
    fn texts_that_repeat_need_little_room() {
        let same = vec![b"the same text of every result".repeat(20); 2_000];
        assert_eq!(fitting(&same, 100_000), 2_000);
    }

    #[test]
    fn texts_without_a_pattern_are_cut() {
        // A letter has 4.7 bits, so 1,000 letters need at least 588 bytes.
        let texts = noise(2_000, 1_000);
        let kept = fitting(&texts, 500_000);
        assert!((700..960).contains(&kept), "{kept}");
        assert_eq!(fitting(&texts, 2_000_000), 2_000);
        let kept: Vec<u8> = texts.iter().take(kept).flatten().copied().collect();
        let best = miniz_oxide::deflate::compress_to_vec(&kept, 6).len();
        assert!(best < 600_000, "{best}");
    }
}
