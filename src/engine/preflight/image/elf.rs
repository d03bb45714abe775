//! What a shared library needs, from its ELF file.

use crate::rdma::{Reading, Unreadable};
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, EM_AARCH64, EM_X86_64, PT_DYNAMIC};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};
use object::{Endianness, elf};

/// A shared library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elf {
    /// Libraries that it needs.
    pub needed: Vec<String>,
    /// Folders in which it looks for them, as it writes them (`$ORIGIN`).
    pub folders: Vec<String>,
    /// Architecture, by the name that Rust gives to it; empty for others.
    pub architecture: &'static str,
}

/// Most libraries that one needs, and most folders that it names. More is not a library.
const MOST: usize = 512;
/// Longest name of a library (bytes): `PATH_MAX` of the kernel. All entries may name one long text, and each has a copy of it.
const MAX_NAME_BYTES: usize = 4096;
/// Longest list of folders (bytes). Wheels of Python name ten folders in one list.
const MAX_FOLDERS_BYTES: usize = 64 << 10;

/// Reads an ELF file of 64 bits.
///
/// # Errors
/// Another kind of file, or one that is damaged.
pub fn parse_elf(content: &[u8]) -> Reading<Elf> {
    let damaged = |error: object::Error| Unreadable::Failed(format!("is not a readable ELF file: {error}"));
    let file = ElfFile::<elf::FileHeader64<Endianness>>::parse(content).map_err(damaged)?;
    let architecture = match file.elf_header().e_machine(file.endian()) {
        EM_X86_64 => "x86_64",
        EM_AARCH64 => "aarch64",
        _ => "",
    };
    let mut found = Elf { architecture, ..Elf::default() };
    let table = file.elf_dynamic_table().map_err(damaged)?;
    let is_dynamic = |headers: &[elf::ProgramHeader64<Endianness>]| {
        headers.iter().any(|header| header.p_type(file.endian()) == PT_DYNAMIC)
    };
    // The loader needs no section headers, and `strip --strip-section-headers` removes them.
    if table.iter().next().is_none() && is_dynamic(file.elf_program_headers()) {
        return Err(Unreadable::NotRead("the file has no dynamic section, which preflight reads"));
    }
    for entry in table.iter() {
        let text = |most: usize| match table.string(entry).map_err(damaged)? {
            text if text.len() > most => {
                Err(Unreadable::Failed(format!("names a library or its folders in more than {most} bytes")))
            }
            text => Ok(String::from_utf8_lossy(text).into_owned()),
        };
        match entry.tag {
            DT_NEEDED => found.needed.push(text(MAX_NAME_BYTES)?),
            DT_RPATH | DT_RUNPATH => {
                let folders = text(MAX_FOLDERS_BYTES)?;
                found.folders.extend(folders.split(':').take(MOST + 1).map(str::to_owned));
            }
            _ => {}
        }
        if found.needed.len() > MOST {
            return Err(Unreadable::Failed("needs more than 512 libraries".to_owned()));
        }
        if found.folders.len() > MOST {
            return Err(Unreadable::Failed("names more than 512 folders for its libraries".to_owned()));
        }
    }
    Ok(found)
}
