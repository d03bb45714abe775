//! Logs that `verify-log` reads: links and devices.

use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, run};
use std::os::unix::fs::symlink;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("links_of_logs::a_log_is_a_file_of_the_repository", logs);
}

fn link(scratch: &Scratch, target: &str, name: &str) -> Result<(), String> {
    symlink(target, scratch.path().join(name)).map_err(|e| format!("{name}: {e}"))
}

fn logs() -> Outcome {
    let scratch = Scratch::new()?;
    let line = "h:1:1 [0] NCCL INFO hidden\n";
    scratch.write("secret.log", line)?;
    scratch.write("tree/.git", "gitdir: elsewhere\n")?;
    scratch.write("tree/own.log", line)?;
    link(&scratch, "../secret.log", "tree/out.log")?;
    link(&scratch, "/dev/zero", "tree/zero.log")?;
    link(&scratch, "own.log", "tree/in.log")?;
    link(&scratch, "tree/own.log", "mine.log")?;
    for (named, refused) in
        [("tree/out.log", true), ("tree/zero.log", true), ("tree/in.log", false), ("mine.log", false)]
    {
        let ran = run(&["verify-log", named], b"", scratch.path())?;
        same(&format!("exit code of {named}: {}", ran.stderr), refused, ran.code == 2)?;
        same(&ran.stderr, refused, ran.stderr.contains("the symbolic link leads to "))?;
    }
    // A device that never ends has no line feed.
    let ran = run(&["verify-log", "/dev/zero"], b"", scratch.path())?;
    same("exit code of /dev/zero", 2, ran.code)?;
    Ok(same(
        &ran.stderr,
        true,
        ran.stderr.contains("/dev/zero: line 1 of this log has more than 64 MiB; name a log of NCCL"),
    )?)
}
