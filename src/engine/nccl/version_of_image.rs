//! The version of NCCL in an image, by the image's name. Nothing is guessed: other images have an unknown version.

use std::fmt;

/// A version of NCCL: major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NcclVersion(pub u16, pub u16, pub u16);

impl NcclVersion {
    /// Reads `2.27` or `2.27.5`; the patch of `2.27` is 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let mut number = || {
            let part = parts.next()?;
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse().ok()).flatten()
        };
        let (major, minor) = (number()?, number()?);
        match text.matches('.').count() {
            1 => Some(Self(major, minor, 0)),
            2 => Some(Self(major, minor, number()?)),
            _ => None,
        }
    }
}

impl fmt::Display for NcclVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Releases of PyTorch, and the NCCL of their images at `pytorch/pytorch`; of CUDA 12, and of 13.
/// 2.2 pytorch/pytorch#122571; 2.5 and 2.6 pytorch/pytorch#150049 and the requirements of the wheels; 2.7
/// pytorch/pytorch#149778; 2.10 to 2.13 pytorch/pytorch#190386 (RELEASE.md). Others were not verified and are unknown.
const NCCL_OF_PYTORCH_IMAGES: [(&str, Pinned, Pinned); 9] = [
    ("2.2", Some(NcclVersion(2, 19, 3)), None),
    ("2.3", Some(NcclVersion(2, 20, 5)), None),
    ("2.5", Some(NcclVersion(2, 21, 5)), None),
    ("2.6", Some(NcclVersion(2, 21, 5)), None),
    ("2.7", Some(NcclVersion(2, 26, 2)), None),
    ("2.10", Some(NcclVersion(2, 27, 5)), Some(NcclVersion(2, 28, 9))),
    ("2.11", Some(NcclVersion(2, 28, 9)), Some(NcclVersion(2, 28, 9))),
    ("2.12", Some(NcclVersion(2, 29, 3)), Some(NcclVersion(2, 29, 7))),
    ("2.13", Some(NcclVersion(2, 29, 3)), Some(NcclVersion(2, 29, 7))),
];

type Pinned = Option<NcclVersion>;

/// Longest last part of an image's name with its tag and digest (bytes): a name has at most 255 characters and a tag 128
/// (distribution/reference reference.go, `RepositoryNameTotalLengthMax`, and regexp.go). The API server accepts any length.
const MAX_NAME: usize = 1024;

/// The version in an image's name: `nccl2.19.3` or `nccl-2.29.3`, or a release of PyTorch whose image is known.
#[must_use]
pub fn nccl_version_in_image_name(image: &str) -> Option<NcclVersion> {
    // After the last slash, so that a registry's port is not read as a tag; a digest shows no version.
    let (path, last) = image.rsplit_once('/').unwrap_or(("", image));
    let last = last.split_once('@').map_or(last, |(name, _)| name);
    let (name, tag) = last.split_once(':').unwrap_or((last, ""));
    version_after_word_nccl(last).or_else(|| {
        let official = matches!(path, "pytorch" | "docker.io/pytorch" | "index.docker.io/pytorch");
        (official && name == "pytorch").then(|| of_pytorch(tag)).flatten()
    })
}

/// A version after the word nccl; none if two differ. Only NCCL 2 counts: plugins have their own versions, such as
/// `aws-ofi-nccl1.9.1`.
fn version_after_word_nccl(name: &str) -> Option<NcclVersion> {
    let bytes = name.as_bytes();
    if bytes.len() > MAX_NAME
        || !memchr::memchr2_iter(b'n', b'N', bytes)
            .any(|at| bytes.get(at..at + 4).is_some_and(|word| word.eq_ignore_ascii_case(b"nccl")))
    {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let mut found = lower.split("nccl").skip(1).filter_map(|rest| {
        let rest = rest.trim_start_matches(['-', '_']);
        let rest = rest.strip_prefix('v').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        NcclVersion::parse(rest.get(..end)?.trim_end_matches('.')).filter(|v| v.0 == 2)
    });
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

fn of_pytorch(tag: &str) -> Option<NcclVersion> {
    let (release, rest) = tag.split_once("-cuda")?;
    let release = release.rsplit_once('.').filter(|(_, patch)| patch.bytes().all(|b| b.is_ascii_digit()))?.0;
    let (_, before, of_13) = NCCL_OF_PYTORCH_IMAGES.iter().find(|(known, ..)| *known == release)?;
    let cuda: u16 = rest.split_once('.')?.0.parse().ok()?;
    match cuda {
        12 => *before,
        13 => *of_13,
        // Wheels for CUDA 11 have another NCCL, and versions after 13 are not known.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(NcclVersion::parse("2.27"), Some(NcclVersion(2, 27, 0)));
        assert_eq!(NcclVersion::parse("2.27.5"), Some(NcclVersion(2, 27, 5)));
        for wrong in ["", "2", "2.", "2.27.", "2.27.5.1", "2.x", "+2.1", "2.99999999"] {
            assert_eq!(NcclVersion::parse(wrong), None, "{wrong}");
        }
        assert!(NcclVersion(2, 9, 9) < NcclVersion(2, 20, 0));
    }

    #[test]
    fn names_with_a_version() {
        for (image, version) in [
            (
                "registry.example.com:5000/x/nccl-tests:cuda-13.1.1-ubuntu-24.04-nccl-2.29.3-020926.1",
                "2.29.3",
            ),
            ("example.com/pai/nccl-tests:12.2.2-cudnn8-devel-ubuntu22.04-nccl2.19.3-1-85f9143", "2.19.3"),
            ("example.com/efa:1.30-aws-ofi-nccl1.9.1-NCCL_v2.21.5", "2.21.5"),
            ("pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel", "2.21.5"),
            ("docker.io/pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime@sha256:00", "2.29.7"),
            ("pytorch/pytorch:2.13.0-cuda12.6-cudnn9-runtime", "2.29.3"),
        ] {
            assert_eq!(
                nccl_version_in_image_name(image).map(|v| v.to_string()).as_deref(),
                Some(version),
                "{image}"
            );
        }
    }

    #[test]
    fn names_without_a_version() {
        for image in [
            "",
            "pytorch/pytorch",
            "pytorch/pytorch:latest",
            "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel",
            "pytorch/pytorch:2.6.0-cuda13.0-x",
            "pytorch/pytorch:2.7.0-cuda11.8-cudnn9-devel",
            "pytorch/pytorch:2.13.0-cuda14.0-x",
            "example.com/pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel",
            "example.com/nccl-tests:v2.13",
            "example.com/nccl-plugin:v1.0.15",
            "example.com/x:nccl2.19.3-or-nccl2.21.5",
            "example.com/x@sha256:nccl2.19.3",
            "nccl2.19.3/x:1",
        ] {
            assert_eq!(nccl_version_in_image_name(image), None, "{image}");
        }
    }
}
