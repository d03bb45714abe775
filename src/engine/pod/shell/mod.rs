//! Variables that a container's command sets itself. Public manifests set about half of their NCCL variables in shell
//! text rather than in `env`, and there they override injected ones.

mod comments;
mod split_commands_into_words;
#[cfg(test)]
mod tests;
mod variables_set;

use memchr::memmem::Finder;
use std::sync::LazyLock;

pub(crate) use comments::lines_without_comments;
pub use variables_set::{
    EffectsOnVariables, Setting, SettingEffect, read_shell_text, read_words_without_shell,
};

/// Whether shell text gives a variable a value: `export N=V`, `N=V cmd`, `-x N=V`, `${N:-V}` and the like. Reading it
/// (`$N`), passing it on (`-x N`) and comments do not count. It finds more than [`read_shell_text`] does: leaving out one variable
/// too many does less harm than missing one that the text sets.
#[must_use]
pub fn sets_variable(text: &str, name: &str) -> bool {
    all_assigned_names(text).any(|assigned| assigned == name)
}

/// Every name that shell text gives a value, by the rules of [`sets_variable`], in one pass over a text of megabytes.
pub(crate) fn all_assigned_names(text: &str) -> impl Iterator<Item = &str> {
    // Most words of a command have neither byte, and then no lines need to be found.
    let text = if memchr::memchr2(b'=', b'{', text.as_bytes()).is_some() { text } else { "" };
    lines_without_comments(text).flat_map(|(_, part)| assigned_in(part))
}

/// Whether shell text sources a file, whose variables are not known.
#[must_use]
pub fn sources_file(text: &str) -> bool {
    lines_without_comments(text)
        .any(|(_, part)| SOURCES.iter().any(|word| word.find(part.as_bytes()).is_some()))
}

/// Made once: to prepare a search takes longer than to search a short line.
static SOURCES: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| ["source ", ". /"].map(Finder::new));

fn assigned_in(text: &str) -> impl Iterator<Item = &str> {
    memchr::memchr2_iter(b'=', b'{', text.as_bytes()).filter_map(|at| {
        let (before, rest) = text.split_at_checked(at)?;
        let name = if rest.starts_with('=') {
            let length = before.bytes().rev().take_while(|b| is_name_byte(*b)).count();
            before.get(at - length..)?
        } else {
            let inner = rest.get(1..)?;
            let length = inner.bytes().take_while(|b| is_name_byte(*b)).count();
            let (name, after) = inner.split_at_checked(length)?;
            (after.starts_with(":-") || after.starts_with(":=") || after.starts_with('-')).then_some(name)?
        };
        (!name.is_empty()).then_some(name)
    })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
