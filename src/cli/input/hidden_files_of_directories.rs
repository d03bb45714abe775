//! Hidden files and directories, whose names begin with a dot. `kubectl apply -f DIR` applies hidden manifests like others
//! (cli-runtime pkg/resource/visitor.go, `ExpandPathsToFileVisitors`), so a review that left them out would show a pass for
//! objects that it has not seen. Most hidden files are settings of other tools, which are not manifests.

use crate::manifest::{self, BYTE_ORDER_MARK, DocumentOrError, begins_with_line_break};
use crate::pod_agent::{LastLink, open_regular_file};
use memchr::memmem;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
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
pub(super) fn is_hidden(name: &OsStr) -> bool {
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

/// The keys that make a document a Kubernetes object.
const KEYS: [&str; 2] = ["apiVersion", "kind"];

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

/// Whether a text that kubectl may read has the letters of both keys, in any spelling of YAML.
fn may_spell_keys(text: &str) -> bool {
    let plain = without_escapes(text);
    // kubectl may leave out a character behind such a mark.
    let has_mark_inside = text.trim_start_matches(BYTE_ORDER_MARK).contains(BYTE_ORDER_MARK);
    let has_both = KEYS.iter().all(|key| plain.contains(key));
    has_mark_inside || has_both || has_escaped_key(text, &plain) || may_have_binary_tag(text)
}

/// Whether a text that cannot be read may have both keys, in any spelling of YAML, for a reader that can read it. A template of
/// Helm is not YAML, but has both. Settings of other tools have escapes, patterns such as `"!**/x"`, and the words themselves.
fn may_have_keys_of_manifest(text: &str) -> bool {
    let plain = without_escapes(text);
    let may_stand_elsewhere = has_alias(&plain) || has_explicit_key(&plain);
    let has_both = KEYS.iter().all(|key| has_key(&plain, key) || may_stand_elsewhere && plain.contains(key));
    has_both || has_escaped_key(text, &plain) || may_have_binary_tag(text)
}

/// Whether a text has a key that is not in it without its escapes.
fn has_escaped_key(text: &str, plain: &str) -> bool {
    KEYS.iter().any(|key| plain.matches(key).count() > text.matches(key).count())
}

/// Whether a text that is not YAML has a key: the word, and a colon behind it.
fn has_key(text: &str, key: &str) -> bool {
    text.match_indices(key).any(|(at, _)| {
        let behind = text.get(at + key.len()..).unwrap_or_default();
        behind.strip_prefix(['"', '\'']).unwrap_or(behind).trim_ascii_start().starts_with(':')
    })
}

/// The text with the characters that its escapes stand for, as far as these can spell a key: `\x6b`, `\u006b`, `\U0000006b`, and
/// a backslash at the end of a line, which joins it with the next one.
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if begins_with_line_break(part.as_bytes()) {
            plain.push_str(part.trim_start());
            continue;
        }
        let mut chars = part.chars();
        let digits = match chars.next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let code = chars.as_str().get(..digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code.and_then(char::from_u32) {
            Some(c) => {
                plain.push(c);
                plain.push_str(chars.as_str().get(digits..).unwrap_or_default());
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    Cow::Owned(plain)
}

/// Whether a text has an anchor and an alias: the word of a key may stand where the anchor is.
fn has_alias(text: &str) -> bool {
    let has = |sign: char| {
        starts_of_tokens(text, sign)
            .any(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-_".contains(c)))
    };
    has('&') && has('*')
}

/// Whether a text has `? KEY`: a comment may stand between the key and its colon. Inside of `{` or `[` there may be no blank
/// (yaml.v2 scannerc.go, `yaml_parser_fetch_next_token`), and an anchor or a tag may stand before the key.
fn has_explicit_key(text: &str) -> bool {
    let is_key = |rest: &str| KEYS.iter().any(|key| rest.starts_with(key));
    starts_of_tokens(text, '?').any(|rest| {
        rest.starts_with(|c: char| c.is_whitespace() || "&*!".contains(c))
            || is_key(rest.trim_start_matches(['"', '\'']))
    })
}

/// What follows a sign of YAML wherever it can begin a token. One that follows `?` has no blank before it inside of `{` or `[`.
fn starts_of_tokens(text: &str, sign: char) -> impl Iterator<Item = &str> {
    text.match_indices(sign).filter_map(move |(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        let begins = before.is_none_or(|c| c.is_whitespace() || "[{,:?".contains(c));
        begins.then(|| text.get(at + sign.len_utf8()..)).flatten()
    })
}

/// Whether a text has a tag that may be `!!binary`, whose value is a key in base64.
fn may_have_binary_tag(text: &str) -> bool {
    let is_escape = |rest: &str| rest.get(..2).is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    // A word may have the tag anywhere: `{'!':1,!!binary a2luZA==: Pod}`.
    let mut words = text.split_whitespace().filter_map(|word| word.split_once('!'));
    words.any(|(_, tag)| tag.contains(":binary") || tag.split('%').skip(1).any(is_escape))
        || ["!!binary", "%TAG ", "%TAG\t"].iter().any(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_only_kubectl_reads() {
        // Only kubectl reads these texts: the parser of this project refuses each of them.
        for text in [
            "apiVersion: v1\nkind: Pod\n@",
            "\"api\\x56ersion\": v1\n\"k\\x69nd\": Pod\n@",
            "{\"api\\u0056ersion\": v1, \"\\U0000006bind\": Pod\n@",
            "? \"ki\\\r\n  nd\"\n: Pod\n@",
            "!!binary a2luZA==: Pod\n@",
            "!!bin%61ry a2luZA==: Pod\n@",
            "!<tag:yaml.org,2002:binary> a2luZA==: Pod\n@",
            "%TAG !b! tag:yaml.org,2002:bin\r---\r!b!ary a2luZA==: Pod\r@",
            "a: [&a kind, &b apiVersion]\n*a : Pod\n*b : v1\n@",
            "? kind # a key\n: Pod\n? apiVersion # a key\n: v1\n@",
            "{'!':1,!!binary a2luZA==: Pod}\n@",
            "{a: &a kind, b: &b apiVersion,?*a : Pod,?*b : v1}\n@",
            "{?kind # a key\n : Pod,?'apiVersion' # a key\n : v1}\n@",
            "{?&a kind # a key\n : Pod,?!b apiVersion # a key\n : v1}\n@",
        ] {
            assert!(may_have_keys_of_manifest(text), "{text}");
        }
        for text in [
            "{\"words\": [\"apiVersion\", \"kind\"], \"exclude\": [\"**/*.o\", \"!**/binary/**\", \"\\\\.js$\"]}\n@",
            "// &a, *.o, ?.x: \\u0041 \\x41\n[\"apiVersion\", \"kind\"]\n@",
            "on: push\nrun: |\n  docker run \\\n    --name kind \\\n    image !100%\n@",
            "stages: [!reference [.setup, script]]\n@",
            "// https://a/?kind=b&c=d apiVersion\n{\"a\": \"is it ?\", \"b\": \"**/*\"}\n@",
            "on: {paths: [\"!binary/**\", \"!!x\"]}\n@",
        ] {
            assert!(!may_have_keys_of_manifest(text), "{text}");
        }
    }

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
