#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A kernel is one file and one line: prove it on a copy of the tree.

The template kernel and its line are added, and nothing else. It must then be built, listed, selected, checked
and measured; and when its file breaks, the check must fail.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEM = "c_template"
LINE = f"KERNEL(aes, {STEM},     ANY,         CT,       SERIAL)\n"
failures: list[str] = []
passed = 0


def expect(condition: bool, what: str, detail: str = "") -> None:
    global passed
    if condition:
        passed += 1
    else:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def copy_tree(to: pathlib.Path) -> None:
    """Without git too, as in an unpacked archive: all but what was made here (.gitignore)."""
    def made(folder: str, names: list[str]) -> list[str]:
        at_top = pathlib.Path(folder) == ROOT
        return [name for name in names if name in (".git", "__pycache__") or name.endswith(".egg-info")
                or at_top and (name.startswith((".venv", "dist", "build")) or name.endswith("cache"))]

    shutil.copytree(ROOT, to, ignore=made, dirs_exist_ok=True)


def run(tree: pathlib.Path, *argv: str | pathlib.Path) -> tuple[int, str]:
    done = subprocess.run(argv, cwd=tree, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def facts(text: str, kind: str) -> list[dict[str, object]]:
    """The harness's lines of one type."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if line["type"] == kind]


def build(tree: pathlib.Path) -> None:
    """The library and the harness, without the tests and with warnings as errors."""
    if not (tree / "build").exists():
        code, text = run(tree, "meson", "setup", "--werror", "-Ddefault_library=static", "-Doptimization=1",
                         "build")
        if code:
            sys.exit(text)
    code, text = run(tree, "meson", "compile", "-C", "build", "harness")
    if code:
        sys.exit(text)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        copy_tree(tree)
        file, registry = tree / f"src/aes/{STEM}.c", tree / "src/kernels.def"
        shutil.copy(ROOT / "tests/template_kernel.c", file)
        registry.write_text(re.sub("^KERNEL", LINE + "KERNEL", registry.read_text(), count=1, flags=re.M))
        if (tree / "tools/gen-docs").exists():
            run(tree, sys.executable, "tools/gen-docs")
        code, text = run(tree, sys.executable, "tools/check-tree")
        expect(code == 0, "the tree with the template keeps its rules", text)

        build(tree)
        harness = tree / "build/harness/harness"
        code, text = run(tree, harness, "list")
        expect(any(fact["name"] == STEM and fact["built"] and fact["runs"] and fact["rank"] == 0
                   for fact in facts(text, "kernel")), "list names it, first as its line is", text)
        code, text = run(tree, harness, "resolve")
        expect(any(fact["use"] == "serial" and fact["kernel"] == STEM for fact in facts(text, "resolve")),
               "it is selected for one chain, as its line says", text)
        code, text = run(tree, harness, "check", "--kernel", STEM, "--quick")
        results = [fact["result"] for fact in facts(text, "check")]
        expect(code == 0 and len(results) > 5 and set(results) == {"pass"}, "check passes it", text)
        code, text = run(tree, harness, "bench", "--kernel", STEM, "--mode", "ctr", "--bytes", "64",
                         "--samples", "1")
        expect(code == 0 and any(fact["kernel"] == STEM for fact in facts(text, "bench")),
               "bench measures it", text)

        good = file.read_text()
        for what, old, new in (("its S-box", "^ 0x63", "^ 0x62"), ("its decryption", "14, 11, 13, 9", "14, 11, 9, 13"),
                               ("its second block", "in += 16, out += 16", "out += 16")):
            assert old in good
            file.write_text(good.replace(old, new, 1))
            build(tree)
            code, text = run(tree, harness, "check", "--kernel", STEM, "--quick")
            expect(code == 1 and any(fact["result"] == "fail" for fact in facts(text, "check")),
                   f"check fails it when {what} is broken", text)
    print(f"{passed} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
