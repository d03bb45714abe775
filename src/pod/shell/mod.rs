//! Variables that a container's command sets by itself. Public manifests set about half of their NCCL
//! variables in shell text rather than in `env`, and there they win over what is injected.

mod settings;
#[cfg(test)]
mod tests;
mod words;

pub use settings::{How, Script, Setting, arguments, script};

/// Whether shell text gives a variable a value: `export N=V`, `N=V cmd`, `-x N=V`, `${N:-V}` and the like.
/// Reading it (`$N`) or passing it on (`-x N`) does not. It sees more than [`script`] does: a plan that leaves one
/// variable out too many does less harm than one that is not seen.
#[must_use]
pub fn sets_variable(text: &str, name: &str) -> bool {
    // The empty text is found everywhere, and again and again.
    if name.is_empty() {
        return false;
    }
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(name)) {
        let start = from + at;
        let end = start + name.len();
        let before = text.get(..start).and_then(|t| t.chars().next_back());
        let after = text.get(end..).unwrap_or_default();
        if !before.is_some_and(is_name_char) && !after.chars().next().is_some_and(is_name_char) {
            let braced = before == Some('{');
            let assigned = after.starts_with('=');
            let defaulted =
                braced && (after.starts_with(":-") || after.starts_with(":=") || after.starts_with('-'));
            if assigned || defaulted {
                return true;
            }
        }
        from = end;
    }
    false
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
