//! The usual causes of YAML that cannot be read, named in place of the parser's wording.

use super::read_fault::ReadFault;
use super::source_positions::Position;

const HELM: &str = "this looks like an unrendered Helm template: render it first (helm template …)";
const MUSTACHE: &str =
    "this looks like an unrendered template ({{ … }}, as in Mustache or Jinja): render it first";

/// The cause in a message, where it is an unrendered template: the same for every document of such a file.
#[must_use]
pub fn template_cause_in_message(message: &str) -> Option<&'static str> {
    [HELM, MUSTACHE].into_iter().find(|cause| message.contains(cause))
}

/// Which template a text is, by what only Helm's have.
fn cause(text: &str) -> &'static str {
    if text.split('\n').any(is_helm_line) { HELM } else { MUSTACHE }
}

/// Replaces a parser's message by the cause, where the text shows it. `origin` is the position of the text.
pub(super) fn replace_message_by_usual_cause(text: &str, origin: Position, fault: ReadFault) -> ReadFault {
    if let Some(line) = merge_conflict_line(text) {
        let at = Position { line: origin.line.saturating_add(line), column: 1 };
        return ReadFault { at, message: "unresolved merge conflict".to_owned(), ..fault };
    }
    if fault.message.contains("<document start>") && text.starts_with('%') {
        // kubectl cuts at `---` first and then finds a directive without a document.
        let message = "kubectl does not accept a %YAML or %TAG directive: remove it".to_owned();
        return ReadFault { at: origin, message, ..fault };
    }
    let number = usize::try_from(fault.at.line.saturating_sub(origin.line)).unwrap_or(usize::MAX);
    let line = text.split('\n').nth(number).unwrap_or_default();
    if let Some(at) = template_start(line) {
        let column = line.get(..at).unwrap_or_default().chars().count();
        let column = u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1);
        let at = Position { line: fault.at.line, column };
        return ReadFault { at, message: cause(text).to_owned(), ..fault };
    }
    let indent = line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default();
    if let Some(tab) = indent.find('\t') {
        let column = u32::try_from(tab).unwrap_or(u32::MAX).saturating_add(1);
        let at = Position { line: fault.at.line, column };
        return ReadFault { at, message: "a tab cannot indent YAML: use spaces".to_owned(), ..fault };
    }
    if text.split('\n').any(is_helm_line) {
        return ReadFault { message: format!("{} ({HELM})", fault.message), ..fault };
    }
    fault
}

/// The line, from 0, of the first conflict marker of git.
fn merge_conflict_line(text: &str) -> Option<u32> {
    let at = text.split('\n').position(|line| line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>"))?;
    u32::try_from(at).ok()
}

/// Whether a line is one of a Helm chart. Elsewhere in a text than at the error, `{{` proves nothing: it may be in a
/// block of text, an alert of Prometheus for example.
fn is_helm_line(line: &str) -> bool {
    const SIGNS: [&str; 16] = [
        "{{-",
        "-}}",
        ".Values",
        ".Release",
        ".Chart",
        ".Files",
        ".Capabilities",
        "include ",
        "template ",
        "toYaml",
        "nindent",
        "| quote",
        "| default",
        "{{ if ",
        "{{ range ",
        "{{ with ",
    ];
    template_start(line).is_some() && SIGNS.iter().any(|sign| line.contains(sign))
}

/// The byte offset of `{{` in a line, outside of quotes and comments.
fn template_start(line: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => return None,
            (None, '{') if line.get(at..).is_some_and(|rest| rest.starts_with("{{")) => return Some(at),
            // An apostrophe inside a word opens nothing.
            (None, '"' | '\'') if !before.is_alphanumeric() => quote = Some(c),
            (Some(open), _) if c == open && before != '\\' => quote = None,
            _ => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_outside_quotes() {
        for line in ["a: {{ .Values.a }}", "{{- if x }}", "it's {{ x }}", "\"a\": {{ x }}"] {
            assert!(template_start(line).is_some(), "{line}");
        }
        for line in ["a: \"{{ x }}\"", "a: '{{ x }}'", "# {{ x }}", "a: b # {{ x }}", "a: {b: {c: d}}"] {
            assert_eq!(template_start(line), None, "{line}");
        }
    }

    #[test]
    fn causes() {
        let origin = Position { line: 10, column: 1 };
        let explain = |text: &str, line| {
            let fault = ReadFault::new(Position { line, column: 3 }, "parser says");
            let fault = if text.starts_with('%') {
                ReadFault { message: "did not find expected <document start>".to_owned(), ..fault }
            } else {
                fault
            };
            let fault = replace_message_by_usual_cause(text, origin, fault);
            (fault.at.line, fault.at.column, fault.message)
        };
        assert_eq!(explain("a:\n<<<<<<< HEAD\n", 10), (11, 1, "unresolved merge conflict".to_owned()));
        assert_eq!(explain("a:\n \tb: 1\n", 11), (11, 2, "a tab cannot indent YAML: use spaces".to_owned()));
        assert_eq!(explain("a:\n- {{ x }}\n", 11), (11, 3, MUSTACHE.to_owned()));
        assert_eq!(explain("é: {{ .Values.x }}\n", 10), (10, 4, HELM.to_owned()));
        assert_eq!(explain("a: {{ x }}\nb: {{- y }}\n", 10), (10, 4, HELM.to_owned()));
        assert_eq!(explain("a:\n- {{- x }}\n", 10), (10, 3, format!("parser says ({HELM})")));
        assert_eq!(explain("a:\n- {{ $x }}\n", 10), (10, 3, "parser says".to_owned()));
        assert_eq!(
            explain("%YAML 1.1\n", 11),
            (10, 1, "kubectl does not accept a %YAML or %TAG directive: remove it".to_owned())
        );
        assert_eq!(explain("a:\n- x\n", 99), (99, 3, "parser says".to_owned()));
    }
}
