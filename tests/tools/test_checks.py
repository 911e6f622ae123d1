# SPDX-License-Identifier: MIT
"""The checks of objects name what they cannot read, and find too much code."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tool(name: str, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Return a program of tools as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    loader = importlib.machinery.SourceFileLoader("check", str(ROOT / "tools" / name))
    spec = importlib.util.spec_from_loader("check", loader)
    assert spec
    found = importlib.util.module_from_spec(spec)
    loader.exec_module(found)
    return found


def test_a_file_is_compiled_in_each_way_until_it_has_landed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check = tool("check-compile", monkeypatch)
    ways = [(f"way {number}: {file}", ["cc", file]) for file in "ab" for number in range(200)]
    files = {"base": "", "fork": "a"}
    monkeypatch.setattr(check, "base_of", lambda: "base")
    monkeypatch.setattr(check, "fork_of", lambda: "fork")
    monkeypatch.setattr(check, "changed_files", lambda _: {"a", "b"})
    monkeypatch.setattr(check, "git", lambda *words: files[words[-1]])
    chosen = [command[-1] for _, command in check.chosen(ways)]
    assert (chosen.count("a"), chosen.count("b")) == (check.AT_MOST, 200)


class TestChecks:
    def ended(self, *command: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    def test_files_that_cannot_be_read_are_named(self, tmp_path: pathlib.Path) -> None:
        folder = tmp_path
        (folder / "empty").touch()
        for check in ("check-objects", "check-instructions", "check-vzeroupper", "check-spills"):
            for name in ("empty", "absent"):
                if check == "check-spills" and not any(map(shutil.which, ("gcc", "clang"))):
                    continue
                code, text = self.ended(f"tools/{check}", str(folder / name))
                assert code == 2, text
                assert text.startswith(f"{check}: "), text
                assert name in text

    def test_a_feature_that_a_line_of_isas_lacks_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        check = tool("check-instructions", monkeypatch)
        assert check.lines_that_lack() == []
        needed = check.needs()
        for isa, feature in (
            ("X86_ADX", "X86_BMI2"),
            ("X86_VAES512_CLMUL", "X86_AVX2"),
            ("X86_GCM512_INTEL", "X86_MODE64"),
            ("A32_THUMB2", "A32_THUMB2"),
        ):
            lacking = {**needed, isa: needed[isa] - {feature}}
            monkeypatch.setattr(check, "needs", lambda lacking=lacking: lacking)
            assert [text for text in check.lines_that_lack() if isa in text and feature in text]

    @pytest.mark.skipif(not shutil.which("clang"), reason="needs clang")
    @pytest.mark.parametrize(
        ("target", "built"),
        [
            ("thumbv6m-none-eabi", "0 0 0"),
            ("thumbv7m-none-eabi", "1 0 0"),  # Cortex-M3: no umaal
            ("thumbv7em-none-eabi", "1 1 0"),
            ("thumbv8m.base-none-eabi", "0 0 0"),
            ("thumbv8m.main-none-eabi+dsp", "1 1 0"),
            ("armv7a-linux-gnueabihf", "1 1 0"),
            ("armv5te-linux-gnueabi", "0 1 0"),
            ("armebv7a-linux-gnueabihf", "0 1 0"),
        ],
    )
    def test_kernels_of_arm_are_built_where_they_run(self, target: str, built: str) -> None:
        target, _, dsp = target.partition("+")
        words = ["clang", f"--target={target}", *(["-mcpu=cortex-m33"] if dsp else []), "-E", "-P"]
        done = subprocess.run(
            [*words, "-ffreestanding", "-Iinclude", "-xc", "-"],
            input='#include "everycore/isa.h"\nBUILT EVC_A32_THUMB2 EVC_A32_DSP EVC_A32_SIMD\n',
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == f"BUILT {built}"

    def test_programs_that_are_absent_are_named(self) -> None:
        code, text = self.ended("tools/check-objects", "--nm", "nosuch-nm", "libeverycore.a")
        assert (code, text) == (
            2,
            "check-objects: nosuch-nm cannot be run: No such file or directory; is it installed?\n",
        )

    @pytest.mark.skipif(
        not all(map(shutil.which, ("gcc", "ar", "nm", "readelf"))), reason="needs gcc and binutils"
    )
    def test_too_much_code_of_a_gcm_kernel_is_found(self, tmp_path: pathlib.Path) -> None:
        folder = tmp_path
        code = folder / "code.S"
        for suffix, options, cpu, size, is_too_much in (
            ("_asm.S", [], "x86_64", 30720, False),
            ("_asm.S", [], "x86_64", 30721, True),
            ("_asm.S", [], "aarch64", 30721, False),
            (".c", [], "x86_64", 30721, False),
            (".c", ["--optimized"], "x86_64", 30721, True),
        ):
            member, library = (
                folder / f"src_gcm_x86_vaes512{suffix}.o",
                folder / f"{cpu}-{size}-{len(options)}{suffix}.a",
            )
            code.write_text(
                f'.text\n.skip 24000\n.section .text.second, "ax"\n.skip {size - 24000}\n'
            )
            subprocess.run(["gcc", "-c", code, "-o", member], check=True)
            subprocess.run(["ar", "rc", library, member], check=True)
            for readelf in filter(shutil.which, ("readelf", "llvm-readelf")):
                done = subprocess.run(
                    [
                        sys.executable,
                        "tools/check-objects",
                        "--readelf",
                        readelf,
                        "--cpu",
                        cpu,
                        *options,
                        library,
                    ],
                    cwd=ROOT,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                told = f"{member.name}: {size} bytes of code, more than 30720\n" in done.stdout
                assert told == is_too_much, (readelf, suffix, size, done.stdout, done.stderr)

    PLANTED = (
        ("static int counter; int *evc_p(void) { return &counter; }", "counter"),
        ("static int counter = 1; int *evc_p(void) { return &counter; }", "counter"),
        ("int evc_counter;", "evc_counter"),
        ("int evc_counter __attribute__((common));", "evc_counter"),
        ("_Thread_local int evc_counter;", "evc_counter"),
        ("__attribute__((constructor)) static void f(void) {}", ""),
        ("extern int evc_x; int *const evc_address = &evc_x;", None),
        ("static const int table[2] = {1, 2}; int evc_f(int i) { return table[i]; }", None),
    )

    @pytest.mark.parametrize(("source", "symbol"), PLANTED)
    def test_state_is_found(self, tmp_path: pathlib.Path, source: str, symbol: str | None) -> None:
        """`symbol`: what can be written; None: nothing can."""
        code, tried = tmp_path / "planted.c", 0
        code.write_text(source)
        for compiler, tools in (
            (("gcc", "-fPIC"), ("--readelf", "readelf", "--nm", "nm")),
            (("clang", "-fPIC"), ("--readelf", "llvm-readelf", "--nm", "llvm-nm")),
            (("clang", "-target", "mips-linux-gnu"), ("--readelf", "readelf", "--nm", "llvm-nm")),
            (("clang", "-target", "powerpc64-linux"), ("--readelf", "readelf", "--nm", "llvm-nm")),
            (("clang", "-target", "x86_64-windows-gnu"), ("--coff", "--nm", "llvm-nm")),
        ):
            names_sections = "--readelf" in tools
            if not all(map(shutil.which, (compiler[0], "ar", *(t for t in tools if t[0] != "-")))):
                continue
            if not names_sections and (not symbol or "_Thread" in source):
                continue  # nm shows none: constructors, tables; 1. finds thread-local state
            member = tmp_path / "planted.o"
            library = tmp_path / f"{'-'.join(compiler)}.a"
            subprocess.run([*compiler, "-c", code, "-o", member], check=True)
            subprocess.run(["ar", "rc", library, member], check=True)
            done = subprocess.run(
                [sys.executable, "tools/check-objects", *tools, library],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            found = [line for line in done.stdout.splitlines() if "library has no state" in line]
            assert (found != []) == (symbol is not None), (compiler, done.stdout, done.stderr)
            if symbol and not names_sections:
                assert f"{symbol} can be written" in found[0]
            tried += 1
        if not tried:
            pytest.skip("needs gcc and binutils, or clang and LLVM")
