# SPDX-License-Identifier: MIT
"""Runs of `everycore pauth` as they are stored, and what is made of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from world import Lab, tool

from everycore.commands import pauth as command
from everycore.environment.decoding import decode_line, encode_line
from everycore.model import run_lines
from everycore.model.domain import Compiler, Machine, Revision, Target
from everycore.model.run_lines import Run
from everycore.pauth import primitive, system_boot
from everycore.pauth.primitive import Plan, Timings
from everycore.pauth.programs import Program
from everycore.report import pauth_tables
from everycore.report.page import benches
from everycore.run import machine
from everycore.store import run_files
from everycore.store.run_files import Results, Writer
from everycore.subjects import Function, Subject
from everycore.subjects import Program as Driver

pytestmark = pytest.mark.slow

Script = Callable[..., Path]
KINDS = ("pauth", "pauth-primitive", "pauth-system")
OF_A_RUN = ("--program", "recursion", "--rounds", "2")
RUN = Run(
    command="pauth",
    date="2026-01-02T03:04:05+00:00",
    everycore="0.1.0",
    revision=Revision("0123456789ab", False),
    machine=Machine("Neoverse V9"),
    target="host",
    compiler="gcc 14.2.0",
    flags=("-O2",),
    counter="user time",
    options={"suite": ["sid", "trixie"], "build-qemu": True, "rounds": 3},
)
PROGRAM: dict[str, Any] = {
    "type": "pauth-program",
    "program": "lua",
    "says": "an interpreter",
    "scale": 1.0,
    "work": 24,
    "computed": 1234567,
    "counted_by": "qemu 7.2",
    "sampled": False,
}
ROW: dict[str, Any] = {
    "type": "pauth",
    "program": "lua",
    "emulator": "qemu 10.0",
    "algorithm": "qarma5",
    "seconds": 5.0,
    "spread": 0.01,
    "samples": [5.0, 5.0],
    "ns_per_operation": 81.25,
    "ratio_to_off": 4.0,
    "ratio_to_impdef": 3.5,
    "wrong": "",
    "share": None,
    "is_noisy": False,
    "is_noisy_to_off": True,
    "is_noisy_to_impdef": False,
}
BOOT = {**PROGRAM, "program": "boot", "says": "Linux boots", "sampled": True, "computed": None}
FIGURE: dict[str, Any] = {
    "type": "pauth-primitive",
    "table": "around the cipher",
    "who": "found in the memo: x86_ssse3",
    "operation": "cycles",
    "mode": "pac-memo",
    "cycles": 7.125,
    "ratio": 210.4,
    "samples": [[7.1, 7.125, 7.2]],
}
LINES: dict[str, list[dict[str, Any]]] = {
    "pauth": [PROGRAM, ROW, {**ROW, "algorithm": "memo", "wrong": "printed nothing"}],
    "pauth-system": [BOOT, {**ROW, "program": "boot", "share": 0.625}],
    "pauth-primitive": [FIGURE],
}


def stored(folder: Path, kind: str, day: int = 2, **change: Any) -> Path:
    """A file as the command leaves one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}-{len(list(folder.iterdir()))}.jsonl"
    run = RUN.replace(command=kind, date=f"2026-01-{day:02}T03:04:05+00:00", **change)
    with Writer(path, run) as writer:
        for line in LINES[kind]:
            writer.write(decode_line(run_lines.LINES, json.dumps(line)))
    return path


def kept(world: Lab) -> Results:
    """The only result in the state directory."""
    (path,) = (world.folder / "state" / "everycore" / "results").iterdir()
    return run_files.read(path)


# ---- The command ---------------------------------------------------------------------------------


def measured(world: Lab, script: Script, *more: str) -> str:
    compiler = ("--cc", str(world.folder / "cc"))
    outcome = world("pauth", "--qemu", str(script()), *OF_A_RUN, *compiler, *more)
    assert outcome.code == 0, outcome.err
    assert ".jsonl" in outcome.err.partition("samples: ")[2]
    return outcome.out


def test_a_run_of_programs_is_stored_with_where_it_comes_from(world: Lab, script: Script) -> None:
    shown = measured(world, script)
    result = kept(world)
    assert result.path.name.endswith("-pauth.jsonl")
    run = result.run
    assert (run.command, run.compiler, run.counter) == ("pauth", "gcc 14.2.0", "user time")
    assert "-mbranch-protection=pac-ret" in run.flags
    assert run.options == {
        "qemu": ["emulator-0"],  # no path of this machine
        "program": ["recursion"],
        "rounds": 2,
        "cc": "cc",
    }
    lines = [json.loads(encode_line(record)) for record in result.records]
    rows = [line for line in lines if line["type"] == "pauth"]
    assert [row["algorithm"] for row in rows] == ["off", "impdef", "qarma5"]
    assert all(len(row["samples"]) == 2 for row in rows)
    assert {"pauth-emulator", "pauth-program"} < {line["type"] for line in lines}
    assert run.source() in " ".join(shown.split())


def test_json_is_what_is_stored(world: Lab, script: Script) -> None:
    printed = measured(world, script, "--json").splitlines()
    result = kept(world)
    assert printed == [encode_line(result.run), *(encode_line(r) for r in result.records)]
    assert any(json.loads(line)["type"] == "pauth" for line in printed)  # tests/systems/test_lab.py


def test_the_conditions_are_stored_before_and_after(
    world: Lab, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"/sys/class/thermal/thermal_zone0/temp": "48312\n"}
    facts = machine.Facts("Linux", "6.1", "aarch64", texts)
    monkeypatch.setattr(machine, "gather", lambda _: facts)
    measured(world, script)
    lines = [json.loads(encode_line(record)) for record in kept(world).records]
    assert [line["type"] == "conditions" for line in lines].count(True) == 2
    assert lines[0]["temperature_c"] == lines[-1]["temperature_c"] == 48.312


def test_a_run_goes_where_it_is_told_to(world: Lab, script: Script) -> None:
    path = world.folder / "mine.jsonl"
    measured(world, script, "--out", str(path))
    assert run_files.read(path).run.command == "pauth"
    outcome = world("pauth", "--qemu", str(script()), "--out", str(path))
    assert (outcome.code, "mine.jsonl exists" in outcome.err) == (2, True)


def test_a_wrong_answer_is_stored_too(world: Lab, script: Script) -> None:
    wrong = script(body="case $1,$cpu in */recursion,*qarma5*) echo 43; exit ;; esac")
    compiler = ("--cc", str(world.folder / "cc"))
    assert world("pauth", "--qemu", str(wrong), *OF_A_RUN, *compiler).code == 1
    (table,) = pauth_tables.tables(kept(world).records)
    assert table.rows[-1][1:3] == ("qarma5", "WRONG")


def test_a_run_of_a_system_is_of_a_kind_of_its_own(
    world: Lab, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program("boot", "boots", (), {}, ("-append",), 0, "WORK=", system_boot.DONE)
    mode = replace(command.SYSTEM, programs=("boot",), make=lambda *_: program)
    monkeypatch.setattr(command, "SYSTEM", mode)
    monkeypatch.setattr(command, "share", lambda *_: 0.5)
    path = script("QEMU emulator version 10.0.1", body=f"echo '{system_boot.DONE}'; exit")
    compiler = ("--cc", str(world.folder / "cc"))
    outcome = world("pauth", "--system", "--qemu", str(path), "--rounds", "1", *compiler)
    assert outcome.code == 0, outcome.err
    result = kept(world)
    assert (result.run.command, result.run.options["system"]) == ("pauth-system", True)
    (table,) = pauth_tables.tables(result.records)
    assert table.head[-1] == "share"
    assert {row[-1] for row in table.rows} == {"50.0%"}


def test_a_run_of_one_code_is_stored_with_the_counter_of_cycles(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = Subject("qemu-10.0", ("pauth_helper.c",), (Function("qarma5", "qarma5"),))
    compiler = Compiler(("cc",), "gcc 12.2.0", "")
    driver = Driver(subject, Target("host", ""), compiler, ("-O2",), "1", Path("driver"))
    found = Timings({("qarma5", "x86_ssse3"): [(80.0, 81.0, 82.0)]}, {"qarma5": [(1620.0,)]})
    monkeypatch.setattr(primitive, "theirs", lambda *_: driver)
    monkeypatch.setattr(primitive, "plan", lambda *_: Plan(("x86_ssse3",), "x86_ssse3", "", ()))
    monkeypatch.setattr(primitive, "compare", lambda *_: ("qarma5",))
    monkeypatch.setattr(primitive, "measure", lambda *_: found)
    outcome = lab("pauth", "--primitive", "--rounds", "1")
    assert outcome.code == 0, outcome.err
    assert "81.0 20.0x" in outcome.out
    result = kept(lab)
    assert (result.run.command, result.run.counter) == ("pauth-primitive", "tsc+addchain")
    assert result.run.options == {"primitive": True, "rounds": 1}
    lines = [json.loads(encode_line(record)) for record in result.records]
    (ours,) = [line for line in lines if line.get("who") == "x86_ssse3"]
    assert ours["samples"] == [[80.0, 81.0, 82.0]]
    assert "compared, and equal on 8,000,000 bytes each: qarma5" in outcome.out


# ---- The other commands --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "cell", "sort"),
    [
        ("pauth", "81.2~", 81.2),
        ("pauth", "qemu 10.0", "qemu 10.0"),
        ("pauth-system", "62.5%", 62.5),
        ("pauth-primitive", "7.1 210x", 7.1),
    ],
)
def test_the_report_shows_the_tables_of_a_run(
    tmp_path: Path, kind: str, cell: str, sort: float | str
) -> None:
    records = run_files.read(stored(tmp_path, kind)).records
    (table,) = benches.pauth_tables(records)
    found = [entry.sort for entry in table.rows[0] if entry.shown == cell]
    assert found == [sort]
    assert pauth_tables.tables(records)[0].legend in table.note


def test_a_folder_with_such_runs_is_a_page(lab: Lab, tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="make lab")
    folder = tmp_path / "results"
    for kind in KINDS:
        stored(folder, kind)
    out = tmp_path / "page.html"
    done = lab("report", str(folder), "--out", str(out))
    assert done.code == 0, done.err
    text = out.read_text(encoding="utf-8")
    for title in ("lua: an interpreter", "boot: Linux boots", "around the cipher", "Neoverse V9"):
        assert title in text


def test_compare_looks_at_runs_that_can_be_compared(lab: Lab) -> None:
    lab("bench")
    lab("bench")
    for kind in KINDS:
        stored(lab.folder / "state" / "everycore" / "results", kind)
    done = lab("compare", "--no-fail")
    assert done.code == 0, done.err
    assert ": 0 differ" in done.out


# ---- The docs ------------------------------------------------------------------------------------


@pytest.fixture
def gen_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """tools/gen-docs, of a tree that has nothing but results."""
    module = tool("gen-docs")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def test_the_docs_have_the_set_of_each_kind_and_folder(
    gen_docs: ModuleType, tmp_path: Path
) -> None:
    first_folder, second_folder = tmp_path / "results" / "one", tmp_path / "results" / "other"
    pauth = stored(first_folder, "pauth", day=9, options={"system": True, "rounds": 9})
    for kind in set(KINDS) - {"pauth"}:
        stored(first_folder, kind, day=5)
    stored(second_folder, "pauth-primitive")
    text = gen_docs.emulated()
    assert text.startswith("\n## Measured\n")
    headings = [line for line in text.splitlines() if line.startswith("###")]
    assert headings == [
        "### one: pauth",
        "### one: pauth-primitive",
        "### one: pauth-system",
        "### other: pauth-primitive",
    ]
    assert (
        f"[results/one/{pauth.name}](../../results/one/{pauth.name}): Neoverse V9, user time,"
        " gcc 14.2.0 -O2, commit 0123456789ab, 2026-01-09.\n\n"
        "`everycore pauth --system --rounds 9`\n"
    ) in text
    assert "`everycore pauth --suite sid --suite trixie --build-qemu --rounds 3`" in text
    assert "| qemu 10.0 | qarma5 | 5.000 | 81.2~ | 4.00~ | 3.50 |\n" in text
    assert "| qemu 10.0 | memo | WRONG |  |  |  |\n" in text
    assert "| found in the memo: x86_ssse3 | 7.1 210x |\n" in text
    assert "1,234,567 instructions that compute a code; counted by qemu 7.2.\n" in text


def test_without_such_runs_the_docs_say_nothing(gen_docs: ModuleType, tmp_path: Path) -> None:
    assert gen_docs.emulated() == ""
    (tmp_path / "results" / "one").mkdir(parents=True)
    assert gen_docs.emulated() == ""


def test_other_pages_take_no_notice_of_such_runs(gen_docs: ModuleType, tmp_path: Path) -> None:
    for kind in KINDS:
        stored(tmp_path / "results" / "one", kind)
        stored(tmp_path / gen_docs.ESTIMATES, kind)
    assert "\n#" not in gen_docs.speed([])  # no set has a heading
    assert gen_docs.reached() == ""
