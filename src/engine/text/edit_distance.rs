//! How many mistakes lie between two names.

/// Most characters of a name that are compared: as many as there are bits in a word, and names come from outside.
pub(super) const MAX_COMPARED_CHARACTERS: usize = 64;

/// A name that is compared with others, by its first characters.
pub(super) struct ComparedName<'a> {
    start: &'a str,
    length: usize,
    /// Where each letter of ASCII stands, a bit for each place.
    ascii: [u64; 128],
    other: Vec<(char, u64)>,
}

impl<'a> ComparedName<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        let start = first_characters(name);
        let mut new = Self { start, length: 0, ascii: [0; 128], other: Vec::new() };
        for c in start.chars() {
            let place = 1 << new.length;
            new.length += 1;
            match new.ascii.get_mut(c as usize) {
                Some(places) => *places |= place,
                None => match new.other.iter_mut().find(|(known, _)| *known == c) {
                    Some((_, places)) => *places |= place,
                    None => new.other.push((c, place)),
                },
            }
        }
        new
    }

    fn places(&self, c: char) -> u64 {
        let of_other = || self.other.iter().find(|(known, _)| *known == c).map(|(_, places)| *places);
        self.ascii.get(c as usize).copied().or_else(of_other).unwrap_or_default()
    }

    /// The mistakes between two names, where they are at most `most`. Names whose lengths differ by more are not compared.
    pub(super) fn mistakes(&self, name: &str, most: usize) -> Option<usize> {
        let name = first_characters(name);
        // Lengths in letters; a letter of UTF-8 has up to four bytes.
        let (a, b) = (self.start.len(), name.len());
        if a.min(b) + most < a.max(b) && self.length.abs_diff(name.chars().count()) > most {
            return None;
        }
        Some(self.optimal_string_alignment(name)).filter(|mistakes| *mistakes <= most)
    }

    /// A letter more, less or different, or two neighbours swapped, is one mistake. A column of the table of distances is two words
    /// of bits, in which a bit says whether a distance is one more, or one less, than the one above it (Hyyrö, A bit-vector algorithm
    /// for computing Levenshtein and Damerau edit distances, Nordic Journal of Computing 10/1). A table of numbers takes a hundred
    /// times as long.
    fn optimal_string_alignment(&self, name: &str) -> usize {
        let Some(last) = self.length.checked_sub(1).map(|last| 1_u64 << last) else {
            return name.chars().count();
        };
        let (mut more, mut less, mut diagonal, mut places_before) = (u64::MAX, 0, 0_u64, 0);
        let mut mistakes = self.length;
        for c in name.chars() {
            let places = self.places(c);
            let swapped = ((!diagonal & places) << 1) & places_before;
            diagonal = ((places & more).wrapping_add(more) ^ more) | places | less | swapped;
            let (more_right, less_right) = (less | !(diagonal | more), diagonal & more);
            if more_right & last != 0 {
                mistakes += 1;
            } else if less_right & last != 0 {
                mistakes = mistakes.saturating_sub(1);
            }
            let more_right = (more_right << 1) | 1;
            more = (less_right << 1) | !(diagonal | more_right);
            less = more_right & diagonal;
            places_before = places;
        }
        mistakes
    }
}

/// The first characters of a name.
fn first_characters(name: &str) -> &str {
    // Each has at least one byte.
    if name.len() <= MAX_COMPARED_CHARACTERS {
        return name;
    }
    name.char_indices().nth(MAX_COMPARED_CHARACTERS).and_then(|(end, _)| name.get(..end)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_by_a_table() {
        let letters = ['a', 'b', 'é', '語'];
        let names: Vec<String> = (0..4_usize.pow(5))
            .flat_map(|n| {
                (0..=5).map(move |length| (0..length).map(|at| letters[n / 4_usize.pow(at) % 4]).collect())
            })
            .collect();
        for (i, one) in names.iter().enumerate().step_by(13) {
            let compared = ComparedName::new(one);
            for other in names.iter().skip(i % 11).step_by(11) {
                let expected = strsim::osa_distance(one, other);
                assert_eq!(compared.mistakes(other, usize::MAX / 2), Some(expected), "{one} {other}");
                assert_eq!(compared.mistakes(other, 1), (expected < 2).then_some(expected), "{one} {other}");
            }
        }
    }

    #[test]
    fn long_names_count_by_their_start() {
        let (one, other) = ("abcdefgh".repeat(20), "abdcefg".repeat(20));
        let expected = strsim::osa_distance(first_characters(&one), first_characters(&other));
        assert_eq!(ComparedName::new(&one).mistakes(&other, 64), Some(expected));
        assert_eq!(first_characters(&"é".repeat(100)).chars().count(), MAX_COMPARED_CHARACTERS);
    }
}
