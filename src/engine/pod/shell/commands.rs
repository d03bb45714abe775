//! The commands of shell text.

use super::words::Commands;
use std::borrow::Cow;

/// The words of each command, without their quotes.
pub(crate) fn commands(text: &str) -> impl Iterator<Item = Vec<Cow<'_, str>>> {
    let mut commands = Commands::new(text);
    std::iter::from_fn(move || {
        let mut words = Vec::new();
        commands.next_into(&mut words).then(|| words.into_iter().map(|word| word.text).collect())
    })
}
