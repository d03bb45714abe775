//! Which names a list surely lacks. Rules and the plan ask a container for dozens of variables, of which it sets a few. To
//! compare the forty names of a training container with each took a twentieth of a review's instructions.

/// A bit for each mark that a name of the list has. Names that differ may have the same mark.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NameMarks(u128);

impl NameMarks {
    /// The marks of these names.
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        Self(names.fold(0, |marks, name| marks | mark(name)))
    }

    /// Whether the list may have a name. False only where it has not.
    pub(super) fn may_have(self, name: &str) -> bool {
        self.0 & mark(name) != 0
    }
}

/// The length, a byte in the middle and the last byte, in one bit. Variables of one program begin alike.
fn mark(name: &str) -> u128 {
    let byte = |at: usize| name.as_bytes().get(at).map_or(0, |byte| usize::from(*byte));
    let length = name.len();
    1 << ((length * 5 + byte(length / 2) * 3 + byte(length.saturating_sub(1))) % 128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_list_is_never_missed() {
        let names = ["", "A", "é", "NCCL_DEBUG", "NCCL_IB_HCA", "HF_HOME"];
        for kept in 0..=names.len() {
            let marks = NameMarks::of(names.iter().take(kept).copied());
            assert!(names.iter().take(kept).all(|name| marks.may_have(name)), "{kept}");
        }
        assert!(!NameMarks::default().may_have("NCCL_DEBUG"));
        assert!(!NameMarks::of(["NCCL_DEBUG"].into_iter()).may_have("NCCL_IB_HCA"));
    }
}
