//! Small ELF files: what a dynamic library needs, its name, and texts in it.

/// A 64-bit library from `soname=A needed=B,C text=D,E machine=arm64 repeat=2`: `repeat` entries for each needed library.
pub(crate) fn library(parts: &str) -> Result<Vec<u8>, String> {
    let (mut soname, mut needed, mut texts, mut machine) = (None, Vec::new(), Vec::new(), host());
    let mut repeat = 1;
    for part in parts.split_whitespace() {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("{part:?}: no value"))?;
        // A comma separates values, and `_` stands for a space.
        let values = || value.split(',').map(|text| text.replace('_', " "));
        match key {
            "soname" => soname = Some(value.to_owned()),
            "needed" => needed.extend(value.split(',').map(str::to_owned)),
            "text" => texts.extend(values()),
            "repeat" => repeat = value.parse().map_err(|e| format!("{part:?}: {e}"))?,
            "machine" if value == "other" => machine = 243,
            _ => return Err(format!("{part:?}: unknown part")),
        }
    }
    Ok(build(soname.as_deref(), (&needed, repeat), &texts, machine))
}

/// The number of this architecture.
fn host() -> u16 {
    if cfg!(target_arch = "aarch64") { 183 } else { 62 }
}

/// Header, string table, dynamic table, texts, and the headers of three sections.
fn build(
    soname: Option<&str>,
    (needed, repeat): (&[String], usize),
    texts: &[String],
    machine: u16,
) -> Vec<u8> {
    const HEADER: usize = 64;
    let mut strings = vec![0_u8];
    let mut dynamic: Vec<(u64, u64)> = Vec::new();
    let mut add = |tag: u64, text: &str, dynamic: &mut Vec<(u64, u64)>| {
        dynamic.push((tag, strings.len() as u64));
        strings.extend(text.bytes());
        strings.push(0);
    };
    for library in needed {
        add(1, library, &mut dynamic);
        dynamic.extend(dynamic.last().copied().into_iter().cycle().take(repeat - 1));
    }
    if let Some(name) = soname {
        add(14, name, &mut dynamic);
    }
    dynamic.push((0, 0));
    let mut text: Vec<u8> = texts.iter().flat_map(|t| [t.as_bytes(), &[0]].concat()).collect();
    let mut body = Vec::new();
    let strings_at = HEADER;
    body.extend(&strings);
    body.resize(body.len().next_multiple_of(8), 0);
    let dynamic_at = HEADER + body.len();
    for (tag, value) in &dynamic {
        body.extend(tag.to_le_bytes());
        body.extend(value.to_le_bytes());
    }
    let text_at = HEADER + body.len();
    text.resize(text.len().next_multiple_of(8), 0);
    body.extend(&text);
    let sections_at = HEADER + body.len();
    let section = |kind: u32, offset: usize, size: usize, link: u32, entry: u64| {
        let mut bytes = Vec::new();
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend((offset as u64).to_le_bytes());
        bytes.extend((offset as u64).to_le_bytes());
        bytes.extend((size as u64).to_le_bytes());
        bytes.extend(link.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(1_u64.to_le_bytes());
        bytes.extend(entry.to_le_bytes());
        bytes
    };
    body.extend(section(0, 0, 0, 0, 0));
    body.extend(section(3, strings_at, strings.len(), 0, 0));
    body.extend(section(6, dynamic_at, dynamic.len() * 16, 1, 16));
    body.extend(section(1, text_at, text.len(), 0, 0));
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    file.extend(3_u16.to_le_bytes());
    file.extend(machine.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    file.extend(0_u64.to_le_bytes());
    file.extend(0_u64.to_le_bytes());
    file.extend((sections_at as u64).to_le_bytes());
    file.extend(0_u32.to_le_bytes());
    for half in [64_u16, 0, 0, 64, 4, 1] {
        file.extend(half.to_le_bytes());
    }
    file.extend(body);
    file
}
