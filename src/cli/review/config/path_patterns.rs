//! Paths of a configuration: a file, a directory with all that is below it, or a pattern.

/// Whether a path, or a directory above it, fits a pattern: `*` stands for any part of a name, `**` for any directories.
pub(super) fn fits(pattern: &str, path: &str) -> bool {
    let names = |text: &'_ str| -> Vec<String> {
        text.split('/').filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect()
    };
    all(&names(pattern), &names(path))
}

fn all(pattern: &[String], path: &[String]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return true };
    if first == "**" {
        let mut left = path;
        loop {
            if all(rest, left) {
                return !rest.is_empty() || !path.is_empty();
            }
            match left.split_first() {
                Some((_, below)) => left = below,
                None => return false,
            }
        }
    }
    path.split_first().is_some_and(|(name, below)| name_fits(first, name) && all(rest, below))
}

/// `*` in one name. The first place for each part leaves most for the others.
fn name_fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
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
            assert_eq!(fits(pattern, path), fit, "{pattern} {path}");
        }
    }
}
