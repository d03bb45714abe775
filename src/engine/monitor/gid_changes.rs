//! Changes of the GID tables. A connection keeps the GID with which it was made, and NCCL chooses a row once: after a
//! change, new connections of a running job may fail.

use crate::rdma::gid::Gid;
use crate::rdma::{Reading, Unreadable};
use std::collections::BTreeMap;

/// The rows of a port that belong to the pod, and how often they changed.
#[derive(Debug, Default)]
pub struct Gids {
    rows: Option<BTreeMap<u32, Gid>>,
    changes: u64,
}

impl Gids {
    /// The rows to read again; `None` before the first look at the whole table.
    #[must_use]
    pub fn row_numbers_to_read_again(&self) -> Option<Vec<u32>> {
        self.rows.as_ref().map(|rows| rows.keys().copied().collect())
    }

    /// Changes since the first look; `None` before it.
    #[must_use]
    pub fn changes(&self) -> Option<u64> {
        self.rows.as_ref().map(|_| self.changes)
    }

    /// Takes the whole table. Only rows of the pod count: the kernel shows the rows of other pods too. A row that cannot be
    /// read is as before; a table without a row that can be read is no look.
    pub fn replace_table(
        &mut self,
        table: impl IntoIterator<Item = (u32, Reading<Gid>)>,
        is_own: impl Fn(Gid) -> bool,
    ) {
        let (mut now, mut has_read) = (BTreeMap::new(), false);
        for (row, gid) in table {
            let gid = match known(gid) {
                Some(gid) => {
                    has_read = true;
                    gid.filter(|gid| is_own(*gid))
                }
                None => self.rows.as_ref().and_then(|before| before.get(&row)).copied(),
            };
            now.extend(gid.map(|gid| (row, gid)));
        }
        if !has_read {
            return;
        }
        if let Some(before) = &self.rows {
            let rows: std::collections::BTreeSet<&u32> = before.keys().chain(now.keys()).collect();
            let differs = rows.into_iter().filter(|row| before.get(*row) != now.get(*row));
            self.changes = self.changes.saturating_add(differs.count() as u64);
        }
        self.rows = Some(now);
    }

    /// Takes the rows of [`Self::row_numbers_to_read_again`].
    pub fn update_known_rows(
        &mut self,
        rows: impl IntoIterator<Item = (u32, Reading<Gid>)>,
        is_own: impl Fn(Gid) -> bool,
    ) {
        let Some(own) = &mut self.rows else { return };
        for (row, gid) in rows {
            let Some(gid) = known(gid) else { continue };
            let now = gid.filter(|gid| is_own(*gid));
            if own.get(&row).copied() == now {
                continue;
            }
            self.changes = self.changes.saturating_add(1);
            match now {
                Some(gid) => own.insert(row, gid),
                None => own.remove(&row),
            };
        }
    }
}

/// The GID of a row, and whether the row exists; `None` if nothing is known about it.
fn known(gid: Reading<Gid>) -> Option<Option<Gid>> {
    match gid {
        Ok(gid) => Some(Some(gid)),
        // The row has been deleted.
        Err(Unreadable::Missing | Unreadable::Invalid) => Some(None),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gid(last: u8) -> Reading<Gid> {
        let mut bytes = [0; 16];
        bytes[15] = last;
        Ok(Gid(bytes))
    }

    fn own(gid: Gid) -> bool {
        (1..100).contains(&gid.0[15])
    }

    #[test]
    fn changes_of_own_rows_count() {
        let mut gids = Gids::default();
        assert_eq!((gids.row_numbers_to_read_again(), gids.changes()), (None, None));
        gids.replace_table([(0, gid(1)), (1, gid(200)), (2, gid(0)), (3, gid(2))], own);
        assert_eq!((gids.row_numbers_to_read_again(), gids.changes()), (Some(vec![0, 3]), Some(0)));
        gids.update_known_rows([(0, gid(1)), (3, gid(2))], own);
        assert_eq!(gids.changes(), Some(0));
        gids.update_known_rows([(0, gid(1)), (3, gid(7))], own);
        assert_eq!(gids.changes(), Some(1));
        // A row that cannot be read is not a change; a row that is empty is one.
        gids.update_known_rows([(0, Err(Unreadable::Denied)), (3, gid(0))], own);
        assert_eq!((gids.row_numbers_to_read_again(), gids.changes()), (Some(vec![0]), Some(2)));
        // A new row is seen when the whole table is read, and a row of another pod is not counted.
        gids.replace_table([(0, gid(1)), (1, gid(201)), (5, gid(7))], own);
        assert_eq!((gids.row_numbers_to_read_again(), gids.changes()), (Some(vec![0, 5]), Some(3)));
    }

    #[test]
    fn a_table_that_cannot_be_read_is_no_change() {
        let mut gids = Gids::default();
        gids.replace_table([(0, Err(Unreadable::Denied))], own);
        assert_eq!((gids.row_numbers_to_read_again(), gids.changes()), (None, None));
        gids.replace_table([(0, gid(1)), (1, gid(2))], own);
        gids.replace_table([(0, Err(Unreadable::Denied)), (1, gid(2))], own);
        gids.replace_table([(0, Err(Unreadable::Denied)), (1, Err(Unreadable::Denied))], own);
        gids.replace_table([(0, gid(1)), (1, gid(2))], own);
        assert_eq!((gids.row_numbers_to_read_again(), gids.changes()), (Some(vec![0, 1]), Some(0)));
    }
}
