//! The values of variables with references such as `$(NAME)` to variables of the same container, as the kubelet expands
//! them (kubernetes/kubernetes pkg/kubelet/kubelet_pods.go, `makeEnvironmentVariables`).

use super::env_variables::EnvVar;
use super::pod_fields::Container;
use memchr::memmem;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Longest value that is expanded (bytes), before and after. Values of variables are short lists.
const MAX_LENGTH: usize = 4 << 10;

/// Text of the values of one container that have references, before and after (bytes): a value may name another one many
/// times.
const MAX_TEXT: usize = 16 << 10;

/// Most variables of a container with references (count).
const MAX_VARIABLES: usize = 4_096;

impl Container<'_> {
    /// The literal value of the entry of `env` at this place, expanded. `None` where the value has another source, or
    /// refers to what `env` does not show: a field of the pod, a Secret, a later entry, a variable of `envFrom` or of a
    /// Service. Beyond the limits a value counts as it is written, so that nobody hides a value behind them.
    #[must_use]
    pub(crate) fn expanded_literal(&self, place: usize) -> Option<&str> {
        let text = self.env().get(place)?.literal_or_empty()?;
        if !may_have_reference(text) {
            return Some(text);
        }
        let expanded =
            self.read_once.expanded_values.get_or_init(|| expand_references_to_earlier_entries(self.env()));
        expanded.get(&place).map_or(Some(text), Option::as_deref)
    }
}

fn may_have_reference(value: &str) -> bool {
    memmem::find(value.as_bytes(), b"$(").is_some()
}

/// The expanded values within the limits, by place; `None` for one that is not known.
fn expand_references_to_earlier_entries(env: &[EnvVar<'_>]) -> BTreeMap<usize, Option<String>> {
    let mut expanded = BTreeMap::new();
    if env.len() > MAX_VARIABLES {
        return expanded;
    }
    let mut left = MAX_TEXT;
    let mut earlier: HashMap<&str, Option<Cow<'_, str>>> = HashMap::new();
    for (at, entry) in env.iter().enumerate() {
        let mut value = entry.literal_or_empty().map(Cow::Borrowed);
        if let Some(text) = entry.literal_or_empty().filter(|text| may_have_reference(text)) {
            left = left.saturating_sub(text.len());
            if let Some(found) = expand(text, left, |name| earlier.get(name)?.as_deref()) {
                left = left.saturating_sub(found.as_ref().map_or(0, String::len));
                value = found.clone().map(Cow::Owned);
                expanded.insert(at, found);
            }
        }
        if let Some(name) = entry.name.as_deref() {
            earlier.insert(name, value);
        }
    }
    expanded
}

/// A text with the values of its references (third_party/forked/golang/expansion/expand.go, `Expand`): `$$` is a dollar
/// sign, and a dollar sign before anything else stays. `Some(None)` if a value is not known; `None` if the text or the
/// result is too long.
fn expand<'v>(text: &str, left: usize, known: impl Fn(&str) -> Option<&'v str>) -> Option<Option<String>> {
    let most = left.min(MAX_LENGTH);
    if left == 0 || text.len() > MAX_LENGTH {
        return None;
    }
    let (mut result, mut rest) = (String::new(), text);
    // What is left of the text at its last parenthesis. With less left, nobody searches for another one.
    let left_at_last = text.rfind(')').map_or(usize::MAX, |last| text.len() - last);
    while let Some((before, after)) = rest.split_once('$') {
        result.push_str(before);
        let closed = after.strip_prefix('(').filter(|name| name.len() >= left_at_last);
        rest = match (closed.and_then(|name| name.split_once(')')), after.strip_prefix('$')) {
            (Some((name, after)), _) => {
                let Some(value) = known(name) else { return Some(None) };
                result.push_str(value);
                after
            }
            (None, after_escape) => {
                result.push('$');
                after_escape.unwrap_or(after)
            }
        };
        if result.len() > most {
            return None;
        }
    }
    result.push_str(rest);
    (result.len() <= most).then_some(Some(result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_kubelet_expands_them() {
        let known = |name: &str| match name {
            "A" => Some("1"),
            "EMPTY" | "" => Some(""),
            "REF" => Some("$(A)"),
            _ => None,
        };
        for (text, expected) in [
            ("$(A)", Some("1")),
            ("x$(A)y$(EMPTY)z", Some("x1yz")),
            ("$(A)$(A)", Some("11")),
            ("$(REF)", Some("$(A)")),
            ("$()", Some("")),
            ("$$(A)", Some("$(A)")),
            ("$$$(A)", Some("$1")),
            ("$$$$", Some("$$")),
            ("$(A", Some("$(A")),
            ("$A$", Some("$A$")),
            ("$é$(A)", Some("$é1")),
            ("$($(A)", None),
            ("$(B)", None),
            ("a", Some("a")),
            ("$(A)$($(", Some("1$($(")),
            ("$(A))$(", Some("1)$(")),
        ] {
            assert_eq!(expand(text, MAX_TEXT, known).unwrap().as_deref(), expected, "{text}");
        }
    }

    fn container(env: &str) -> String {
        format!(r#"{{"env":[{env}]}}"#)
    }

    #[test]
    fn of_earlier_entries() {
        let json = container(
            r#"{"name":"A","value":"$(Z)"},{"name":"Z","value":"1"},{"name":"B","value":"$(Z)"},
            {"name":"Z","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},{"name":"C","value":"$(Z)"},
            {"name":"D","value":"$(B)$(E)"},{"name":"E"},{"name":"D","value":"$(B)$(E)$(D)"},
            {"name":"F","value":"$(B)$(E)x"}"#,
        );
        let container: Container<'_> = serde_json::from_str(&json).unwrap();
        let values: Vec<_> = (0..=9).map(|place| container.expanded_literal(place)).collect();
        let unknown = None;
        assert_eq!(
            values,
            [
                unknown,
                Some("1"),
                Some("1"),
                unknown,
                unknown,
                unknown,
                Some(""),
                unknown,
                Some("1x"),
                unknown,
            ]
        );
    }

    #[test]
    fn long_values_and_long_lists_are_not_expanded() {
        let expanded = |variables: usize, padding: usize| {
            let (more, padding) = (r#"{"name":"M"},"#.repeat(variables - 2), "x".repeat(padding));
            let pair = format!(r#"{{"name":"A","value":"{padding}"}},{{"name":"B","value":"$(A)"}}"#);
            let json = container(&(more + &pair));
            let container: Container<'_> = serde_json::from_str(&json).unwrap();
            container.expanded_literal(variables - 1).map(str::len)
        };
        assert_eq!(expanded(MAX_VARIABLES, MAX_LENGTH), Some(MAX_LENGTH));
        let as_written = Some("$(A)".len());
        assert_eq!(expanded(MAX_VARIABLES + 1, 1), as_written);
        assert_eq!(expanded(2, MAX_LENGTH + 1), as_written);
        let open = "$(".repeat(MAX_LENGTH / 2);
        assert_eq!(expand(&open, MAX_TEXT, |_| None), Some(Some(open.clone())));
        assert_eq!(expand(&(open + "x"), MAX_TEXT, |_| None), None);
    }

    /// Ten references to the entry before make ten times its value: without limits, this would be 10^30 bytes.
    #[test]
    fn the_work_is_limited() {
        let refer =
            |n: usize| format!(r#"{{"name":"V{n}","value":"{}"}}"#, format!("$(V{})", n - 1).repeat(10));
        let first = r#"{"name":"V0","value":"xxxxxxxxxx"}"#.to_owned();
        let chain = [first].into_iter().chain((1..30).map(refer)).collect::<Vec<_>>().join(",");
        let again = |n: usize| format!(r#",{{"name":"W{n}","value":"$(V2)"}}"#);
        let json = container(&(chain + &(0..1_000).map(again).collect::<String>()));
        let container: Container<'_> = serde_json::from_str(&json).unwrap();
        let lengths: Vec<usize> =
            (0..1_030).map(|place| container.expanded_literal(place).unwrap().len()).collect();
        // Longer ones, and those after them, are as they are written.
        assert_eq!(lengths[..5], [10, 100, 1_000, 50, 500]);
        assert_eq!((lengths[30], lengths[1_029]), (1_000, "$(V2)".len()));
        let sum: usize = lengths.iter().sum();
        assert!((MAX_TEXT / 2..MAX_TEXT + MAX_LENGTH).contains(&sum), "{sum}");
    }
}
