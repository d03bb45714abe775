//! Whether what a container runs is visible and is plain NCCL. A pod does not show the program of its image, the text of
//! a script or a mounted file: each may start NIXL, Mooncake or another library over verbs (ai-dynamo/nixl README).

use crate::pod::shell::commands;
use crate::pod::view::{Container, PodView};
use crate::text::printable;

/// Programs that start ranks of NCCL.
const LAUNCHERS: [&str; 7] =
    ["torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "srun", "horovodrun"];
/// Programs and modules that move key-value caches over verbs when a file or a variable asks for it.
const SERVERS: [&str; 5] = ["vllm", "sglang", "tensorrt_llm", "trtllm", "tritonserver"];
/// Shells that take a script behind `-c`, or a file.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "zsh", "ksh"];
/// Words that precede a command.
const BEFORE: [&str; 21] = [
    "if",
    "then",
    "elif",
    "else",
    "while",
    "until",
    "do",
    "!",
    "{",
    "exec",
    "nohup",
    "time",
    "sudo",
    "command",
    "builtin",
    "nice",
    "env",
    "numactl",
    "tini",
    "dumb-init",
    "--",
];
/// Programs that use no device.
const HARMLESS: [&str; 48] = [
    "cd",
    "export",
    "echo",
    "printf",
    "set",
    "unset",
    "ulimit",
    "sleep",
    "mkdir",
    "ls",
    "hostname",
    "true",
    "false",
    ":",
    "exit",
    "tee",
    "cat",
    "[",
    "[[",
    "test",
    "for",
    "done",
    "fi",
    "}",
    "declare",
    "local",
    "readonly",
    "trap",
    "wait",
    "date",
    "pip",
    "pip3",
    "git",
    "wget",
    "curl",
    "apt-get",
    "head",
    "tail",
    "awk",
    "grep",
    "sed",
    "rm",
    "cp",
    "mv",
    "ln",
    "chmod",
    "nvidia-smi",
    "getent",
];
/// Most levels of shells within shells.
const MAX_DEPTH: usize = 3;

/// Why the container may run more than plain NCCL, in a few words; `None` if it certainly does not.
pub(super) fn doubt(pod: &PodView<'_>, container: &Container<'_>) -> Option<String> {
    if reads_mounted_file(pod, container) {
        return Some("a mounted file may configure another library".to_owned());
    }
    let words: Vec<&str> = container.shell_text().collect();
    let own = || Some("the image's own program may use the device".to_owned());
    let has_command = container.command.as_ref().is_some_and(|list| list.iter().next().is_some());
    match runs(&words, MAX_DEPTH) {
        _ if words.is_empty() => own(),
        Ok(true) => None,
        Ok(false) | Err(_) if !has_command => own(),
        Ok(false) => Some("a program that is started later may use the device".to_owned()),
        Err(why) => Some(why),
    }
}

/// Whether the command names a path in a mounted ConfigMap, Secret or projected volume.
fn reads_mounted_file(pod: &PodView<'_>, container: &Container<'_>) -> bool {
    let is_file = |name: &str| {
        let volume = pod.volume(name);
        volume.is_some_and(|v| v.config_map.is_some() || v.secret.is_some() || v.projected.is_some())
    };
    container.volume_mounts().iter().any(|mount| {
        let path = mount.mount_path.as_deref().unwrap_or_default().trim_end_matches('/');
        !path.is_empty()
            && container.shell_text().any(|text| names(text, path))
            && mount.name.as_deref().is_some_and(is_file)
    })
}

/// Whether a text names a path, or one below it.
fn names(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(at, _)| {
        let next = text.get(at + path.len()..).and_then(|rest| rest.chars().next());
        next.is_none_or(|c| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
    })
}

/// Whether a command starts NCCL; an error says what else it starts.
fn runs(words: &[&str], depth: usize) -> Result<bool, String> {
    let mut rest = words;
    let mut prefixed = false;
    while let Some((first, after)) = rest.split_first() {
        let option = prefixed && first.starts_with('-');
        if !BEFORE.contains(&base(first)) && !is_assignment(first) && !option {
            break;
        }
        prefixed = true;
        rest = after;
    }
    let Some((first, arguments)) = rest.split_first() else { return Ok(false) };
    let program = base(first);
    let unknown = || match first.ends_with(".sh") {
        true => Err(format!("script {} is not known", printable(first, 40))),
        false => Err(format!("program {} may use the device", printable(first, 40))),
    };
    if SHELLS.contains(&program) {
        return shell(arguments, depth);
    }
    if HARMLESS.contains(&program) {
        return Ok(false);
    }
    let server = |word: &&&str| SERVERS.contains(&base(word).split('.').next().unwrap_or_default());
    if let Some(server) = rest.iter().find(server) {
        return Err(format!("program {} may use the device", printable(base(server), 40)));
    }
    let python =
        program.strip_prefix("python").is_some_and(|v| v.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    if python {
        let what = arguments.iter().find(|word| **word == "-m" || !word.starts_with('-') || **word == "-c");
        return if what.is_some_and(|word| *word == "-m" || word.ends_with(".py")) {
            Ok(true)
        } else {
            unknown()
        };
    }
    if LAUNCHERS.contains(&program) || program.ends_with("_perf") { Ok(true) } else { unknown() }
}

/// The same of a shell's arguments: a script behind `-c`, or a file.
fn shell(arguments: &[&str], depth: usize) -> Result<bool, String> {
    let is_flag = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let Some(flag) = arguments.iter().position(is_flag) else {
        let file = arguments.iter().find(|word| !word.starts_with('-'));
        return match file {
            Some(file) => Err(format!("script {} is not known", printable(file, 40))),
            None => Ok(false),
        };
    };
    if depth == 0 {
        return Err("a nested script may use the device".to_owned());
    }
    let mut any = false;
    for command in commands(arguments.get(flag + 1).copied().unwrap_or_default()) {
        let words: Vec<&str> = command.iter().map(|word| &**word).collect();
        any |= runs(&words, depth - 1)?;
    }
    Ok(any)
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, names, runs};

    #[test]
    fn programs_of_nccl_and_others() {
        for words in [
            &["torchrun", "train.py"][..],
            &["/usr/bin/python3.11", "-u", "train.py"],
            &["python", "-m", "torch.distributed.run", "x.py"],
            &["env", "-i", "A=1", "deepspeed", "x.py"],
            &["/opt/all_reduce_perf", "-b", "8"],
            &["bash", "-lc", "cd /w && export A=1; exec torchrun x.py 2>&1 | tee log"],
        ] {
            assert_eq!(runs(words, MAX_DEPTH), Ok(true), "{words:?}");
        }
        for words in [
            &["/opt/start.sh"][..],
            &["bash", "run.sh"],
            &["vllm", "serve", "m"],
            &["python3", "-m", "vllm.entrypoints.openai.api_server"],
            &["python", "-c", "import x"],
            &["bash", "-c", "torchrun x.py & /opt/agent"],
            &["bash", "-c", "$RUN"],
        ] {
            assert!(runs(words, MAX_DEPTH).is_err(), "{words:?}");
        }
        assert_eq!(runs(&["sleep", "infinity"], MAX_DEPTH), Ok(false));
        assert!(names("--config=/cfg/a.yaml", "/cfg") && names("/cfg", "/cfg") && !names("/cfgs/a", "/cfg"));
    }
}
