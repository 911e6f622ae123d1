# SPDX-License-Identifier: MIT
"""patch-qemu --series: on a tree that has nothing but the lines that the series names."""

import json
import lzma
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE

pytestmark = reads_all

ROOT = PACKAGE.parent.parent
SCRIPT = ROOT / "contrib/qemu/patch-qemu"
SERIES = ROOT / "contrib/qemu/series"
PLAN = tomllib.loads((SERIES / "series.toml").read_text(encoding="utf-8"))
POSITIONS = ("before", "after", "instead")
# Headers of QEMU and GLib, as far as series/tests/unit/test-pauth-qarma.c uses them.
STAND_INS = {
    "qemu/osdep.h": """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define g_new(type, n) ((type *)malloc(sizeof(type) * (n)))
#define g_once_init_enter(once) (!*(once))
#define g_once_init_leave(once, value) (*(once) = (value))
typedef size_t gsize;
__attribute__((unused)) static int failures;
#define g_assert_cmphex(a, op, b) (failures += !((a)op(b)))
#define g_test_init(argc, argv, end) ((void)(argc), (void)(argv))
#define g_test_add_func(name, test) test()
#define g_test_run() failures
""",
    "qemu/bitops.h": """
static inline uint64_t rol64(uint64_t x, unsigned n) { return x << (n & 63) | x >> (-n & 63); }
static inline uint64_t ror64(uint64_t x, unsigned n) { return x >> (n & 63) | x << (-n & 63); }
""",
}


def run(*words: str | Path, cwd: Path | None = None, **settings: str) -> tuple[int, str]:
    env = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A Tester",
        "GIT_AUTHOR_EMAIL": "tester@example.org",
        "GIT_COMMITTER_NAME": "A Tester",
        "GIT_COMMITTER_EMAIL": "tester@example.org",
        **settings,
    }
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Lines of QEMU's in no order of QEMU's: each that an edit names, unless an edit wrote it."""
    root = tmp_path / "tree"
    written: dict[str, str] = {}
    lines: dict[str, list[str]] = {}
    for patch in PLAN["patch"]:
        for edit in patch.get("edit", ()):
            anchor = next(edit[name] for name in POSITIONS if name in edit).strip("\n")
            name = edit["file"]
            known = "\n".join(["", written.get(name, ""), *lines.get(name, ()), ""])
            if f"\n{anchor}\n" not in known:
                lines.setdefault(name, []).extend([anchor, f"... more of {name}"])
            written[name] = written.get(name, "") + "\n" + edit["text"]
    for name, found in lines.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*found, ""]), encoding="utf-8")
    (root / "VERSION").write_text("0.0.1\n")
    (root / "target/arm/tcg/pauth_helper.c").touch()
    return root


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def test_git_applies_the_series_and_the_tree_is_only_read(tree: Path, tmp_path: Path) -> None:
    before = files(tree)
    code, said = run(SCRIPT, tree, "--series", tmp_path / "out")
    assert code == 0, said
    assert files(tree) == before
    patches = sorted((tmp_path / "out").glob("*.patch"))
    assert len(patches) == len(PLAN["patch"]) + 1
    for words in (["init"], ["add", "--all"], ["commit", "-m", "QEMU"], ["am", *patches[1:]]):
        code, said = run("git", *words, cwd=tree)
        assert code == 0, said
    after = files(tree)
    for patch in PLAN["patch"]:
        for name in patch.get("new", ()):
            ours = (SERIES / name).read_text().replace("MIT OR GPL", "GPL")
            assert after[name].decode() == ours
            assert "SPDX-License-Identifier: GPL-2.0-or-later" in ours
    assert all("Signed-off-by: A Tester <tester@example.org>" in p.read_text() for p in patches[1:])
    code, said = run(SCRIPT, tree, "--series", tmp_path / "again")
    assert code == 2
    assert "the series was applied" in said
    assert not (tmp_path / "again").exists()


def test_lines_that_another_version_has_not_are_named(tree: Path, tmp_path: Path) -> None:
    path = tree / "target/arm/tcg/meson.build"
    path.write_text(path.read_text() * 2)
    code, said = run(SCRIPT, tree, "--series", tmp_path / "out")
    assert code == 2
    assert "meson.build has the line ''pauth_helper.c',' 2 times" in said
    assert not (tmp_path / "out").exists()
    path.unlink()
    assert "target/arm/tcg" in run(SCRIPT, tree, "--series", tmp_path / "out")[1]


def test_a_folder_with_something_in_it_is_refused(tree: Path) -> None:
    code, said = run(SCRIPT, tree, "--series", tree)
    assert code == 2
    assert "is not empty" in said


def test_a_user_whom_git_does_not_know_cannot_sign_off(tree: Path, tmp_path: Path) -> None:
    unknown = {"GIT_AUTHOR_NAME": "", "GIT_AUTHOR_EMAIL": "", "HOME": str(tmp_path)}
    code, said = run(SCRIPT, tree, "--series", tmp_path / "out", cwd=tmp_path, **unknown)
    assert code == 2
    assert "git config --global user.name" in said


def test_the_cover_letter_has_seconds_without_and_with_the_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SERIES.parent))
    import make_series

    machine = {"cpu": "Fast", "family": "1", "model": "2"}
    start = {
        "type": "run",
        "machine": machine,
        "options": {"rounds": 5},
        "compiler": "gcc 1",
        "flags": ["-O2"],
        "date": "2026-01-02T00:00:00",
    }
    cell = {"type": "pauth", "program": "lua", "algorithm": "qarma5", "wrong": ""}
    before = {**cell, "emulator": "qemu 10.0.1", "seconds": 3.0}
    after = {**cell, "emulator": "qemu 10.0.1 series", "seconds": 1.5}
    (tmp_path / "results/fast").mkdir(parents=True)
    path = tmp_path / "results/fast/pauth.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, [start, before])).encode()))
    assert make_series.tables(tmp_path / "results") == ""
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, [start, after])).encode()))
    assert make_series.tables(tmp_path / "results") == ""
    alone = {
        **after,
        "algorithm": "aes128",
        "seconds": 1.25,
    }  # what QEMU without the series has not
    path.write_bytes(
        lzma.compress("\n".join(map(json.dumps, [start, before, after, alone])).encode())
    )
    said = make_series.tables(tmp_path / "results")
    assert said.split()[-10:-5] == ["lua", "qarma5", "3.000", "1.500", "2.00"]
    assert said.split()[-5:] == ["lua", "aes128", "-", "1.250", "-"]
    assert "5 runs: qemu 10.0.1 without" in said


@pytest.mark.parametrize("name", ["cc", "x86_64-w64-mingw32-gcc"])
def test_qarma_of_the_series_has_the_answers_of_its_unit_test(name: str, tmp_path: Path) -> None:
    compiler = shutil.which(name)
    if compiler is None:
        pytest.skip(f"no {name}")
    for header, text in STAND_INS.items():
        (tmp_path / header).parent.mkdir(exist_ok=True)
        (tmp_path / header).write_text(text)
    sources = [SERIES / "tests/unit/test-pauth-qarma.c", SERIES / "target/arm/tcg/pauth-qarma.c"]
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    code, said = run(compiler, *flags, *sources, "-o", tmp_path / "program.exe")
    assert code == 0, said
    if name == "cc":
        assert run(tmp_path / "program.exe")[0] == 0


# Headers of QEMU, as far as series/target/arm/tcg/pauth-code.c uses them.
STAND_INS_OF_CODE = {
    "qemu/osdep.h": STAND_INS["qemu/osdep.h"]
    + """
#include <inttypes.h>
#define g_new0(type, n) ((type *)calloc((n), sizeof(type)))
#define likely(x) (x)
#define unlikely(x) (x)
""",
    "qemu/bitops.h": STAND_INS["qemu/bitops.h"],
    "qemu/error-report.h": "#define error_report(...) fprintf(stderr, __VA_ARGS__)\n",
    "cpu.h": """
#include "qemu/bitops.h"
typedef struct ARMPACKey { uint64_t lo, hi; } ARMPACKey;
typedef struct {
    bool aa64_pauth_qarma3, aa64_pauth_qarma5;
    struct ARMPauthState *pauth_state;
    int pauth_mode;
} ARMCPU;
typedef struct { ARMCPU cpu; } CPUARMState;
#define env_archcpu(env) (&(env)->cpu)
#define cpu_isar_feature(name, cpu) ((cpu)->name)
""",
    "cpu-features.h": "",
}
CODES = """
#include "qemu/osdep.h"
#include "cpu.h"
#include "pauth-code.h"
#include "pauth-qarma.h"

static int calls, wrong;

static uint64_t reference(CPUARMState *env, uint64_t data, uint64_t modifier, ARMPACKey key)
{
    calls++;
    if (env->cpu.aa64_pauth_qarma5) {
        const ARMPauthQarmaTables *tables = arm_pauth_qarma_tables(false);
        return arm_pauth_qarma(tables, false, data, modifier, key.hi, key.lo);
    }
    return data * 3 + modifier * 5 + key.hi * 7 + key.lo + 1;
}

int main(int argc, char **argv)
{
    const ARMPACKey keys[4] = {{1, 2}, {1, 3}, {4, 3}, {0, 0}}, key = keys[0];
    (void)argc, (void)argv;
    for (int qarma5 = 0; qarma5 < 2; qarma5++)
        for (int mode = 0; mode < ARM_PAUTH_N_MODES; mode++) {
            CPUARMState env = {{false, qarma5, NULL, mode}};
            uint64_t of_zeros = reference(&env, 0, 0, keys[3]);
            wrong += arm_pauth_code(&env, 0, 0, keys[3], reference) != of_zeros;
            for (uint64_t i = 0; i < 12000; i++) {
                uint64_t data = i % 2 ? i * i * 0x10001 : 8, modifier = i % 2 ? 16 : i;
                ARMPACKey used = keys[i < 6000 ? 0 : i % 4];
                uint64_t expected = reference(&env, data, modifier, used);
                wrong += arm_pauth_code(&env, data, modifier, used, reference) != expected;
            }
            for (int i = 0; i < 4; i++) {
                uint64_t expected = reference(&env, 8, 9, keys[i]);
                wrong += arm_pauth_code(&env, 8, 9, keys[i], reference) != expected;
            }
            calls = 0;
            arm_pauth_code(&env, 8, 16, key, reference);
            int first = calls;
            arm_pauth_code(&env, 8, 16, key, reference);
            if (mode == ARM_PAUTH_MEMO)
                wrong += calls != first;
            free(env.cpu.pauth_state);
        }
    return wrong != 0;
}
"""


@pytest.mark.parametrize("name", ["cc", "x86_64-w64-mingw32-gcc"])
def test_codes_of_the_series_are_those_of_the_reference_in_each_mode(
    name: str, tmp_path: Path
) -> None:
    compiler = shutil.which(name)
    if compiler is None:
        pytest.skip(f"no {name}")
    for header, text in STAND_INS_OF_CODE.items():
        (tmp_path / header).parent.mkdir(exist_ok=True)
        (tmp_path / header).write_text(text)
    (tmp_path / "codes.c").write_text(CODES)
    tcg = SERIES / "target/arm/tcg"
    sources = [tmp_path / "codes.c", tcg / "pauth-code.c", tcg / "pauth-qarma.c"]
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}", f"-I{tcg}"]
    code, said = run(compiler, *flags, *sources, "-o", tmp_path / "program.exe")
    assert code == 0, said
    if name == "cc":
        code, said = run(tmp_path / "program.exe")
        assert code == 0, said
