# SPDX-License-Identifier: MIT
"""`everycore pauth` in user mode."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from library_reads import reads_no_kernel
from pauth.shown import text_of
from world import Lab

from everycore.environment.errors import EverycoreError
from everycore.model.run_lines import PauthProgram
from everycore.pauth import (
    counting,
    emulators,
    interleaved_runs,
    programs,
    qemu_build,
    stored_lines,
    variants,
)
from everycore.pauth.counting import Count
from everycore.pauth.emulators import Emulator
from everycore.pauth.interleaved_runs import Samples
from everycore.pauth.programs import Program
from everycore.pauth.variants import Variant

pytestmark = reads_no_kernel

Script = Callable[..., Path]
EVERY = frozenset(emulators.PROPERTIES) - {emulators.SERIES}
PROGRAM = Program("recursion", "says", (), {}, ("program",), 10)
INSTRUCTIONS = """
.globl _start
_start:
    nop
    bti c
    paciasp
    autiasp
    mov x17, #0x1000
    pacib1716
    autib1716
    mov x0, #0x1000
    pacda x0, x1
    xpacd x0
    paciza x0
    xpaci x0
    pacga x0, x1, x2
    crc32x w1, w2, x3
    adr x1, value
    pacdza x1
    ldraa x0, [x1]
    adr x1, there
    paciza x1
    blraaz x1
    mov x8, #93
    mov x0, #0
    svc #0
there:
    pacibsp
    retab
.p2align 3
value: .quad 0
"""
COMPUTING = 13  # of those above


# ---- Emulators -----------------------------------------------------------------------------------


def test_an_emulator_is_known_by_its_version_and_its_properties(world: Lab, script: Script) -> None:
    found = emulators.identify(world.context(), (str(script(lacks=("pauth-qarma3",))),))
    assert found.name == "qemu 11.0.1"
    assert found.properties == EVERY - {"pauth-qarma3"}
    assert found.signs_by_default
    assert not found.counts


def test_an_emulator_with_the_series_is_named_so_and_runs_aes128(
    world: Lab, script: Script
) -> None:
    found = emulators.identify(world.context(), (str(script(has_series=True)),))
    assert found.name == "qemu 11.0.1 series"
    rows = variants.variants_of(found, ("aes128",), demanded=True)
    assert [row.cpu for row in rows] == ["max,pauth-aes128=on"]


@pytest.mark.parametrize(
    ("behaviour", "words", "complaint"),
    [
        ({"version": "qemu-arm version 7.2.1"}, (), "emulates arm, not aarch64"),
        ({"version": "QEMU emulator version 10.0.1"}, (), "emulates a whole system"),
        ({"version": "GNU bash"}, (), "is no QEMU"),
        ({"lacks": ("pauth",)}, (), "has no property 'pauth'"),
        (
            {"body": "echo broken >&2; exit 3"},
            (),
            "does not run a program of fourteen instructions: broken",
        ),
        (
            {"lacks": ("pauth-qarma3",)},
            ("--algorithm", "qarma3"),
            "qemu 11.0.1 has no property 'pauth-qarma3'",
        ),
        ({}, ("--algorithm", "qarma9"), "'qarma9'"),
        ({}, ("--program", "recursive"), "'recursive'"),
    ],
)
def test_what_an_emulator_cannot_do_is_refused(
    world: Lab, script: Script, behaviour: dict[str, Any], words: tuple[str, ...], complaint: str
) -> None:
    world("pauth", "--qemu", str(script(**behaviour)), *words).refuses(complaint)


def test_an_emulator_that_is_talkative_is_none_the_worse(world: Lab, script: Script) -> None:
    path = script(body='case $1 in */probe) echo "warning: libx.so not found" >&2 ;; esac')
    assert emulators.identify(world.context(), (str(path),)).properties == EVERY


def test_a_file_that_cannot_be_run_says_why(world: Lab) -> None:
    path = world.folder / "no-program"
    path.touch(mode=0o644)
    world("pauth", "--qemu", str(path)).refuses("Permission denied")


def test_a_path_may_look_like_a_setting(world: Lab, script: Script) -> None:
    folder = world.folder / "a=b"
    folder.mkdir()
    path = script().rename(folder / "qemu-aarch64")
    assert emulators.identify(world.context(), (str(path),)).name == "qemu 11.0.1"


def test_nothing_is_added_to_the_environment_of_such_a_path(world: Lab) -> None:
    folder = world.folder / "a=b"
    folder.mkdir()
    (folder / "env").symlink_to("/usr/bin/env")
    argv = emulators.clean([str(folder / "env")], {"KEY": "value"})
    assert world.context().runner.run(argv).stdout == "KEY=value\n"


def test_an_algorithm_that_one_emulator_lacks_is_left_out_there() -> None:
    both = [
        Emulator("old", ("qemu",), frozenset({"pauth"})),
        Emulator("new", ("qemu",), frozenset({"pauth", "pauth-aes128"})),
    ]
    found = variants.variants_of_all(both, ("off", "aes128"), demanded=True)
    assert [variant.name for variant in found] == ["old off", "new off", "new aes128"]
    with pytest.raises(EverycoreError, match="old has no property 'pauth-qarma3'"):
        variants.variants_of_all(both, ("qarma3",), demanded=True)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--qemu", "nowhere"], "--qemu nowhere is no file"),
        (["--suite", "../sid"], "'../sid' is no name of a suite"),
        (["--scale", "0"], "--scale 0.0 is not from"),
        (["--primitive", "--suite", "sid"], "--primitive runs no emulator"),
        (["--primitive", "--scale", "2"], "--primitive runs no emulator"),
        (["--primitive", "--cc", "gcc"], "--primitive runs no emulator"),
        (["--primitive", "--update"], "--primitive runs no emulator"),
        ([], "no qemu-aarch64 is installed"),
    ],
)
def test_bad_arguments_are_named(world: Lab, arguments: list[str], complaint: str) -> None:
    world("pauth", *arguments).refuses(complaint)


def test_emulators_of_one_version_are_told_apart() -> None:
    three = [Emulator(name, ("qemu",)) for name in ("qemu 7", "qemu 8", "qemu 7")]
    assert [emulator.name for emulator in emulators.numbered(three)] == [
        "qemu 7",
        "qemu 8",
        "qemu 7 #2",
    ]


# ---- Variants ------------------------------------------------------------------------------------


def test_before_qemu_10_the_cpu_max_has_qarma5_without_a_name() -> None:
    old = Emulator("qemu 7", ("qemu",), frozenset({"pauth", "pauth-impdef"}))
    assert variants.cpu_of(old, "qarma5") == "max,pauth=on"
    assert variants.cpu_of(Emulator("qemu 11", ("qemu",), EVERY), "qarma5") == "max,pauth-qarma5=on"


def test_an_algorithm_that_nobody_asked_for_may_be_missing() -> None:
    old = Emulator("qemu 7", ("qemu",), frozenset({"pauth", "pauth-impdef"}))
    found = variants.variants_of(old, ("off", "qarma3"), demanded=False)
    assert [variant.algorithm for variant in found] == ["off"]


def test_a_patched_emulator_runs_in_all_its_modes_but_once_without_signing() -> None:
    patched = Emulator("qemu 10", ("qemu",), EVERY, is_patched=True)
    found = variants.variants_of(patched, ("off", "qarma5"), demanded=True)
    assert [variant.mode for variant in found] == ["", *variants.MODES]
    assert f"{emulators.MODE}=memo" in found[-1].command(PROGRAM, 1.0)


def test_work_is_scaled_and_never_nothing() -> None:
    assert PROGRAM.words(0.5) == ["program", "5"]
    assert PROGRAM.words(0.001) == ["program", "1"]


# ---- Races ---------------------------------------------------------------------------------------


def two_variants(first: Path, second: Path) -> list[Variant]:
    return [
        Variant(Emulator("a", (str(first),)), "off", "max,pauth=off"),
        Variant(Emulator("b", (str(second),)), "impdef", "max,pauth-impdef=on"),
    ]


def test_runs_alternate_and_are_timed_one_by_one(world: Lab, script: Script) -> None:
    ticks = iter(range(100))
    order: list[str] = []
    found = interleaved_runs.run_in_turn(
        world.context(), PROGRAM, 1.0, two_variants(script(), script()), 2, order.append,
        lambda: float(next(ticks)),
    )  # fmt: skip
    assert order == ["warming up", "a off", "b impdef", "b impdef", "a off"]
    assert [samples.seconds for samples in found] == [[1.0, 1.0], [1.0, 1.0]]
    assert not any(samples.wrong for samples in found)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("echo 43; exit", "printed '43', not '42'"),
        ("echo boom >&2; exit 7", "ended with 7, saying: boom"),
    ],
)
def test_another_answer_is_noticed(world: Lab, script: Script, body: str, complaint: str) -> None:
    every = two_variants(script(), script(body=body))
    found = interleaved_runs.run_in_turn(world.context(), PROGRAM, 1.0, every, 1, lambda _: None)
    assert [samples.wrong for samples in found] == ["", complaint]


def many_variants(*paths: Path) -> list[Variant]:
    return [Variant(Emulator(path.name, (str(path),)), "off", "max,pauth=off") for path in paths]


def run_both(world: Lab, every: list[Variant], rounds: int = 1) -> tuple[list[Samples], list[str]]:
    order: list[str] = []
    found = interleaved_runs.run_in_turn(world.context(), PROGRAM, 1.0, every, rounds, order.append)
    return found, order


def test_the_right_answer_is_that_of_most(world: Lab, script: Script) -> None:
    every = many_variants(script(body="echo 43; exit"), script(), script())
    found, _ = run_both(world, every)
    assert [samples.wrong for samples in found] == ["printed '43', not '42'", "", ""]


def test_a_first_way_that_fails_leaves_the_others_their_results(world: Lab, script: Script) -> None:
    found, _ = run_both(world, many_variants(script(body="echo boom >&2; exit 7"), script()))
    assert [samples.wrong for samples in found] == ["ended with 7, saying: boom", ""]
    assert [len(samples.seconds) for samples in found] == [0, 1]
    rows = stored_lines.table_of(PROGRAM, 1.0, found, None).rows
    assert [row.seconds is None for row in rows] == [True, False]


def test_a_program_that_no_way_can_run_is_an_error(world: Lab, script: Script) -> None:
    with pytest.raises(EverycoreError, match="ended with 7, saying: boom"):
        run_both(world, many_variants(script(body="echo boom >&2; exit 7")))


def test_a_way_that_is_wrong_does_not_run_again(world: Lab, script: Script) -> None:
    every = many_variants(script(), script(body="echo 43; exit"))
    found, order = run_both(world, every, rounds=3)
    assert order.count(every[1].name) == 1
    assert [len(samples.seconds) for samples in found] == [3, 1]


def test_an_answer_that_changes_is_noticed(world: Lab, script: Script) -> None:
    once = (
        f"[ $(wc -c <{world.folder}/n) -lt 3 ] || {{ echo 43; exit; }}; printf x >>{world.folder}/n"
    )
    (world.folder / "n").touch()
    found, _ = run_both(world, many_variants(script(body=once)), rounds=4)
    assert found[0].wrong == "printed '43', not '42'"


def test_a_wrong_answer_makes_the_command_fail(world: Lab, script: Script) -> None:
    wrong = script(body="case $1,$cpu in */recursion,*qarma5*) echo 43; exit ;; esac")
    arguments = ("--qemu", str(wrong), "--program", "recursion", "--rounds", "1")
    outcome = world("pauth", *arguments, "--cc", str(world.folder / "cc"))
    assert outcome.code == 1
    assert "WRONG recursion under qemu 11.0.1 qarma5: printed '43', not '42'" in outcome.err


def test_nothing_of_the_own_environment_reaches_the_emulator(world: Lab, script: Script) -> None:
    world.env["QEMU_CPU"] = "cortex-a57"
    path = script(body='[ -z "$QEMU_CPU" ] || { echo disturbed; exit; }')
    found = interleaved_runs.run_in_turn(
        world.context(), PROGRAM, 1.0, two_variants(path, script()), 1, lambda _: None
    )
    assert not any(samples.wrong for samples in found)


# ---- Tables --------------------------------------------------------------------------------------


def samples(algorithm: str, *seconds: float, wrong: str = "", mode: str = "") -> Samples:
    return Samples(
        Variant(Emulator("qemu 7", ("qemu",)), algorithm, "", mode), list(seconds), wrong
    )


def test_a_table_has_medians_ratios_and_the_cost_of_an_operation() -> None:
    every = [samples("off", 1.0, 1.0, 9.0), samples("impdef", 2.0), samples("qarma5", 5.0)]
    rows = stored_lines.table_of(PROGRAM, 1.0, every, Count(1_000_000_000, "qemu 7")).rows
    assert [row.seconds for row in rows] == [1.0, 2.0, 5.0]
    assert [row.ns_per_operation for row in rows] == [None, 1.0, 4.0]
    assert [row.ratio_to_off for row in rows] == [1.0, 2.0, 5.0]
    assert [row.ratio_to_impdef for row in rows] == [0.5, 1.0, 2.5]


def test_what_is_made_of_a_noisy_time_is_marked() -> None:
    every = [
        samples("off", 1.0, 1.0, 9.0),
        samples("impdef", 2.0, 2.0, 2.0),
        samples("qarma5", 5.0, 5.0, 5.0),
    ]
    text = text_of(
        stored_lines.table_of(PROGRAM, 1.0, every, Count(1_000_000_000, "qemu 7")).lines()
    )
    assert [line.split()[-5:] for line in text.splitlines() if "qarma5" in line] == [
        ["qarma5", "5.000", "4.0~", "5.00~", "2.50"]
    ]


def test_of_times_of_some_ticks_nothing_is_derived() -> None:
    every = [samples("off", 0.004), samples("impdef", 0.2), samples("qarma5", 0.4)]
    rows = stored_lines.table_of(PROGRAM, 1.0, every, Count(1000, "qemu 7")).rows
    assert [row.ns_per_operation for row in rows] == [None] * 3
    assert [row.ratio_to_off for row in rows] == [None] * 3
    assert [row.ratio_to_impdef for row in rows] == [None, 1.0, 2.0]


def test_a_single_run_has_no_spread_and_that_is_said() -> None:
    once = stored_lines.table_of(PROGRAM, 1.0, [samples("off", 1.0)], None)
    twice = stored_lines.table_of(PROGRAM, 1.0, [samples("off", 1.0, 1.0)], None)
    assert (once.rows[0].spread, twice.rows[0].spread) == (None, 0.0)
    assert "one run" in text_of(once.lines())
    assert "one run" not in text_of(twice.lines())


def test_the_work_that_was_done_is_told() -> None:
    small = stored_lines.table_of(PROGRAM, 0.001, [samples("off", 1.0)], None)
    first = small.lines()[0]
    assert isinstance(first, PauthProgram)
    assert (first.work, first.scale) == (1, 0.1)
    assert "0.1 times the usual work" in text_of(small.lines())
    boots = stored_lines.table_of(replace(PROGRAM, work=0), 0.5, [samples("off", 1.0)], None)
    first = boots.lines()[0]
    assert isinstance(first, PauthProgram)
    assert (first.work, first.scale) == (0, 1.0)


def test_an_algorithm_that_is_named_twice_runs_once() -> None:
    emulator = Emulator("qemu 11", ("qemu",), EVERY)
    found = variants.variants_of(emulator, ("off", "qarma5", "off"), demanded=True)
    assert [variant.algorithm for variant in found] == ["off", "qarma5"]


def test_of_a_wrong_run_nothing_is_derived() -> None:
    every = [samples("off", 1.0), samples("qarma5", 5.0, wrong="printed nothing")]
    row = stored_lines.table_of(PROGRAM, 1.0, every, Count(10, "qemu 7")).rows[1]
    assert row.ns_per_operation is row.ratio_to_off is None


def test_modes_of_a_patched_emulator_are_compared_with_its_own_hash() -> None:
    every = [
        samples("off", 1.0),
        samples("impdef", 2.0, mode="qemu"),
        samples("qarma5", 1.0, mode="memo"),
    ]
    rows = stored_lines.table_of(PROGRAM, 1.0, every, None).rows
    assert [row.algorithm for row in rows] == ["off", "impdef own", "qarma5 memo"]
    assert rows[2].ratio_to_impdef == 0.5


# ---- With the emulator of this system ------------------------------------------------------------


def test_the_plugin_counts_what_computes_a_code_and_nothing_else(
    real_lab: Lab, installed: Path, tmp_path: Path
) -> None:
    context = real_lab.context()
    emulator = emulators.identify(context, (str(installed),))
    if not emulator.counts:
        pytest.skip(f"{emulator.name} takes no plugins")
    source, path = tmp_path / "all.s", tmp_path / "all"
    source.write_text(INSTRUCTIONS)
    argv = [programs.COMPILER, "-march=armv8.5-a", "-nostdlib", "-static", str(source)]
    assert context.runner.run([*argv, "-o", str(path)]).code == 0
    program = Program("all", "", (), {}, (str(path),), 1)
    assert counting.count(context, emulator, program, 1.0).computed == COMPUTING


def test_a_program_costs_more_with_signing_and_prints_the_same(
    real_lab: Lab, installed: Path
) -> None:
    arguments = ("--program", "recursion", "--rounds", "1", "--scale", "0.05", "--json")
    outcome = real_lab("pauth", "--qemu", str(installed), *arguments)
    assert outcome.code == 0, outcome.err
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    rows = {line["algorithm"]: line for line in lines if line["type"] == "pauth"}
    assert set(rows) == {"off", "impdef", "qarma5"}
    assert not any(row["wrong"] for row in rows.values())
    assert rows["qarma5"]["seconds"] > rows["off"]["seconds"]


def test_a_patched_emulators_file_of_counts_is_read() -> None:
    data = emulators.COUNTS_FORMAT.pack(emulators.COUNTS_MAGIC, 5, 4, 2, 1, 1, b"qarma5", b"c_ref")
    assert counting.own_count(data) == 11


@pytest.mark.parametrize("data", [b"", b"evcpac1", b"x" * emulators.COUNTS_FORMAT.size])
def test_a_file_of_counts_that_is_none_is_refused(world: Lab, script: Script, data: bytes) -> None:
    wrote = world.folder / "counts"
    wrote.write_bytes(data)
    path = script(body=f'cat {wrote} >"$EVERYCORE_PAUTH_COUNTS"')
    patched = Emulator("qemu 10 patched", (str(path),), EVERY, is_patched=True)
    with pytest.raises(EverycoreError, match="what it wrote is not a count"):
        counting.count(world.context(), patched, PROGRAM, 1.0)


def plugin_emulator(folder: Path, least: int, most: int, wrote: str = "7") -> Emulator:
    """Takes plugins of these versions: those that the world's compiler makes hold theirs."""
    path = folder / "takes-plugins"
    path.write_text(
        "#!/bin/sh\n"
        "plugin=${4%%,*} to=${4##*,to=} api=$(cat ${4%%,*})\n"
        f"echo $api >>{folder}/tried\n"
        f"[ $api -ge {least} ] && [ $api -le {most} ] || "
        "{ echo plugin requires API version $api >&2; exit 1; }\n"
        f'printf "{wrote}" >$to\n'
    )
    path.chmod(0o755)
    return Emulator("qemu 9", (str(path),), EVERY, has_plugins=True)


@pytest.fixture
def plugins(world: Lab) -> Lab:
    """With a compiler that writes the version of the interface alone."""
    compiler = world.folder / "plugin-cc"
    compiler.write_text(
        "#!/bin/sh\nfor word; do to=$word; case $word in -DAPI=*) api=${word#*=} ;; esac; done\n"
        'echo $api >"$to"\n'
    )
    compiler.chmod(0o755)
    world.env |= {"CC": str(compiler), "PATH": "/usr/bin:/bin"}
    return world


@pytest.mark.parametrize(
    ("least", "most", "tried"),
    [(0, 1, "4 3 2 1"), (2, 2, "4 3 2"), (2, 3, "4 3"), (2, 4, "4"), (2, 6, "4")],
)
def test_the_newest_interface_of_plugins_that_an_emulator_takes_is_used(
    plugins: Lab, least: int, most: int, tried: str
) -> None:
    emulator = plugin_emulator(plugins.folder, least, most)
    assert counting.count(plugins.context(), emulator, PROGRAM, 1.0).computed == 7
    assert (plugins.folder / "tried").read_text().split() == tried.split()


def test_an_empty_file_of_a_plugin_is_no_count(plugins: Lab) -> None:
    emulator = plugin_emulator(plugins.folder, 1, 4, wrote="")
    with pytest.raises(EverycoreError, match="what it wrote is not a count"):
        counting.count(plugins.context(), emulator, PROGRAM, 1.0)


def test_counting_that_does_not_end_is_given_up(
    world: Lab, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "LIMIT_SECONDS", 0.2)
    path = script(body="exec sleep 60")
    patched = Emulator("qemu 10 patched", (str(path),), EVERY, is_patched=True)
    with pytest.raises(EverycoreError, match="it took more than"):
        counting.count(world.context(), patched, PROGRAM, 1.0)


def test_a_compiler_that_is_missing_is_named(world: Lab) -> None:
    with pytest.raises(EverycoreError, match="cannot run no-such-compiler") as caught:
        programs.make(world.context(), "recursion", "no-such-compiler", update=False)
    assert caught.value.hint == programs.COMPILER_HINT


def test_an_emulator_that_does_not_end_is_given_up(
    world: Lab, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emulators, "SECONDS", 0.2)
    world("pauth", "--qemu", str(script(body="exec sleep 60"))).refuses("does not end")


def test_an_emulator_is_built_of_each_suite(
    world: Lab, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    path = script(lacks=("pauth",))

    def build(_context: object, _tree: object, recipe: qemu_build.Recipe, update: bool) -> Path:
        asked.append((recipe, update))
        return path

    monkeypatch.setattr(qemu_build, "build_qemu", build)
    outcome = world("pauth", "--build-qemu", "--update")
    assert asked == [(qemu_build.Recipe("trixie", system=False), True)]
    assert f"{path} has no property 'pauth'" in outcome.err
    world("pauth", "--system", "--build-qemu")
    world("pauth", "--static", "--build-qemu")
    assert asked[1:] == [
        (qemu_build.Recipe("trixie", system=True), False),
        (qemu_build.Recipe("trixie", static=True), False),
    ]


@pytest.mark.parametrize(
    "arguments", [["--static"], ["--static", "--build-qemu", "--system"], ["--static", "--system"]]
)
def test_only_a_program_that_is_built_is_static(world: Lab, arguments: list[str]) -> None:
    world("pauth", *arguments).refuses("--static is of a linux-user emulator")


def test_what_the_network_does_not_give_is_told_as_a_line(lab: Lab) -> None:
    lab.env["EVERYCORE_MIRROR"] = "http://127.0.0.1:9/debian"
    done = lab("pauth", "--suite", "trixie", "--json")
    assert done.code == 2
    assert json.loads(done.out)["type"] == "skip"
    assert json.loads(done.out)["detail"].startswith("cannot read the mirror http://127.0.0.1:9")
    done = lab("pauth", "--suite", "../sid", "--json")
    assert (done.code, done.out) == (2, "")
