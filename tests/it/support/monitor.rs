//! `monitor` as a process, with the folder that it reads.

use super::Scratch;
use super::file_trees::Tree;
use super::round_trip::same;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A running monitor, and its folder.
pub(crate) struct Monitor {
    pub(crate) child: Child,
    pub(crate) address: String,
    pub(crate) errors: Receiver<String>,
    pub(crate) scratch: Scratch,
    /// What it wrote before it listened.
    pub(crate) early: String,
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Monitor {
    /// Paths in the flags are below the folder of the tree.
    pub(crate) fn of_tree(tree: &str, flags: &[&str]) -> Result<Self, String> {
        let scratch = Scratch::new()?;
        Tree::parse(tree)?.write(scratch.path())?;
        Self::start(scratch, flags)
    }

    pub(crate) fn start(scratch: Scratch, flags: &[&str]) -> Result<Self, String> {
        Self::of_program(env!("CARGO_BIN_EXE_fabric-admission").as_ref(), scratch, flags)
    }

    pub(crate) fn of_program(program: &OsStr, scratch: Scratch, flags: &[&str]) -> Result<Self, String> {
        let mut child = Command::new(program)
            .args(["monitor", "--listen", "127.0.0.1:0", "--root", "."])
            .args(flags)
            .current_dir(scratch.path())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let stderr = child.stderr.take().ok_or("no stderr")?;
        let (sender, errors) = channel();
        std::thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut monitor = Self { child, address: String::new(), errors, scratch, early: String::new() };
        let line = loop {
            let line = monitor.line("")?;
            if line.contains("listening") {
                break line;
            }
            monitor.early.push_str(&line);
        };
        let json: serde_json::Value = serde_json::from_str(&line).map_err(|e| format!("{line}: {e}"))?;
        monitor.address = json["address"].as_str().ok_or("no address")?.to_owned();
        Ok(monitor)
    }

    /// The next line of stderr that has this word.
    pub(crate) fn line(&self, word: &str) -> Result<String, String> {
        loop {
            let line =
                self.errors.recv_timeout(Duration::from_secs(20)).map_err(|_| format!("no line {word:?}"))?;
            if line.contains(word) {
                return Ok(line);
            }
        }
    }

    pub(crate) fn ask(&self, request: &str) -> Result<String, String> {
        let mut stream = TcpStream::connect(&self.address).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).map_err(|e| e.to_string())?;
        stream.write_all(request.as_bytes()).map_err(|e| e.to_string())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(|e| e.to_string())?;
        Ok(answer)
    }

    pub(crate) fn get(&self, path: &str) -> Result<String, String> {
        let answer = self.ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))?;
        let (head, body) = answer.split_once("\r\n\r\n").ok_or("no end of the head")?;
        same(head, true, head.starts_with("HTTP/1.1 200"))?;
        Ok(body.to_owned())
    }
}
