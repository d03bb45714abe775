//! The text of a rule, as `page.md` in its folder has it: a title with id and summary, then sections with fixed titles.

/// The text of a rule. Lines of a section are joined where the file wraps
/// them. Paragraphs and list items stay apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Id of the rule.
    pub id: String,
    /// One line.
    pub summary: String,
    /// What it looks at and when it reports.
    pub what: String,
    /// What breaks, with the sign in logs or events.
    pub why: String,
    /// What to do.
    pub fix: String,
    /// Where the fact comes from.
    pub sources: Vec<String>,
    /// Ids of the same condition in the catalogue of known failures that docs/rules-not-taken.md goes through.
    pub catalogue: Vec<String>,
}

impl Page {
    /// Reads a page.
    ///
    /// # Errors
    /// A title of another form, a section that is missing, unknown or given twice, or a source that is not a list item.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut sections = text.split("\n## ");
        let title = sections.next().unwrap_or_default().trim();
        let named = title.strip_prefix("# ").and_then(|title| title.split_once(": "));
        let Some((id, summary)) = named else {
            return Err(format!("title {title:?}: expected `# FABnnn: summary`"));
        };
        let mut page = Self { id: id.to_owned(), summary: summary.to_owned(), ..Self::default() };
        for section in sections {
            let (name, body) = section.split_once('\n').unwrap_or((section, ""));
            let taken = match name {
                "What it looks at" => parse_paragraph_into(body, &mut page.what),
                "Why it breaks" => parse_paragraph_into(body, &mut page.why),
                "Fix" => parse_paragraph_into(body, &mut page.fix),
                "Sources" => parse_items_into(body, &mut page.sources),
                "Catalogue" => parse_ids_into(body, &mut page.catalogue),
                _ => Err("is not a section of a rule's page"),
            };
            taken.map_err(|fault| format!("{id}, section {name:?}: {fault}"))?;
        }
        let missing = [("What it looks at", &page.what), ("Why it breaks", &page.why), ("Fix", &page.fix)];
        match missing.iter().find(|(_, text)| text.is_empty()) {
            Some((name, _)) => Err(format!("{id}: section {name:?} is missing")),
            None if page.sources.is_empty() => Err(format!("{id}: section \"Sources\" is missing")),
            None => Ok(page),
        }
    }
}

fn parse_paragraph_into(body: &str, out: &mut String) -> Result<(), &'static str> {
    if !out.is_empty() {
        return Err("is given twice");
    }
    for line in body.trim().lines() {
        let line = line.trim();
        match line {
            "" => out.push_str("\n\n"),
            item if item.starts_with("- ") && !out.ends_with('\n') => out.extend(["\n", item]),
            text if out.is_empty() || out.ends_with('\n') => out.push_str(text),
            text => out.extend([" ", text]),
        }
    }
    if out.is_empty() { Err("is empty") } else { Ok(()) }
}

fn parse_items_into(body: &str, out: &mut Vec<String>) -> Result<(), &'static str> {
    if !out.is_empty() {
        return Err("is given twice");
    }
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        let item = line.strip_prefix("- ").ok_or("has a line that does not start with `- `")?;
        out.push(item.trim().to_owned());
    }
    if out.is_empty() { Err("is empty") } else { Ok(()) }
}

fn parse_ids_into(body: &str, out: &mut Vec<String>) -> Result<(), &'static str> {
    let mut text = String::new();
    parse_paragraph_into(body, &mut text)?;
    if !out.is_empty() {
        return Err("is given twice");
    }
    out.extend(text.split(", ").map(str::to_owned));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# FAB999: a summary\n\n## What it looks at\n\nOne\ntwo.\n\n- x\n  y\n- z\n\n## Why it breaks\n\nWhy.\n\n\
                        ## Fix\n\nFix.\n\n## Sources\n\n- a\n- b\n\n## Catalogue\n\nANN-001, ANN-002\n";

    #[test]
    fn paragraphs_and_items_of_a_section_stay_apart() {
        let page = Page::parse(PAGE).unwrap();
        assert_eq!(
            (&*page.id, &*page.summary, &*page.what),
            ("FAB999", "a summary", "One two.\n\n- x y\n- z")
        );
        assert_eq!((&*page.why, &*page.fix), ("Why.", "Fix."));
        assert_eq!(
            (page.sources, page.catalogue),
            (vec!["a".to_owned(), "b".to_owned()], vec!["ANN-001".to_owned(), "ANN-002".to_owned()])
        );
    }

    #[test]
    fn a_page_of_another_form_is_an_error() {
        for (from, to) in [
            ("# FAB999: ", "# FAB999 "),
            ("# FAB999: ", ""),
            ("## Fix\n\nFix.\n\n", ""),
            ("Why.", ""),
            ("## Sources\n\n- a\n- b\n\n", ""),
            ("- a", "a"),
            ("## Fix", "## Fixes"),
            ("## Sources", "## Fix\n\nAgain.\n\n## Sources"),
        ] {
            let text = PAGE.replacen(from, to, 1);
            assert_ne!(text, PAGE);
            assert!(Page::parse(&text).is_err(), "{text}");
        }
    }
}
