//! FAB9xx: how a file writes its objects. Only reviews of files report these faults: the API server refuses such
//! objects before it calls the webhook, or does not see what the file wrote.

mod fab901_wrong_type;
mod fab902_repeated_key;
mod fab903_placeholder;
mod placeholder;

use crate::rules::rule_declaration::Rule;
pub use fab901_wrong_type::{ConvertedValue, convert_to_type_of_field};
pub use fab902_repeated_key::{RULE as REPEATED_KEY, finding_on_repeated_key};
pub use fab903_placeholder::finding_on_placeholders;
pub use placeholder::{Placeholder, Syntax, find_placeholders};

/// Rules of the group, by id.
pub(super) static RULES: &[&Rule] =
    &[&fab901_wrong_type::RULE, &fab902_repeated_key::RULE, &fab903_placeholder::RULE];
