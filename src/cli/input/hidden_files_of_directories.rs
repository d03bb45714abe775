//! Hidden files and directories, whose names begin with a dot. `kubectl apply -f DIR` applies hidden manifests like others
//! (cli-runtime pkg/resource/visitor.go, `ExpandPathsToFileVisitors`), so a review that left them out would show a pass for
//! objects that it has not seen. Most hidden files are settings of other tools, which are not manifests.

use super::spellings_of_manifest_keys::{may_have_keys_of_manifest, may_spell_keys};
use crate::manifest::{self, DocumentOrError};
use crate::pod_agent::{LastLink, open_regular_file};
use memchr::memmem;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::cell::LazyCell;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

/// Directories of version control. A link must not lead to their files.
const OF_VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// Longest hidden file that is decoded to find out whether it is a manifest (bytes). A longer one is read
/// as a manifest.
const MAX_BYTES: u64 = 16 << 20;

/// Whether a file or directory is hidden.
pub(in crate::cli) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Whether a directory belongs to version control.
pub(super) fn is_of_version_control(name: &OsStr) -> bool {
    OF_VERSION_CONTROL.iter().any(|known| name == OsStr::new(known))
}

/// Whether a directory holds the history of a Git repository, whose files cannot be in a change. Git keeps `.hg`, `.svn` and
/// `.jj` like other directories, so a manifest there may come with a change.
pub(super) fn is_git_directory(name: &OsStr) -> bool {
    name == OsStr::new(".git")
}

/// Whether a directory is a version of a volume: kubelet writes the files of a ConfigMap to a directory `..TIME`, and links
/// each key to its file there (kubernetes/kubernetes pkg/volume/util/atomic_writer.go).
pub(super) fn may_be_version_of_volume(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"..")
}

/// Whether a hidden file has to be read: it has a Kubernetes object, or nobody can know.
pub(super) fn is_manifest(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = open_regular_file(path, LastLink::Follow)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    // The reader reports a file that cannot be read.
    read.is_err() || bytes.len() as u64 > MAX_BYTES || has_manifest(&bytes)
}

/// Whether a document has these keys.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeysOfManifest {
    #[serde(default)]
    api_version: Option<IgnoredAny>,
    #[serde(default)]
    kind: Option<IgnoredAny>,
}

fn has_manifest(bytes: &[u8]) -> bool {
    let has = |text: &[u8]| memmem::find(bytes, text).is_some();
    // kubectl reads a document of UTF-16.
    if BYTE_ORDER_MARKS_OF_UTF16.into_iter().any(has) {
        return true;
    }
    // `"\x6bind"` in YAML, `"\u006bind"` in JSON and `!!binary a2luZA==` are other spellings of the key.
    if !["apiVersion", "kind", "\\", "!"].into_iter().any(|text| has(text.as_bytes())) {
        return false;
    }
    // kubectl reads JSON with bytes that are not UTF-8.
    let Ok(text) = std::str::from_utf8(bytes) else { return may_spell_keys(&String::from_utf8_lossy(bytes)) };
    let kubectl_may_read_keys = LazyCell::new(|| may_spell_keys(text));
    let unreadable_one_may_be = LazyCell::new(|| may_have_keys_of_manifest(text));
    let documents = manifest::read_documents_of_file("", bytes);
    documents.iter().any(|document| match document {
        DocumentOrError::Empty { .. } => false,
        DocumentOrError::Error(error) if error.kubectl_may_read => *kubectl_may_read_keys,
        DocumentOrError::Error(_) => *unreadable_one_may_be,
        DocumentOrError::Document(document) => {
            let json = document.json.get();
            // A key given twice is an error here, and a finding of the review.
            json.starts_with('{')
                && serde_json::from_str::<KeysOfManifest>(json)
                    .map_or(true, |keys| keys.api_version.is_some() || keys.kind.is_some())
        }
    })
}

/// The first bytes of a document of UTF-16, which UTF-8 never has.
const BYTE_ORDER_MARKS_OF_UTF16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

#[cfg(test)]
mod tests {
    use super::*;

    /// The text is searched once, and not for each of its documents.
    #[test]
    fn many_unreadable_documents() {
        assert!(!has_manifest(format!("# kind\n{}", "---\n[\n".repeat(100_000)).as_bytes()));
    }

    #[test]
    fn manifests_and_settings_of_other_tools() {
        let anchors = format!("a: &a {}\nb: [{}]\n", "x".repeat(3000), "*a,".repeat(90));
        let aliases = format!("\"\\x6bind\": Pod\n{anchors}");
        let long_key = format!("\"\\x6bind\": Pod\na: [{}: 1]\n", "é".repeat(600));
        let manifests: [&[u8]; 19] = [
            aliases.as_bytes(),
            long_key.as_bytes(),
            "\"\\x6bind\": Pod # \u{feff}\n".as_bytes(),
            b"!!binary a2luZA==: Pod\n",
            b"apiVersion: v1\nkind: Pod\n",
            b"kind: Pod\n",
            b"# comment\n---\n---\nname: ci\n---\n{\"apiVersion\": \"v1\"}\n",
            b"\"\\x6bind\": Pod\n",
            b"{\"\\u006bind\": \"Pod\"}",
            b"kind: Pod\nkind: Pod\n",
            b"apiVersion: v1\nkind: Pod\nspec: {{ .Values.spec }}\n",
            b"\xff\xfek\0i\0n\0d\0",
            b"name: a\n---\n\xff\xfek\0i\0n\0d\0",
            b"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"a\": \"\xe9\"}",
            b"{\"\\u006bind\": \"Pod\", \"a\": \"\xe9\"}",
            b"apiVersion: v1\nkind: Pod\na: !a,b c\n",
            b"{a: !a]b c,'!':1,!!binary a2luZA==: Pod,!!binary YXBpVmVyc2lvbg==: v1}\n",
            "{\"a\": [kind, apiVersion],\n\"ki\\\n\u{feff}nd\": Pod}\n".as_bytes(),
            b"- &k kind\n---\nkind: &a Pod\n",
        ];
        for text in manifests {
            assert!(has_manifest(text), "{}", String::from_utf8_lossy(text));
        }
        let words = format!("\"words\": [\"{}\"],", "é".repeat(600));
        let long_value = format!("{{ // \\x41\n{words}}}\n");
        let long_value_and_keys = format!("{{ // apiVersion, kind\n{words}}}\n");
        let others: [&[u8]; 16] = [
            b"// fwlink/?linkid=1\n{\"exclude\": \"!**/x\"}",
            b"on: {push: {branches: [main, release-?.x], paths: [\"!docs/**\"]}}\n",
            b"// words\n{\"cSpell.words\": [\"apiVersion\", \"kind\"],}",
            b"// settings\n{\"exclude\": \"\\\\.js$\", \"a\": \"!b\",}",
            b"",
            b"---\n# comment\n",
            b"jobs:\n  kind:\n    uses: helm/kind-action@v1\n",
            b"- kind\n- apiVersion\n",
            b"// settings\n{\"group\": {\"kind\": \"build\"},}",
            b"review:\n  cluster: [nodes.yaml]\n",
            b"path: \"a\\\\b\"\n",
            b"a: [1\n",
            b"# \xe9tage\nname: \"a\\\\b\"\nkind: c\n",
            b"paths:\n- !docs/[a-z]*.md\nkind: c\n",
            long_value.as_bytes(),
            long_value_and_keys.as_bytes(),
        ];
        for text in others {
            assert!(!has_manifest(text), "{}", String::from_utf8_lossy(text));
        }
    }
}
