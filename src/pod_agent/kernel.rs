//! Answers of the kernel that are not files: file systems and netlink. In a recorded tree they are files of the folder
//! `.preflight`, so that a tree holds all that a run needs.

use super::files::{OTHER, Root, errno};
use crate::preflight::seen::Filesystem;
use crate::rdma::addresses::{self, Address};
use crate::rdma::netlink::{self, NamespaceMode};
use crate::rdma::{Reading, Unreadable};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};
use std::collections::BTreeMap;

/// What is asked of the kernel.
pub(super) trait Kernel {
    /// The file system at a path.
    fn filesystem(&self, path: &str) -> Reading<Filesystem>;
    /// Addresses of the interfaces.
    fn addresses(&self) -> Reading<Vec<Address>>;
    /// Mode of RDMA namespaces.
    fn namespace_mode(&self) -> Reading<NamespaceMode>;
    /// Environment variables.
    fn environment(&self) -> BTreeMap<String, String>;
}

/// The kernel of this container.
pub(super) struct Running<'a> {
    pub(super) root: &'a Root,
}

/// A recorded tree.
pub(super) struct Recorded<'a> {
    pub(super) root: &'a Root,
}

impl Kernel for Running<'_> {
    fn filesystem(&self, path: &str) -> Reading<Filesystem> {
        let stat = rustix::fs::statfs(self.root.at(path)).map_err(errno)?;
        let block = u64::try_from(stat.f_bsize).unwrap_or(0);
        Ok(Filesystem {
            // A word or an unsigned word, by architecture.
            #[allow(clippy::unnecessary_cast)]
            kind: stat.f_type as i64,
            size: stat.f_blocks.saturating_mul(block),
            free: stat.f_bavail.saturating_mul(block),
        })
    }

    fn addresses(&self) -> Reading<Vec<Address>> {
        let mut found = Vec::new();
        ask(None, &netlink::addresses_request(), |answer| {
            let (some, last) = netlink::addresses(answer)?;
            found.extend(some);
            Ok(last)
        })?;
        let names = self.root.names("/sys/class/net")?;
        let index = |name: String| {
            let path = format!("/sys/class/net/{name}/ifindex");
            let number = self.root.value(&path, crate::rdma::port::decimal).ok()?;
            Some((u32::try_from(number).ok()?, name))
        };
        let names: Vec<(u32, String)> = names.into_iter().filter_map(index).collect();
        Ok(netlink::named(found, &names))
    }

    fn namespace_mode(&self) -> Reading<NamespaceMode> {
        let mut found = Err(Unreadable::NotRead("the kernel did not answer"));
        ask(Some(rustix::net::netlink::RDMA), &netlink::mode_request(), |answer| {
            found = netlink::mode(answer);
            Ok(true)
        })?;
        found
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let text = |name: std::ffi::OsString| name.into_string().ok();
        std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
    }
}

/// Sends a request and hands each part of the answer on, until one is the last.
fn ask(
    family: Option<Protocol>,
    request: &[u8],
    mut part: impl FnMut(&[u8]) -> Reading<bool>,
) -> Reading<()> {
    /// Most parts of an answer: 64 interfaces with a few addresses each are two or three.
    const PARTS: usize = 1000;
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, family).map_err(errno)?;
    // The kernel answers within the call to send, so that the answer is there before it is awaited.
    bind(&socket, &SocketAddrNetlink::new(0, 0)).map_err(errno)?;
    send(&socket, request, SendFlags::empty()).map_err(errno)?;
    let mut buffer = vec![0_u8; 64 << 10];
    for _ in 0..PARTS {
        let (length, _) = recv(&socket, buffer.as_mut_slice(), RecvFlags::DONTWAIT).map_err(errno)?;
        let answer = buffer.get(..length).unwrap_or_default();
        if answer.is_empty() || part(answer)? {
            return Ok(());
        }
    }
    Err(Unreadable::NotRead("the kernel's answer has no end"))
}

impl Recorded<'_> {
    fn file(&self, name: &str) -> Reading<Vec<u8>> {
        self.root.read(&format!("/.preflight/{name}"), OTHER).map_err(|why| match why {
            Unreadable::Missing => Unreadable::NotRead("the recorded tree does not hold it"),
            other => other,
        })
    }
}

impl Kernel for Recorded<'_> {
    /// A line for each path: kind in hexadecimal, size and free bytes.
    fn filesystem(&self, path: &str) -> Reading<Filesystem> {
        let content = self.file("filesystems")?;
        let text = std::str::from_utf8(&content).map_err(|_| Unreadable::odd(&content))?;
        let line = text.lines().find_map(|line| line.strip_prefix(path)?.strip_prefix(' '));
        let line = line.ok_or(Unreadable::Missing)?;
        let words: Vec<&str> = line.split(' ').collect();
        let parsed = match words.as_slice() {
            [kind, size, free] => i64::from_str_radix(kind.trim_start_matches("0x"), 16)
                .ok()
                .zip(size.parse().ok().zip(free.parse().ok()))
                .map(|(kind, (size, free))| Filesystem { kind, size, free }),
            _ => None,
        };
        parsed.ok_or_else(|| Unreadable::odd(line.as_bytes()))
    }

    fn addresses(&self) -> Reading<Vec<Address>> {
        addresses::listed(&self.file("addresses")?)
    }

    fn namespace_mode(&self) -> Reading<NamespaceMode> {
        let content = self.file("rdma-namespaces")?;
        match content.trim_ascii() {
            b"shared" => Ok(NamespaceMode::Shared),
            b"exclusive" => Ok(NamespaceMode::Exclusive),
            other => Err(Unreadable::odd(other)),
        }
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let content = self.file("environment").unwrap_or_default();
        let text = String::from_utf8_lossy(&content);
        let lines = text.lines().filter_map(|line| line.split_once('='));
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}
