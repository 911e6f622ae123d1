#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A kernel is one file and one line: prove it on a copy of the tree.

The template kernel and its line are added, and nothing else. It must then be built, listed,
selected, checked and measured; and when its file breaks, the check must fail. The same with a
second file for its assembly, built for another CPU. Kernels that take no part, above all those for
other CPUs, are deleted with their lines and not compiled.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from few_kernels import keep_kernels, portable

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEM = "c_template"
LINE = f"KERNEL(aes, {STEM},     ANY,         CT,       SERIAL)\n"
ASSEMBLY_STEM = "a64_template"
ASSEMBLY_LINE = f"KERNEL(aes, {ASSEMBLY_STEM},  A64_NEON, CT,       ANY)\n"
CROSS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
REFERENCE = "c_ref"
# The template is slow, above all when it is emulated; once it is checked whole.
FAST = (
    "descriptor_agrees_with_its_line",
    "known_answers",
    "every_length_equals_reference",
    "in_place_equals_disjoint",
    "split_calls_equal_one_call",
    "decryption_inverts_encryption",
)
failures: list[str] = []
passed: list[str] = []


def expect(condition: bool, what: str, detail: str = "") -> None:
    if condition:
        passed.append(what)
    else:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def copy_tree(to: pathlib.Path) -> None:
    """Without git too, as in an unpacked archive: all but what was made here (.gitignore)."""

    def made(folder: str, names: list[str]) -> list[str]:
        at_top = pathlib.Path(folder) == ROOT
        return [
            name
            for name in names
            if name in (".git", "__pycache__")
            or name.endswith(".egg-info")
            or (at_top and (name.startswith((".venv", "dist", "build")) or name.endswith("cache")))
        ]

    shutil.copytree(ROOT, to, ignore=made, dirs_exist_ok=True)


def run(tree: pathlib.Path, *argv: str | pathlib.Path) -> tuple[int, str]:
    done = subprocess.run(
        argv,
        cwd=tree,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout


def facts(text: str, kind: str) -> list[dict[str, object]]:
    """The harness's lines of one type."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if line["type"] == kind]


def build(tree: pathlib.Path, target: str = "harness", options: tuple[str, ...] = ()) -> None:
    """The library and the harness, without the tests and with warnings as errors."""
    if not (tree / "build").exists():
        code, text = run(
            tree,
            "meson",
            "setup",
            "--werror",
            "-Ddefault_library=static",
            "-Doptimization=1",
            "-Ddebug=false",
            *options,
            "build",
        )
        if code:
            sys.exit(text)
    code, text = run(tree, "meson", "compile", "-C", "build", target)
    if code:
        sys.exit(text)


def with_assembly() -> str:
    """The template kernel, whose AddRoundKey is assembly now."""
    text = (ROOT / "tests/systems/template_kernel.c").read_text()
    text = text.replace(STEM, ASSEMBLY_STEM).replace(
        "(a64_template, ANY, CT, SERIAL", "(a64_template, A64_NEON, CT, ANY"
    )
    text = text.replace("ANY.   Timing", "A64_NEON.   Timing").replace(
        "evc_xor16", "evc_aes_a64_template_xor"
    )
    head, rest = text.split('#include "common/bytes.h"\n')
    head = head.replace('"aes/kernel.h"\n', '"aes/kernel.h"\n\n#if EVC_BUILT(A64_NEON)\n')
    declared = "void evc_aes_a64_template_xor(uint8_t *to, const uint8_t *a, const uint8_t *b);\n"
    return f'{head}#include "common/bytes.h"\n\n{declared}{rest}\n#else\nEVC_EMPTY_UNIT\n#endif\n'


def assembly_kernel() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        copy_tree(tree)
        keep_kernels(tree, lambda stem: stem == REFERENCE)
        registry = tree / "src/kernels.def"
        registry.write_text(
            re.sub("^KERNEL", ASSEMBLY_LINE + "KERNEL", registry.read_text(), count=1, flags=re.M)
        )
        (tree / f"src/aes/{ASSEMBLY_STEM}.c").write_text(with_assembly())
        assembly = tree / f"src/aes/{ASSEMBLY_STEM}_asm.S"
        shutil.copy(ROOT / "tests/systems/template_kernel_asm.S", assembly)
        good = assembly.read_text()

        def check(*properties: str) -> tuple[int, str]:
            build(tree, options=("--cross-file", "catalog/toolchains/aarch64.ini"))
            return run(
                tree,
                CROSS[1],
                tree / "build/harness/harness",
                "check",
                "--kernel",
                ASSEMBLY_STEM,
                "--quick",
                "--property",
                ",".join(properties),
            )

        def objects() -> tuple[int, str]:
            library = tree / "build/libeverycore.a"
            return run(
                tree,
                sys.executable,
                "tools/check-objects",
                "--nm",
                "aarch64-linux-gnu-nm",
                "--readelf",
                "aarch64-linux-gnu-readelf",
                "--cpu",
                "aarch64",
                library,
            )

        code, text = check(*FAST)
        results = [fact["result"] for fact in facts(text, "check")]
        expect(
            code == 0 and len(results) == len(FAST) and set(results) == {"pass"},
            "check passes a kernel with assembly",
            text,
        )
        code, text = objects()
        expect(code == 0, "its objects keep the rules", text)
        assembly.write_text(good.replace("    eor v0", "    orr v0"))
        code, text = check("known_answers")
        expect(
            code == 1 and any(fact["result"] == "fail" for fact in facts(text, "check")),
            "check fails it when its assembly is broken",
            text,
        )
        assembly.write_text(
            good.replace("evc_isa_neon", "evc_isa_crypto").replace(
                "    eor v0", "    aesmc v0.16b, v0.16b\n    eor v0"
            )
        )
        build(tree, "everycore")
        code, text = run(
            tree,
            sys.executable,
            "tools/check-instructions",
            "--objdump",
            "aarch64-linux-gnu-objdump",
            "--cpu",
            "aarch64",
            "build/libeverycore.a",
        )
        expect(
            code == 1 and "not A64_AES: aesmc" in text,
            "check-instructions finds what its CPUs may lack",
            text,
        )
        function = "evc_aes_a64_template_xor"
        for what, edit in (
            ("a function that all may see", good + f".protected {function}\n"),
            (
                "a name that is not its own",
                good + "evc_function evc_aes_a64_other\n    ret\nevc_end evc_aes_a64_other\n",
            ),
            ("a call", good.replace("    ret\n", "    b memcpy\n")),
            (
                "no word on its branches",
                good.replace(
                    '#include "common/a64_asm.h"',
                    '#include "common/any_asm.h"\n'
                    "#define EVC_ASM_A64 1\n.macro evc_isa_neon\n.endm\n.macro evc_end "
                    "name\n.endm\n"
                    ".macro evc_function name\n.globl \\name\n.hidden \\name\n\\name:\n.endm",
                ),
            ),
        ):
            assembly.write_text(edit)
            build(tree, "everycore")
            code, text = objects()
            expect(
                code == 1 and f"{ASSEMBLY_STEM}_asm.S" in text,
                f"check-objects finds {what} in assembly",
                text,
            )
        assembly.write_text(good)
        notes = tree / "src/common/any_asm.h"
        notes.write_text(notes.read_text().replace('.note.GNU-stack, ""', '.note.GNU-stack, "x"'))
        build(tree, "everycore")
        code, text = objects()
        expect(
            code == 1 and "executable stack" in text,
            "check-objects finds an executable stack",
            text,
        )


def main() -> int:
    skipped = 0
    absent = [name for name in CROSS if not shutil.which(name)]
    if absent:
        skipped = 1
        print(f"skipped: a kernel with assembly: no {', '.join(absent)}")
    else:
        assembly_kernel()
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        copy_tree(tree)
        file, registry = tree / f"src/aes/{STEM}.c", tree / "src/kernels.def"
        shutil.copy(ROOT / "tests/systems/template_kernel.c", file)
        registry.write_text(
            re.sub("^KERNEL", LINE + "KERNEL", registry.read_text(), count=1, flags=re.M)
        )
        if (tree / "tools/gen-docs").exists():
            run(tree, sys.executable, "tools/gen-docs")
        code, text = run(tree, sys.executable, "tools/check-tree")
        expect(code == 0, "the tree with the template keeps its rules", text)

        keep_kernels(tree, portable)
        build(tree)
        harness = tree / "build/harness/harness"
        code, text = run(tree, harness, "list")
        expect(
            any(
                fact["name"] == STEM and fact["built"] and fact["runs"] and fact["rank"] == 0
                for fact in facts(text, "kernel")
            ),
            "list names it, first as its line is",
            text,
        )
        code, text = run(tree, harness, "resolve")
        expect(
            any(
                fact["use"] == "serial" and fact["kernel"] == STEM
                for fact in facts(text, "resolve")
            ),
            "it is selected for one chain, as its line says",
            text,
        )
        code, text = run(tree, harness, "check", "--kernel", STEM, "--quick")
        results = [fact["result"] for fact in facts(text, "check")]
        expect(code == 0 and len(results) > 5 and set(results) == {"pass"}, "check passes it", text)
        code, text = run(
            tree,
            harness,
            "bench",
            "--kernel",
            STEM,
            "--mode",
            "ctr",
            "--bytes",
            "64",
            "--samples",
            "1",
        )
        expect(
            code == 0 and any(fact["kernel"] == STEM for fact in facts(text, "bench")),
            "bench measures it",
            text,
        )

        good = file.read_text()
        for what, old, new in (
            ("its S-box", "^ 0x63", "^ 0x62"),
            ("its decryption", "14, 11, 13, 9", "14, 11, 9, 13"),
            ("its second block", "in += 16, out += 16", "out += 16"),
        ):
            assert old in good
            file.write_text(good.replace(old, new, 1))
            build(tree)
            code, text = run(
                tree, harness, "check", "--kernel", STEM, "--quick", "--property", ",".join(FAST)
            )
            expect(
                code == 1 and any(fact["result"] == "fail" for fact in facts(text, "check")),
                f"check fails it when {what} is broken",
                text,
            )
        file.write_text(good.replace(f"EVC_KERNEL_HEAD({STEM}", "EVC_KERNEL_HEAD(c_forgotten", 1))
        build(tree)
        code, text = run(
            tree, harness, "check", "--kernel", STEM, "--quick", "--property", ",".join(FAST)
        )
        expect(
            code == 1 and "its name is c_forgotten" in text and "memory fault" not in text,
            "check names a descriptor that has another name",
            text,
        )
    print(f"{len(passed)} passed, {len(failures)} failed, {skipped} skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
