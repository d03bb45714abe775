//! Libraries of the training image: libibverbs, its providers, NCCL and its plugins.

use super::bounded_files::{MAX_ENTRIES, MAX_OTHER_BYTES, Root, reason};
use super::open_regular_file::{LastLink, open_regular_file};
use crate::nccl::NcclVersion;
use crate::preflight::ibverbs_providers::provider;
use crate::preflight::image::{elf, libibverbs_driver_config, library_versions, loader_cache};
use crate::preflight::readings::{Device, Image, Library};
use crate::rdma::{Reading, Unreadable};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::time::{Duration, Instant};

/// Time for all libraries.
const BUDGET: Duration = Duration::from_secs(2);
/// Longest library of which the needs are read (bytes): libibverbs and its providers have less than 1 MiB.
const LIBRARY: usize = 32 << 20;
/// Longest cache of the loader that is read (bytes).
const MAX_CACHE_BYTES: usize = 4 << 20;
/// Longest path (bytes): `PATH_MAX` of Linux (include/uapi/linux/limits.h).
const MAX_PATH_BYTES: usize = 4096;
/// Most providers that files of a folder name: there are about twenty.
const MAX_DRIVERS: usize = 4096;
/// Block in which a library is searched (bytes).
const BLOCK: usize = 1 << 20;

const OUT_OF_TIME: Unreadable = Unreadable::NotRead("the search took more than 2 s");

/// Finds libraries as the loader does: `LD_LIBRARY_PATH`, the loader's cache, the default folders.
struct Loader<'a> {
    root: &'a Root,
    /// `LD_LIBRARY_PATH`.
    first: Vec<String>,
    cache: Vec<u8>,
    end: Instant,
}

const DEFAULT_FOLDERS: [&str; 8] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

impl Loader<'_> {
    fn in_time(&self) -> Reading<()> {
        if Instant::now() < self.end { Ok(()) } else { Err(OUT_OF_TIME) }
    }

    /// The path of a library, looked for in some folders first.
    fn find(&self, name: &str, folders: &[String]) -> Reading<String> {
        self.in_time()?;
        if name.starts_with('/') {
            return if self.root.is_file(name)? { Ok(name.to_owned()) } else { Err(Unreadable::Missing) };
        }
        let before = folders.iter().chain(&self.first).map(|folder| format!("{folder}/{name}"));
        let cached = loader_cache::paths_of_library(&self.cache, name).into_iter();
        let after = DEFAULT_FOLDERS.iter().map(|folder| format!("{folder}/{name}"));
        for path in before.chain(cached).chain(after) {
            if self.root.is_file(&path)? {
                return Ok(path);
            }
        }
        Err(Unreadable::Missing)
    }

    /// A library at a path, and which of its needs are not there.
    fn library(&self, path: &str) -> Reading<Library> {
        self.in_time()?;
        let needs = elf::parse_elf(&self.root.read_at_most(path, LIBRARY)?)?;
        let origin = self.root.path_without_links(path).unwrap_or_else(|_| path.to_owned());
        let origin = origin.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folders: Vec<String> = needs.folders.iter().filter_map(|f| with_origin(f, origin)).collect();
        let mut missing = Vec::new();
        for name in needs.needed {
            match self.find(&name, &folders) {
                Ok(_) => {}
                Err(Unreadable::Missing) => missing.push(name),
                Err(why) => return Err(why),
            }
        }
        Ok(Library { path: path.to_owned(), missing, fits: needs.architecture == std::env::consts::ARCH })
    }
}

/// A folder of a library with its origin; `None` if it is longer than any path.
fn with_origin(folder: &str, origin: &str) -> Option<String> {
    let mut path = String::new();
    let mut rest = folder;
    while let Some((before, behind)) = rest.split_once('$') {
        path.push_str(before);
        match behind.strip_prefix("ORIGIN").or_else(|| behind.strip_prefix("{ORIGIN}")) {
            Some(after) => {
                path.push_str(origin);
                rest = after;
            }
            None => {
                path.push('$');
                rest = behind;
            }
        }
        if path.len() > MAX_PATH_BYTES {
            return None;
        }
    }
    path.push_str(rest);
    Some(path).filter(|path| path.len() <= MAX_PATH_BYTES)
}

/// Reads the image.
pub(super) fn read_image_libraries(
    root: &Root,
    environment: &BTreeMap<String, String>,
    plugin: Option<&str>,
    devices: &Reading<Vec<Device>>,
) -> Image {
    image_until(root, environment, plugin, devices, Instant::now() + BUDGET)
}

fn image_until(
    root: &Root,
    environment: &BTreeMap<String, String>,
    plugin: Option<&str>,
    devices: &Reading<Vec<Device>>,
    end: Instant,
) -> Image {
    let variable = |name: &str| environment.get(name).map(String::as_str).unwrap_or_default();
    let paths = variable("LD_LIBRARY_PATH").split(':').filter(|path| path.starts_with('/'));
    let loader = Loader {
        root,
        first: paths.map(str::to_owned).collect(),
        cache: root.read_at_most("/etc/ld.so.cache", MAX_CACHE_BYTES).unwrap_or_default(),
        end,
    };
    let path = loader.find("libibverbs.so.1", &[]);
    let verbs = path.clone().and_then(|path| loader.library(&path));
    let content = path.clone().and_then(|path| root.read_at_most(&path, LIBRARY));
    let private_abi = content.as_ref().map_err(Clone::clone).and_then(|content| {
        library_versions::provider_number(content)
            .ok_or(Unreadable::NotRead("libibverbs does not contain the text -rdmavNN.so"))
    });
    let driver_folder = content.ok().and_then(|content| library_versions::driver_folder(&content));
    let driver_folder = driver_folder.unwrap_or_else(|| "/etc/libibverbs.d".to_owned());
    let folders = provider_folders(root, path.as_deref().ok());
    let mut providers = BTreeMap::new();
    if let (Ok(abi), Ok(devices)) = (&private_abi, devices) {
        let names: BTreeSet<&'static str> = devices.iter().filter_map(provider).collect();
        for name in names {
            let found = loader.find(&format!("lib{name}-rdmav{abi}.so"), &folders);
            providers.insert(name.to_owned(), found.and_then(|path| loader.library(&path)));
        }
    }
    let plugins = plugin_names(plugin.unwrap_or_default()).into_iter();
    let plugin = |name: String| {
        let found = loader.find(&name, &[]).and_then(|path| loader.library(&path));
        (name, found)
    };
    Image {
        verbs,
        private_abi,
        providers,
        other_providers: folders.iter().flat_map(|folder| files_of(root, folder, "-rdmav")).collect(),
        drivers: drivers(root, &driver_folder),
        driver_folder,
        plugins: plugins.map(plugin).collect(),
        nccl: nccl(&loader),
    }
}

/// Where libibverbs has its providers: beside itself, in the folder `libibverbs`.
fn provider_folders(root: &Root, verbs: Option<&str>) -> Vec<String> {
    let Some(verbs) = verbs else { return Vec::new() };
    let real = root.path_without_links(verbs).unwrap_or_default();
    let mut folders = Vec::new();
    for path in [real.as_str(), verbs] {
        if let Some((folder, _)) = path.rsplit_once('/') {
            let folder = format!("{folder}/libibverbs");
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    folders
}

/// Providers that the files of a folder name. libibverbs ignores a folder that does not exist.
fn drivers(root: &Root, folder: &str) -> Reading<Vec<String>> {
    let names = match root.names_in_directory(folder) {
        Err(Unreadable::Missing) => Vec::new(),
        names => names?,
    };
    let mut drivers = Vec::new();
    for name in names {
        match root.read_at_most(&format!("{folder}/{name}"), MAX_OTHER_BYTES) {
            Ok(content) => drivers.extend(libibverbs_driver_config::driver_names(&content)),
            Err(Unreadable::Missing | Unreadable::NotAFile) => {}
            Err(why) => return Err(why),
        }
        if drivers.len() > MAX_DRIVERS {
            return Err(Unreadable::NotRead("the folder's files name more than 4096 providers"));
        }
    }
    Ok(drivers)
}

/// Files of a folder with a text in their name.
fn files_of(root: &Root, folder: &str, part: &str) -> Vec<String> {
    let names = root.names_in_directory(folder).unwrap_or_default();
    names.iter().filter(|name| name.contains(part)).map(|name| format!("{folder}/{name}")).collect()
}

/// File names that NCCL tries for a plugin (NVIDIA/nccl src/plugin/plugin_open.cc).
fn plugin_names(set: &str) -> Vec<String> {
    match set {
        "none" => Vec::new(),
        "" => vec!["libnccl-net.so".to_owned()],
        name if name.contains('/') || name.ends_with(".so") => vec![name.to_owned()],
        name => vec![format!("libnccl-net-{name}.so"), "libnccl-net.so".to_owned()],
    }
}

/// The version of NCCL. Wheels keep the library in their own folder, where only the framework finds it.
fn nccl(loader: &Loader<'_>) -> Reading<(NcclVersion, String)> {
    const LIBRARY: &str = "libnccl.so.2";
    let mut found: Vec<(NcclVersion, String)> = Vec::new();
    let mut paths = match loader.find(LIBRARY, &[]) {
        Ok(path) => vec![path],
        Err(Unreadable::Missing) => Vec::new(),
        Err(why) => return Err(why),
    };
    let packages = package_folders(loader.root);
    let of_packages = |part: &str| -> Vec<String> {
        let paths = packages.iter().map(|folder| format!("{folder}/{part}"));
        // A link out of the tree is an error when the file is read.
        paths.filter(|path| loader.root.is_file(path) != Ok(false)).collect()
    };
    paths.extend(of_packages("nvidia/nccl/lib/libnccl.so.2"));
    if paths.is_empty() {
        paths = of_packages("torch/lib/libtorch_cuda.so");
    }
    for path in paths {
        let version = version_at(loader, &path)?;
        if let Some(version) = version.filter(|version| !found.iter().any(|(known, _)| known == version)) {
            found.push((version, path));
        }
    }
    match found.as_slice() {
        [] => Err(Unreadable::Missing),
        [one] => Ok(one.clone()),
        [(one, first), (other, second), ..] => {
            Err(Unreadable::Failed(format!("{one} at {first}, and {other} at {second}")))
        }
    }
}

/// Folders of Python packages.
fn package_folders(root: &Root) -> Vec<String> {
    const PREFIXES: [&str; 6] =
        ["/usr/lib", "/usr/local/lib", "/opt/conda/lib", "/opt/venv/lib", "/venv/lib", "/opt/nvidia/lib"];
    let mut folders = Vec::new();
    for prefix in PREFIXES {
        let names = root.names_in_directory(prefix).unwrap_or_default();
        for python in names.iter().filter(|name| name.starts_with("python3")).take(MAX_ENTRIES) {
            folders
                .extend(["site-packages", "dist-packages"].map(|kind| format!("{prefix}/{python}/{kind}")));
        }
    }
    folders
}

/// The version of a library: by the name of the file, else by a text in it.
fn version_at(loader: &Loader<'_>, path: &str) -> Reading<Option<NcclVersion>> {
    let real = loader.root.path_without_links(path)?;
    if let Some(version) = real.rsplit('/').next().and_then(library_versions::of_file) {
        return Ok(Some(version));
    }
    // `find` has seen a regular file; the library may have gigabytes, so only blocks of it are in memory.
    let mut file = open_regular_file(&loader.root.path_under_root(path), LastLink::Follow)
        .map_err(|error| reason(&error))?;
    let mut block = vec![0_u8; BLOCK];
    let mut kept = 0;
    loop {
        loader.in_time()?;
        let room = block.get_mut(kept..).unwrap_or_default();
        let read = file.read(room).map_err(|error| reason(&error))?;
        let filled = kept + read;
        if let Some(version) =
            library_versions::nccl_version_in_block(block.get(..filled).unwrap_or_default())
        {
            return Ok(Some(version));
        }
        if read == 0 {
            return Ok(None);
        }
        kept = filled.min(library_versions::OVERLAP);
        block.copy_within(filled - kept..filled, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A root with the libraries of an image; `NAME` of a test keeps them apart.
    fn root(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("fabric-image-{name}-{}", std::process::id()));
        let folder = path.join("usr/lib/python3.12/site-packages/nvidia/nccl/lib");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("libnccl.so.2"), "NCCL version 2.27.5+cuda12.9").unwrap();
        fs::write(path.join("usr/lib/libibverbs.so.1"), "lib%s-rdmav59.so").unwrap();
        path
    }

    #[test]
    fn an_origin_makes_no_path_longer_than_any() {
        let of = |folder: &str| with_origin(folder, "/usr/lib");
        for (folder, expected) in [
            ("$ORIGIN/../x", "/usr/lib/../x"),
            ("${ORIGIN}/a$ORIGIN", "/usr/lib/a/usr/lib"),
            ("/a$b/$", "/a$b/$"),
        ] {
            assert_eq!(of(folder).as_deref(), Some(expected));
        }
        // What stands for the origin may name it again.
        assert_eq!(with_origin("$ORIGIN", "${ORIGIN}").as_deref(), Some("${ORIGIN}"));
        assert_eq!(of(&"$ORIGIN".repeat(512)).map(|path| path.len()), Some(4096));
        assert_eq!(of(&"$ORIGIN".repeat(513)), None);
        assert_eq!(of(&"a".repeat(4097)), None);
    }

    #[test]
    fn files_that_name_too_many_providers_are_not_read() {
        let path = root("drivers");
        let folder = path.join("etc/libibverbs.d");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a"), "driver a\n".repeat(4000)).unwrap();
        let of = || drivers(&Root::new(&path), "/etc/libibverbs.d").map(|drivers| drivers.len());
        assert_eq!(of(), Ok(4000));
        fs::write(folder.join("b"), "driver a\n".repeat(4000)).unwrap();
        assert!(matches!(of(), Err(Unreadable::NotRead(_))), "{:?}", of());
        fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn a_search_out_of_time_is_unknown_and_finds_nothing_missing() {
        let path = root("late");
        let none = BTreeMap::new();
        let late = image_until(&Root::new(&path), &none, Some("spcx"), &Ok(Vec::new()), Instant::now());
        assert_eq!(late.verbs.map(|library| library.path), Err(OUT_OF_TIME));
        assert_eq!(late.private_abi, Err(OUT_OF_TIME));
        assert_eq!(late.nccl, Err(OUT_OF_TIME));
        assert_eq!(late.plugins.len(), 2);
        assert!(late.plugins.values().all(|plugin| plugin.as_ref().err() == Some(&OUT_OF_TIME)));
        fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn a_search_ends_while_it_reads_a_library() {
        let path = root("slow");
        let library = path.join("usr/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2");
        // A file with a hole: 64 GiB that are never on the disk.
        fs::File::create(&library).unwrap().set_len(64 << 30).unwrap();
        let started = Instant::now();
        let end = started + Duration::from_millis(200);
        let found = image_until(&Root::new(&path), &BTreeMap::new(), None, &Ok(Vec::new()), end);
        assert_eq!(found.nccl, Err(OUT_OF_TIME));
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn a_search_in_time_finds_the_version() {
        let path = root("early");
        let found = read_image_libraries(&Root::new(&path), &BTreeMap::new(), None, &Ok(Vec::new()));
        assert_eq!(found.private_abi, Ok(59));
        assert_eq!(found.nccl.map(|(version, _)| version.to_string()), Ok("2.27.5".to_owned()));
        fs::remove_dir_all(&path).unwrap();
    }
}
