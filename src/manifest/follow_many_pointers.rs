//! Many RFC 6901 pointers over one JSON text, followed in one pass. An object may have hundreds of findings, and YAML aliases may
//! make it as long as thousands of files.

use super::json_pointer::{Found, end_of_value, sequence_index, unescape};
use std::collections::BTreeMap;

/// Follows each pointer as far as nodes exist, from the node that starts at byte `start`.
pub(super) fn follow_pointers_as_far_as_possible(json: &str, start: usize, pointers: &[&str]) -> Vec<Found> {
    let mut walk = Walk { json, found: vec![Found { start, exact: false }; pointers.len()] };
    walk.visit(start, pointers.iter().copied().enumerate().collect());
    walk.found
}

/// A pointer by its number, and what is left of it.
type Waiting<'p> = Vec<(usize, &'p str)>;

struct Walk<'j> {
    json: &'j str,
    found: Vec<Found>,
}

impl Walk<'_> {
    /// Follows the pointers that lead to the node at byte `start`; returns its end. Documents are at most 100 levels deep.
    fn visit(&mut self, start: usize, waiting: Waiting<'_>) -> usize {
        let mut below: BTreeMap<String, Waiting<'_>> = BTreeMap::new();
        for (number, rest) in waiting {
            if let Some(found) = self.found.get_mut(number) {
                *found = Found { start, exact: rest.is_empty() };
            }
            if let Some(rest) = rest.strip_prefix('/') {
                let (token, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                below.entry(unescape(token)).or_default().push((number, rest));
            }
        }
        let end = if below.is_empty() { None } else { self.visit_children(start, below) };
        end.unwrap_or_else(|| end_of_value(self.json, start))
    }

    /// The end of a mapping or sequence; `None` for other nodes.
    fn visit_children(&mut self, start: usize, below: BTreeMap<String, Waiting<'_>>) -> Option<usize> {
        let json = self.json;
        let byte = |at: usize| json.as_bytes().get(at).copied();
        let mut at = start + 1;
        match byte(start)? {
            b'{' => {
                let mut below = below;
                while byte(at)? != b'}' {
                    let end = end_of_value(json, at);
                    let waiting = take_key(&mut below, json.get(at..end)?);
                    at = self.visit_or_skip(end + 1, waiting);
                    at += usize::from(byte(at)? == b',');
                }
            }
            b'[' => {
                let items = below.into_iter().filter_map(|(token, w)| Some((sequence_index(&token)?, w)));
                let mut below: BTreeMap<usize, Waiting<'_>> = items.collect();
                let mut number = 0;
                while byte(at)? != b']' {
                    at = self.visit_or_skip(at, below.remove(&number));
                    at += usize::from(byte(at)? == b',');
                    number += 1;
                }
            }
            _ => return None,
        }
        Some(at + 1)
    }

    fn visit_or_skip(&mut self, start: usize, waiting: Option<Waiting<'_>>) -> usize {
        match waiting {
            Some(waiting) => self.visit(start, waiting),
            None => end_of_value(self.json, start),
        }
    }
}

/// Takes what waits for a key, which is a JSON string with its quotes.
fn take_key<'p>(below: &mut BTreeMap<String, Waiting<'p>>, quoted: &str) -> Option<Waiting<'p>> {
    if quoted.contains('\\') {
        return below.remove(&serde_json::from_str::<String>(quoted).ok()?);
    }
    below.remove(quoted.strip_prefix('"')?.strip_suffix('"')?)
}

#[cfg(test)]
mod tests {
    use super::super::json_pointer::follow_pointer_as_far_as_possible;
    use super::*;

    #[test]
    fn each_pointer_leads_to_what_it_leads_to_alone() {
        let json = r#"{"a":[1,{"b":"x,}]\""},[],""],"c/d":{"e~f":null,"":{}},"":-1.5,"q\"":[[true]]}"#;
        let pointers = [
            "",
            "/a",
            "/a/0",
            "/a/1/b",
            "/a/1/b/x",
            "/a/2/0",
            "/a/3",
            "/a/01",
            "/a/4",
            "/a/4/b",
            "/c~1d/e~0f",
            "/c~1d/",
            "/c~1d//",
            "/",
            "//",
            "/q\"/0/0",
            "/q\"/0/1",
            "/x/y",
            "a",
            "/a",
            "/a/-",
        ];
        for start in [0, 5, 8] {
            let alone: Vec<Found> = pointers
                .iter()
                .map(|pointer| follow_pointer_as_far_as_possible(json, start, pointer))
                .collect();
            assert_eq!(follow_pointers_as_far_as_possible(json, start, &pointers), alone, "from {start}");
        }
        assert_eq!(follow_pointers_as_far_as_possible("", 0, &["/a"]), [Found { start: 0, exact: false }]);
    }
}
