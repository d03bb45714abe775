use super::*;

#[test]
fn assignments_count() {
    for text in [
        "export NCCL_IB_HCA=mlx5",
        "NCCL_IB_HCA=mlx5 torchrun x.py",
        "mpirun -x NCCL_IB_HCA==mlx5_0,mlx5_1 ./a",
        "export NCCL_IB_HCA=${NCCL_IB_HCA:-mlx5}",
        ": ${NCCL_IB_HCA:=mlx5}",
        "env -u X NCCL_IB_HCA='mlx5'",
    ] {
        assert!(sets_variable(text, "NCCL_IB_HCA"), "{text}");
    }
}

#[test]
fn reading_passing_on_and_comments_do_not() {
    for text in [
        "mpirun -x NCCL_IB_HCA ./a",
        "echo $NCCL_IB_HCA",
        "echo ${NCCL_IB_HCA}",
        "MY_NCCL_IB_HCA=1",
        "NCCL_IB_HCA_X=1",
        "# export NCCL_IB_HCA=mlx5",
        "torchrun x.py # NCCL_IB_HCA=mlx5",
        "mpirun \\\n  # -x NCCL_IB_HCA=mlx5 \\\n  ./a",
        "bash -c '\n  # export NCCL_IB_HCA=mlx5\n  run'",
        "#!/bin/sh\n#NCCL_IB_HCA=mlx5",
    ] {
        assert!(!sets_variable(text, "NCCL_IB_HCA"), "{text}");
    }
}

#[test]
fn the_empty_name_is_set_by_nothing() {
    assert!(!sets_variable("", "") && !sets_variable("export =1", ""));
}

/// The effects of a text, one per line.
fn effects(text: &str) -> Vec<String> {
    lines(&read_shell_text(text, |_| true))
}

fn lines(script: &EffectsOnVariables<'_>) -> Vec<String> {
    let line = |s: &Setting<'_>| format!("{:?} {} {}", s.how, s.name, s.value.as_deref().unwrap_or("?"));
    script.settings.iter().map(line).chain(script.sources.iter().map(|f| format!("source {f}"))).collect()
}

#[test]
fn shell_text_sets_variables() {
    for (text, expected) in [
        ("export N=V M=W", &["Sets N V", "Sets M W"][..]),
        ("export N=\"a b\"'c' # export M=1\nexport O=1", &["Sets N a bc", "Sets O 1"]),
        ("export N=${N:-V}", &["Default N V"]),
        ("export N=\"${N:-a,b}\"", &["Default N a,b"]),
        ("export N=${M:-V}", &["Sets N ?"]),
        (": ${N:=V} \"${M=W}\"", &["Default N V", "Default M W"]),
        ("N=V", &["Sets N V"]),
        ("N=V M=$X torchrun a=b", &["Sets N V", "Sets M ?"]),
        ("if true; then export N=1; fi", &["Sets N 1"]),
        ("cd /x && exec env -i -u M N=V cmd O=1", &["Unsets M ?", "Sets N V"]),
        ("unset -v N M", &["Unsets N ?", "Unsets M ?"]),
        ("declare -x N=1", &["Sets N 1"]),
        ("set -a; . /etc/env.sh; source ./b", &["source /etc/env.sh", "source ./b"]),
        (
            "mpirun -np 2 \\\n  -x N==a,b \\\n  -x M --env O=1 ./x",
            &["Sets N =a,b", "PassesOn M ?", "Sets O 1"],
        ),
        (
            "mpiexec -genv N V -genv M=1 -envlist O,P x",
            &["Sets N V", "Sets M 1", "PassesOn O ?", "PassesOn P ?"],
        ),
        ("srun --env=N=V x", &["Sets N V"]),
        ("bash -lc 'export N=1; M=2 run'", &["Sets N 1", "Sets M 2"]),
        ("cat > f <<EOF\nexport N=1\nEOF\nexport M=1", &["Sets M 1"]),
        ("cat <<-'END' | sh\n\texport N=1\n\tEND\nexport M=1", &["Sets M 1"]),
        ("run 2>&1 -x N=1 > log", &["Sets N 1"]),
        ("echo 'export N=1' \"export M=1\"", &[]),
        ("export N=$(nproc --all) M=`hostname` O=1", &["Sets N ?", "Sets M ?", "Sets O 1"]),
        ("(export N=1; run)", &["Sets N 1"]),
        ("export N=", &["Sets N "]),
        ("PATH+=:/x", &["Sets PATH ?"]),
        ("echo N=V", &[]),
        (
            "python -c 'import os; os.environ[\"N\"] = \"1\"; os.environ.setdefault(\"M\", \"2\")'",
            &["Sets N ?", "Default M ?"],
        ),
        ("python -c 'print(os.environ[\"N\"] == 1)'", &[]),
        ("python -c '\n# os.environ[\"N\"] = \"1\"\nimport os'", &[]),
        ("export N=a\\ b", &["Sets N a b"]),
        ("export N=\"a\\\"b\"", &["Sets N a\"b"]),
    ] {
        assert_eq!(effects(text), expected, "{text}");
    }
}

#[test]
fn arguments_are_words_already() {
    let list = ["mpirun", "-np", "2", "-x", "N=a b", "-x", "M", "bash", "-c", "export O=1"];
    assert_eq!(lines(&read_words_without_shell(&list)), ["Sets N a b", "PassesOn M ?"]);
    assert_eq!(read_words_without_shell(&list).settings[0].at, 4);
}

#[test]
fn places_in_the_text() {
    let text = "cd /x\nexport N=1; bash -c 'M=2 run'";
    for setting in read_shell_text(text, |_| true).settings {
        assert!(text.get(setting.at..).unwrap().starts_with(setting.name), "{setting:?}");
    }
}

#[test]
fn broken_text_is_read_to_its_end() {
    for text in [
        "'",
        "\"",
        "\\",
        "$",
        "${",
        "$(",
        "`",
        "<<",
        "<<-",
        "<<E",
        "<<E\n",
        "export N='a",
        "export N=\"a\\",
        "é=1 N=é",
        "a\\\u{e9}b",
    ] {
        let _ = read_shell_text(text, |_| true);
        for end in 0..text.len() {
            let _ = text.get(..end).map(|text| read_shell_text(text, |_| true));
        }
    }
}

#[test]
fn a_long_text_takes_linear_time() {
    for part in
        ["$(", "${", "\"", "'", "\\", "<<E\n", "`", "bash -c '", "env ", "(", "N=${N:=", "os.environ["]
    {
        let text = part.repeat(200_000 / part.len());
        let _ = read_shell_text(&text, |_| true);
    }
}

/// A text may be a megabyte of words and settings.
#[test]
fn so_many_words_and_settings_are_kept() {
    let matters: fn(&str) -> bool = |name| name == "N";
    assert_eq!(lines(&read_shell_text("M=1; N=2 M=3", matters)), ["Sets N 2"]);
    for (part, kept, most) in
        [("N=1;", 4096, 4096), ("M=1;", 0, 40_000), ("N=1 ", 4096, 4096), ("a ", 0, 16_384)]
    {
        let read = read_shell_text(&part.repeat(most), matters).unread;
        let long = part.repeat(40_001);
        let more = read_shell_text(&long, matters);
        assert_eq!((read, more.unread, more.settings.len()), (false, most < 40_000, kept), "{part}");
    }
}
