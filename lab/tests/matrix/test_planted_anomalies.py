# SPDX-License-Identifier: MIT
"""Anomalies on purpose, looked for with the compilers that are here."""

import os
from pathlib import Path

import pytest
from world import Lab, Outcome

from everycore.compile.catalog import find_tree
from everycore.compile.toolchains.installed import installed
from everycore.environment.decoding import encode_line
from everycore.model.cells import Anomaly, Kind
from everycore.store.matrix_files import read

pytestmark = pytest.mark.slow

TOML = """
files = ["planted.c"]
declaration = "void planted(unsigned char *, const unsigned char *, size_t)"
[functions.planted]
call = "planted(out, in, n_bytes)"
"""
# Each makes the same answers, some of them slowly.
SOURCE = """
#include <stddef.h>
void planted(unsigned char *out, const unsigned char *in, size_t n);
void planted(unsigned char *out, const unsigned char *in, size_t n)
{
#ifdef __BMI2__
    volatile unsigned char frame[4000];
    for (size_t i = 0; i < n; i++)
        frame[i % 4000] = in[i];
#endif
#ifdef PIECES /* of one byte: a loop, or a call of memset for each */
    static volatile size_t one = 1;
    for (size_t i = 0; i < n; i++) {
        unsigned char byte = in[i] ^ 0x55;
        size_t length = one;
        for (size_t j = 0; j < length; j++)
            out[i + j] = byte;
    }
#else
    for (size_t i = 0; i < n; i++)
        out[i] = in[i] ^ 0x55;
#endif
}
"""


@pytest.fixture
def planted(real_lab: Lab, tmp_path: Path) -> Lab:
    (tmp_path / "planted.toml").write_text(TOML)
    (tmp_path / "planted.c").write_text(SOURCE)
    real_lab.env["PATH"] = os.environ["PATH"]
    real_lab.width = 120
    return real_lab


def newest(lab: Lab, family: str) -> str:
    tree = find_tree(lab.context().package)
    own = [toolchain for toolchain in installed(lab.context(), tree) if toolchain.family == family]
    if not own:
        pytest.skip(f"no {family}: apt-get install {family}")
    return own[-1].name


def look(lab: Lab, toolchain: str, *words: str) -> Outcome:
    """The command that finds, bisects and reports."""
    given = [word if word.startswith("--") else f"--flags={word}" for word in words]
    names = ["--subject", str(lab.folder / "planted.toml"), "--toolchain", toolchain]
    names += ["--bytes", "2048", "--out", str(lab.folder / "m.jsonl")]
    return lab("matrix", "regressions", *names, *given)


def stored(lab: Lab) -> list[Anomaly]:
    lines = read(lab.folder / "m.jsonl").lines
    return [line for line in lines if isinstance(line, Anomaly)]


def test_instructions_that_spoil_a_cell_are_named(planted: Lab) -> None:
    if "bmi2" not in Path("/proc/cpuinfo").read_text(encoding="utf-8").split():
        pytest.skip("this CPU has no BMI2")
    done = look(planted, newest(planted, "clang"), "-O2", "-O2 -mbmi2")
    assert done.code == 1
    found = {anomaly.kind: anomaly for anomaly in stored(planted)}
    assert set(found) == {Kind.SLOW, Kind.FRAME}
    for anomaly in found.values():
        assert anomaly.repair == ("-mno-bmi2",)
        assert anomaly.differs_in == "march"
    assert found[Kind.SLOW].ratio > 1.1
    assert found[Kind.FRAME].value > 2000
    assert "-mno-bmi2 repairs it" in done.out
    assert "everycore matrix --subject ./planted.toml" in done.out


def test_the_optimisation_that_spoils_a_loop_is_named(planted: Lab) -> None:
    done = look(planted, newest(planted, "gcc"), "-O1 -DPIECES", "-O2 -DPIECES")
    assert done.code == 1
    (found,) = stored(planted)
    assert "-fno-tree-loop-distribute-patterns" in found.repair
    assert any("call" in cause for cause in found.causes)
    again = look(planted, newest(planted, "gcc"), "-O1 -DPIECES", "-O2 -DPIECES", "--resume")
    assert again.code == 1
    assert stored(planted) == [found]


def test_what_was_slow_once_is_noise(planted: Lab) -> None:
    gcc = newest(planted, "gcc")
    quiet = look(planted, gcc, "-O1", "-O2")
    path = planted.folder / "m.jsonl"
    assert not stored(planted), quiet.out
    (cell,) = (result for result in read(path).results if result.flags == ("-O2",))
    slow = read(path).results[cell]
    runs = tuple(tuple(9 * sample for sample in run) for run in slow.runs)
    with path.open("a", encoding="utf-8") as file:
        file.write(encode_line(slow.replace(runs=runs)) + "\n")
    done = look(planted, gcc, "-O1", "-O2", "--resume")
    assert done.code == 0
    assert "noise: " in done.err
    assert "the second time" in done.err
    assert not done.out
    assert not stored(planted)
