//! The items of lists, as kubectl reads them. For kubectl, an object of any kind with `items` is a list, and its items may be
//! lists in turn (apimachinery pkg/apis/meta/v1/unstructured/unstructured.go, `IsList` and `decodeToList`; cli-runtime
//! pkg/resource/visitor.go, `FlattenListVisitor`).

use crate::json::types_of_decoded_fields::List;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Most lists in one another (count). Each list is read once more for each list around it; people write one or two.
const MAX_NESTED_LISTS: usize = 32;

/// End of the kind of a list, as in `PodList`.
const LIST: &str = "List";

/// What an item has from the list around it.
#[derive(Debug, Default)]
pub(super) struct AroundItem {
    /// Number of lists.
    lists: usize,
    /// Kind and version of items that lack them; empty where the list gives none.
    kind: String,
    api_version: String,
}

impl AroundItem {
    /// The same for the items of a list in it.
    pub(super) fn for_items(&self, kind: &str, api_version: &str) -> Self {
        Self {
            lists: self.lists + 1,
            kind: kind.strip_suffix(LIST).unwrap_or(kind).to_owned(),
            api_version: api_version.to_owned(),
        }
    }

    /// The API server writes typed lists without the kind and version of their items, so kubectl takes both from the list if
    /// an item lacks one of them.
    pub(super) fn kind_and_api_version_of_item(&self, kind: String, api_version: String) -> (String, String) {
        if (kind.is_empty() || api_version.is_empty()) && !self.kind.is_empty() {
            (self.kind.clone(), self.api_version.clone())
        } else {
            (kind, api_version)
        }
    }

    /// Whether items of this list are not read.
    pub(super) fn is_too_deep(&self) -> bool {
        self.lists > MAX_NESTED_LISTS
    }

    /// The error of a list whose items are not read.
    pub(super) fn error_if_too_deep(&self) -> String {
        format!(
            "these items are in {} lists, one in another, and at most {MAX_NESTED_LISTS} are read; write the objects as separate \
             documents, or as items of one list",
            self.lists
        )
    }
}

#[derive(Deserialize)]
struct Items<'a> {
    #[serde(borrow, default)]
    items: Option<List<Option<&'a RawValue>>>,
}

fn decode_items(json: &str) -> Option<Vec<Option<&RawValue>>> {
    // Most objects have none, and this search costs much less than reading the object again. `\u` may hide the key.
    if memchr::memmem::find(json.as_bytes(), b"\"items\"").is_none() && !json.contains("\\u") {
        return None;
    }
    Some(serde_json::from_str::<Items<'_>>(json).ok()?.items?.0)
}

/// The items of an object.
pub(super) struct ItemsOfObject<'a> {
    /// Whether the object is nothing but a list. Kinds of other objects may end like those of lists.
    pub(super) is_only_a_list: bool,
    /// With their numbers.
    pub(super) items: Vec<(usize, &'a str)>,
}

/// The items of a list. An object of another kind is also a list if all of its items are objects.
pub(super) fn items_of_object<'a>(json: &'a str, kind: &str) -> ItemsOfObject<'a> {
    let Some(items) = decode_items(json) else {
        return ItemsOfObject { is_only_a_list: false, items: Vec::new() };
    };
    let items = items.into_iter().enumerate().filter_map(|(index, item)| Some((index, item?.get())));
    let items: Vec<(usize, &str)> = items.collect();
    let is_only_a_list = kind.ends_with(LIST);
    let are_objects = || items.iter().all(|(_, item)| item.starts_with('{'));
    let is_list = is_only_a_list || are_objects();
    ItemsOfObject { is_only_a_list, items: if is_list { items } else { Vec::new() } }
}
