//! The effects of shell text on environment variables.

use super::comments::lines_without_comments;
use super::split_commands_into_words::{Commands, Word};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The effect on a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingEffect {
    /// It gets a value: `export N=V`, `N=V cmd`, `env N=V cmd`, `-x N=V`.
    Sets,
    /// It gets a value if it has none: `${N:-V}`, `${N:=V}`.
    Default,
    /// A launcher passes it on: `-x N`, `-envlist N`.
    PassesOn,
    /// It is removed.
    Unsets,
}

/// One effect on one variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<'t> {
    /// Variable.
    pub name: &'t str,
    /// Value; `None` if it is known only at run time, or if there is none.
    pub value: Option<Cow<'t, str>>,
    /// The effect.
    pub how: SettingEffect,
    /// Its place in the text (bytes).
    pub at: usize,
}

/// The effects of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EffectsOnVariables<'t> {
    /// Variables, in the order of the text.
    pub settings: Vec<Setting<'t>>,
    /// Files that the shell sources (`source F`, `. F`): the variables in them are not known.
    pub sources: Vec<Cow<'t, str>>,
    /// Whether the text has more words in a command, or more settings, than are read.
    pub unread: bool,
}

/// Most settings of one text that are kept (count): each takes a hundred bytes, and a text of a megabyte has a hundred
/// thousand. Real scripts have some twenty.
const MAX_SETTINGS: usize = 4096;

/// The effects of a text that is being read.
struct Found<'t> {
    script: EffectsOnVariables<'t>,
    /// Whether a variable of this name is asked for: the others are not kept.
    matters: fn(&str) -> bool,
}

impl<'t> Found<'t> {
    fn new(matters: fn(&str) -> bool) -> Self {
        Self { script: EffectsOnVariables::default(), matters }
    }

    fn push(&mut self, setting: Setting<'t>) {
        if !(self.matters)(setting.name) {
            return;
        }
        if self.script.settings.len() < MAX_SETTINGS {
            self.script.settings.push(setting);
        } else {
            self.script.unread = true;
        }
    }

    fn extend(&mut self, settings: impl IntoIterator<Item = Setting<'t>>) {
        settings.into_iter().for_each(|setting| self.push(setting));
    }
}

/// Shells that take a script behind `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "zsh", "ksh"];
/// Words that may precede a command and are not commands themselves.
const BEFORE: [&str; 17] = [
    "if", "then", "elif", "else", "while", "until", "do", "!", "{", "exec", "nohup", "time", "sudo", "eval",
    "command", "builtin", "nice",
];
/// Longest value of `${N:=V}` (bytes).
const MAX_DEFAULT: usize = 256;
/// Most levels of scripts within scripts.
const MAX_DEPTH: usize = 3;

/// Reads shell text, for the variables whose names matter.
#[must_use]
pub fn read_shell_text(text: &str, matters: fn(&str) -> bool) -> EffectsOnVariables<'_> {
    let mut found = Found::new(matters);
    add_settings_of_text(text, 0, MAX_DEPTH, &mut found);
    add_settings_of_python_text(text, &mut found);
    found.script
}

/// Reads the words that a container runs without a shell; word `i` is at `at(i)`.
#[must_use]
pub fn read_words_without_shell<'t>(list: &[&'t str]) -> EffectsOnVariables<'t> {
    let word = |(i, text): (usize, &&'t str)| Word {
        raw: text,
        text: Cow::Borrowed(*text),
        open: text.contains("$("),
        at: i,
    };
    let words: Vec<Word<'t>> = list.iter().enumerate().map(word).collect();
    let mut found = Found::new(|_| true);
    add_settings_of_command(&words, 0, 0, &mut found);
    found.script
}

fn add_settings_of_text<'t>(text: &'t str, offset: usize, depth: usize, found: &mut Found<'t>) {
    let mut commands = Commands::new(text);
    let mut words = Vec::new();
    while commands.read_next_command_into(&mut words) {
        add_settings_of_command(&words, offset, depth, found);
    }
    found.script.unread |= commands.has_unread_words();
}

/// A valid variable name at the start of a text, and the rest of the text.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_alphanumeric() && b != b'_').unwrap_or(text.len());
    let (name, rest) = (text.get(..end)?, text.get(end..)?);
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some((name, rest))
}

/// `N=V`, and `N+=V`.
fn assignment<'t>(word: &Word<'t>, offset: usize) -> Option<Setting<'t>> {
    let (name, rest) = name(word.raw)?;
    let raw = rest.strip_prefix('=').or_else(|| rest.strip_prefix("+="))?;
    let value = word.text.split_once('=').map(|(_, value)| value).unwrap_or_default();
    let at = offset + word.at;
    if let Some(default) = default_of(value, name) {
        let value = known(default).map(|v| Cow::Owned(v.to_owned()));
        return Some(Setting { name, value, how: SettingEffect::Default, at });
    }
    let value = if word.open || rest.starts_with('+') {
        None
    } else if raw == value {
        Some(Cow::Borrowed(raw))
    } else {
        Some(Cow::Owned(value.to_owned()))
    };
    Some(Setting { name, value, how: SettingEffect::Sets, at })
}

fn known(value: &str) -> Option<&str> {
    (!value.contains(['$', '`'])).then(|| value.trim_matches(['"', '\'']))
}

/// `V` of `${N:-V}`, `${N-V}`, `${N:=V}` or `${N=V}`, if that is the whole value.
fn default_of<'v>(value: &'v str, variable: &str) -> Option<&'v str> {
    let inner = value.strip_prefix("${")?.strip_suffix('}')?.strip_prefix(variable)?;
    let inner = inner.strip_prefix(':').unwrap_or(inner);
    inner.strip_prefix('-').or_else(|| inner.strip_prefix('='))
}

fn add_settings_of_command<'t>(words: &[Word<'t>], offset: usize, depth: usize, found: &mut Found<'t>) {
    let rest = add_assignments_before_program(words, offset, found);
    // Without a shell nothing interprets them.
    for word in rest.iter().filter(|_| depth > 0) {
        add_defaults_in_word(word, offset, found);
    }
    add_settings_of_program(rest, offset, depth, found);
}

/// `then export N=V`, `exec env N=V cmd`: the assignments for a command and the words before it; what follows them.
fn add_assignments_before_program<'t, 'w>(
    words: &'w [Word<'t>],
    offset: usize,
    found: &mut Found<'t>,
) -> &'w [Word<'t>] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        if let Some(setting) = assignment(first, offset) {
            found.push(setting);
        } else if !BEFORE.contains(&&*first.text) {
            break;
        }
        rest = after;
    }
    rest
}

/// A program and its arguments, whose `${N:=V}` are known already.
fn add_settings_of_program<'t>(words: &[Word<'t>], offset: usize, depth: usize, found: &mut Found<'t>) {
    let Some((program, arguments)) = words.split_first() else { return };
    let program = program.text.rsplit('/').next().unwrap_or_default();
    match program {
        "export" | "declare" | "typeset" | "readonly" | "local" => {
            found.extend(arguments.iter().filter_map(|w| assignment(w, offset)));
        }
        "unset" => {
            let names =
                arguments.iter().filter_map(|w| Some((name(w.raw).filter(|(_, r)| r.is_empty())?.0, w.at)));
            found.extend(names.map(|(name, at)| unset_of(name, offset + at)));
        }
        "source" | "." => found.script.sources.extend(arguments.first().map(|w| w.text.clone())),
        "env" => add_settings_of_env(arguments, offset, depth, found),
        _ => add_settings_of_launcher_flags(arguments, offset, found),
    }
    if SHELLS.contains(&program) && depth > 0 {
        let flag = arguments
            .iter()
            .position(|w| w.raw.starts_with('-') && !w.raw.starts_with("--") && w.raw.ends_with('c'));
        if let Some(inner) = flag.and_then(|i| arguments.get(i + 1)) {
            // Only if the script is a literal part of the text: else its parts have no place in the text.
            let text = inner.raw.strip_prefix(['\'', '"']).and_then(|t| t.strip_suffix(['\'', '"']));
            if let Some(text) = text.filter(|t| !t.contains('\\')) {
                add_settings_of_text(text, offset + inner.at + 1, depth - 1, found);
            }
        }
    }
}

fn unset_of(name: &str, at: usize) -> Setting<'_> {
    Setting { name, value: None, how: SettingEffect::Unsets, at }
}

/// `${N:=V}` anywhere in a word.
fn add_defaults_in_word<'t>(word: &Word<'t>, offset: usize, found: &mut Found<'t>) {
    if !word.open {
        return;
    }
    for (start, _) in word.raw.match_indices('$') {
        let Some(inner) = word.raw.get(start + 1..).and_then(|rest| rest.strip_prefix('{')) else { continue };
        let Some((name, rest)) = name(inner) else { continue };
        let Some(value) = rest.strip_prefix(":=").or_else(|| rest.strip_prefix('=')) else { continue };
        // Up to the end of the value, or to a part that is known only at run time: a text of such values within each other
        // is read once.
        let end = value.bytes().take(MAX_DEFAULT).position(|b| matches!(b, b'}' | b'$' | b'`'));
        let value = end.and_then(|end| value.split_at_checked(end)).filter(|(_, rest)| rest.starts_with('}'));
        let value = value.and_then(|(value, _)| known(value)).map(Cow::Borrowed);
        found.push(Setting { name, value, how: SettingEffect::Default, at: offset + word.at + start });
    }
}

/// `env [-i] [-u N] [N=V]… cmd`.
fn add_settings_of_env<'t>(arguments: &[Word<'t>], offset: usize, depth: usize, found: &mut Found<'t>) {
    let mut rest = arguments;
    while let Some((first, after)) = rest.split_first() {
        if let Some(setting) = assignment(first, offset) {
            found.push(setting);
        } else if matches!(first.raw, "-u" | "--unset") {
            let Some((unset, after)) = after.split_first() else { return };
            found.extend(name(unset.raw).map(|(n, _)| unset_of(n, offset + unset.at)));
            rest = after;
            continue;
        } else if let Some(unset) =
            first.raw.strip_prefix("--unset=").or_else(|| first.raw.strip_prefix("-u"))
        {
            found.extend(name(unset).map(|(n, _)| unset_of(n, offset + first.at)));
        } else if !first.raw.starts_with('-') {
            return if depth > 0 {
                add_settings_of_program(
                    add_assignments_before_program(rest, offset, found),
                    offset,
                    depth - 1,
                    found,
                )
            } else {
                add_settings_of_launcher_flags(rest, offset, found)
            };
        }
        rest = after;
    }
}

/// Flags by which launchers set variables for the ranks, or pass them on: Open MPI's `-x`, Hydra's `-genv` and
/// `-envlist`, `--env` and `--export` of others.
fn add_settings_of_launcher_flags<'t>(arguments: &[Word<'t>], offset: usize, found: &mut Found<'t>) {
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let flag = word.raw;
        if let Some(inner) = flag.strip_prefix("--env=").or_else(|| flag.strip_prefix("-x=")) {
            let text = Cow::Owned(word.text.split_once('=').map_or(String::new(), |(_, v)| v.to_owned()));
            let inner = Word { raw: inner, text, open: word.open, at: word.at };
            found.extend(setting_behind_launcher_flag(&inner, offset));
            continue;
        }
        match flag {
            "-x" | "--env" | "-env" | "-genv" | "-e" => {
                let Some(next) = words.next_if(|w| name(w.raw).is_some()) else { continue };
                let Some(mut setting) = setting_behind_launcher_flag(next, offset) else { continue };
                if setting.how == SettingEffect::PassesOn && matches!(flag, "-genv" | "-env") {
                    setting.how = SettingEffect::Sets;
                    setting.value = words.next().filter(|v| !v.open).map(|v| v.text.clone());
                }
                found.push(setting);
            }
            "-envlist" | "-genvlist" => {
                let Some(next) = words.next() else { continue };
                let names = next.raw.split(',').filter_map(|n| Some(name(n)?.0));
                found.extend(names.map(|name| Setting {
                    name,
                    value: None,
                    how: SettingEffect::PassesOn,
                    at: offset + next.at,
                }));
            }
            _ => {}
        }
    }
}

/// `N=V` or `N` behind a launcher's flag.
fn setting_behind_launcher_flag<'t>(word: &Word<'t>, offset: usize) -> Option<Setting<'t>> {
    assignment(word, offset).or_else(|| {
        let (name, rest) = name(word.raw)?;
        let at = offset + word.at;
        rest.is_empty().then_some(Setting { name, value: None, how: SettingEffect::PassesOn, at })
    })
}

/// Made once: to prepare a search takes longer than to search a short line.
static ENVIRON: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("os.environ"));

/// `os.environ["N"] = …` in a program's text: it shows that the variable is set, not its value.
fn add_settings_of_python_text<'t>(text: &'t str, found: &mut Found<'t>) {
    if ENVIRON.find(text.as_bytes()).is_none() {
        return;
    }
    let places = lines_without_comments(text)
        .flat_map(|(at, part)| ENVIRON.find_iter(part.as_bytes()).map(move |start| at + start));
    for start in places {
        let after = text.get(start + ENVIRON.needle().len()..).unwrap_or_default();
        let (after, default) = match after.strip_prefix(".setdefault(") {
            Some(rest) => (rest, true),
            None => match after.strip_prefix('[') {
                Some(rest) => (rest, false),
                None => continue,
            },
        };
        let Some((name, rest)) = after.strip_prefix(['"', '\'']).and_then(name) else { continue };
        let Some(rest) = rest.strip_prefix(['"', '\'']) else { continue };
        let set = rest
            .strip_prefix(']')
            .map(str::trim_start)
            .is_some_and(|r| r.starts_with('=') && !r.starts_with("=="));
        if default || set {
            let how = if default { SettingEffect::Default } else { SettingEffect::Sets };
            found.push(Setting { name, value: None, how, at: start });
        }
    }
}
