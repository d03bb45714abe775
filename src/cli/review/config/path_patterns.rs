//! Paths of a configuration: a file, a directory with all that is below it, or a pattern.

/// The names of a pattern, or of a path.
pub(super) fn names_of_path(text: &str) -> Vec<String> {
    text.split('/').filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect()
}

/// Whether a path, or a directory above it, fits a pattern, both by their names: `*` stands for any part of a name, `**` for any
/// directories. The names after a `**` are looked for from left to right:
/// the first place leaves most for the rest of the pattern, so only the last `**` is ever tried again.
pub(super) fn does_path_match_pattern(pattern: &[String], path: &[String]) -> bool {
    let (mut wanted, mut left) = (pattern, path);
    // What follows the last `**`, and where to look for it next.
    let mut again: Option<(&[String], &[String])> = None;
    while let Some((first, rest)) = wanted.split_first() {
        if first == "**" {
            if rest.is_empty() {
                return !left.is_empty();
            }
            again = Some((rest, left));
            wanted = rest;
            continue;
        }
        match left.split_first() {
            Some((name, below)) if name_fits(first, name) => (wanted, left) = (rest, below),
            _ => {
                let Some((rest, [_, below @ ..])) = again else { return false };
                again = Some((rest, below));
                (wanted, left) = (rest, below);
            }
        }
    }
    true
}

/// `*` in one name. The first place for each part leaves most for the others. No name has more letters than parts of a pattern that
/// can be found in it.
fn name_fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        if part.is_empty() {
            continue;
        }
        match left.find(part).and_then(|at| left.get(at + part.len()..)) {
            Some(after) => left = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_directories_and_patterns() {
        for (pattern, path, fit) in [
            ("a.yaml", "a.yaml", true),
            ("a.yaml", "b/a.yaml", false),
            ("legacy", "legacy/x/a.yaml", true),
            ("legacy/", "legacy/a.yaml", true),
            ("legacy", "legacy-2/a.yaml", false),
            ("./legacy", "legacy/a.yaml", true),
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "b/a.yaml", false),
            ("**/*.yaml", "b/c/a.yaml", true),
            ("**/*.yaml", "a.yaml", true),
            ("**/gen-*-x", "b/gen-1-x/a.yaml", true),
            ("**/gen-*-x", "b/gen-1-y/a.yaml", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
            ("**", "a/b", true),
        ] {
            assert_eq!(
                does_path_match_pattern(&names_of_path(pattern), &names_of_path(path)),
                fit,
                "{pattern} {path}"
            );
        }
    }

    /// The definition, which takes exponential time.
    fn by_definition(pattern: &[String], path: &[String]) -> bool {
        let Some((first, rest)) = pattern.split_first() else { return true };
        if first == "**" {
            let fits = (0..=path.len()).any(|from| by_definition(rest, &path[from..]));
            return fits && (!rest.is_empty() || !path.is_empty());
        }
        path.split_first().is_some_and(|(name, below)| name_fits(first, name) && by_definition(rest, below))
    }

    #[test]
    fn patterns_fit_what_their_definition_says() {
        let texts = |names: &[&str], longest: u32| {
            let all = (0..=longest).flat_map(|length| {
                (0..names.len().pow(length)).map(move |mut number| {
                    let mut name = || {
                        let at = number % names.len();
                        number /= names.len();
                        names[at].to_owned()
                    };
                    (0..length).map(|_| name()).collect::<Vec<_>>()
                })
            });
            all.collect::<Vec<_>>()
        };
        let paths = texts(&["a", "b"], 5);
        for pattern in texts(&["a", "b", "*", "**"], 4) {
            for path in &paths {
                assert_eq!(
                    does_path_match_pattern(&pattern, path),
                    by_definition(&pattern, path),
                    "{pattern:?} {path:?}"
                );
            }
        }
    }

    /// A file of the repository under review may have any pattern and any depth.
    #[test]
    fn many_stars_take_no_time() {
        let (pattern, path) = ("**/a/".repeat(2000) + "b", "a/".repeat(2000) + "c");
        let fits = |path: &str| does_path_match_pattern(&names_of_path(&pattern), &names_of_path(path));
        assert!(!fits(&path) && fits(&("a/".repeat(2000) + "b")));
    }
}
