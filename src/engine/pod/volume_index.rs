//! Places of volumes by name.

use std::cell::OnceCell;

/// Places of the volumes in the order of their names; made when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct VolumeIndex(pub(super) OnceCell<Vec<usize>>);
