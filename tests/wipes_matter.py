#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Remove each call of evc_wipe and evc_clear in turn; the residue properties, or those of wiped states, must notice.

wipes_matter.py [--arm] [FILE...]   files below src; without any, all that have such calls outside of src/common

A call that no compiler and level notices covers nothing, and is printed. --arm: files for A64 and A32, with cross
compilers and emulators. A call takes about half a minute.
"""

import argparse
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALL = re.compile(r"^\s+(?:evc_wipe|evc_clear|evc_clear_both|clear|clear_pair)\([^;]*\);.*\n", re.M)
NATIVE = [(compiler, level, "") for compiler, level in (("gcc", "-O1"), ("gcc", "-Os"), ("gcc", "-O2"), ("clang", "-O2"))]
ARM = [("aarch64-linux-gnu-gcc", "-O1", "qemu-aarch64"), ("aarch64-linux-gnu-gcc", "-Os", "qemu-aarch64"),
       ("arm-linux-gnueabihf-gcc", "-O1", "qemu-arm"), ("arm-linux-gnueabihf-gcc", "-Os", "qemu-arm")]
FLAGS = ["-std=gnu11", "-fPIC", "-Iinclude", "-Isrc", "-Iharness"]
LEFT_BEHIND = ",".join(f"{what}_nothing_behind" for what in (
    "set_key_leaves", "operations_leave", "modes_leave", "leaves", "messages_leave", "pieces_leave"))


class Build:
    def __init__(self, tree: pathlib.Path, compiler: str, level: str, emulator: str) -> None:
        self.tree, self.emulator = tree, [emulator] if emulator else []
        self.objects = tree / f"{compiler}{level}"
        self.compile = [compiler, level, *FLAGS]
        self.link = [compiler, *(["-static"] if emulator else [])]
        self.objects.mkdir()
        for folder in ("src", "harness"):
            for source in sorted((tree / folder).rglob("*.[cS]")):
                self.make(source.relative_to(tree).as_posix())

    def make(self, source: str) -> None:
        freestanding = ["-ffreestanding"] if source.startswith("src/") else []
        target = self.objects / (source.replace("/", "_") + ".o")
        subprocess.run([*self.compile, *freestanding, "-c", source, "-o", target], cwd=self.tree, check=True,
                       capture_output=True)

    def failures(self, kernels: str) -> bool:
        """Whether a residue property fails, or else one of the others, which hold the interface's promises."""
        subprocess.run([*self.link, "-o", self.objects / "harness", *sorted(self.objects.glob("*.o"))], check=True)
        check = [*self.emulator, self.objects / "harness", "check", "--quick", *(["--kernel", kernels] if kernels else [])]
        for options in (["--property", LEFT_BEHIND], []):
            run = subprocess.run([*check, *options], capture_output=True, text=True, check=False)
            facts = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
            if any(fact["type"] == "check" and fact["result"] == "fail" for fact in facts):
                return True
        return False


def users(tree: pathlib.Path, header: str) -> list[str]:
    """The sources that a change of this file concerns."""
    if header.endswith(".c"):
        return [header]
    name, found, todo = header.removeprefix("src/"), set(), [header.removeprefix("src/")]
    while todo:
        name = todo.pop()
        for file in (tree / "src").rglob("*.[ch]"):
            short = file.relative_to(tree / "src").as_posix()
            if f'#include "{name}"' in file.read_text() and short not in found:
                found.add(short)
                todo += [short] if short.endswith(".h") else []
    return [f"src/{short}" for short in sorted(found) if short.endswith(".c")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arm", action="store_true")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    targets = ARM if arguments.arm else NATIVE
    programs = {name for compiler, _, emulator in targets for name in (compiler, emulator) if name}
    if absent := sorted(name for name in programs if not shutil.which(name)):
        print(f"skipped: no {', '.join(absent)}\n0 passed, 0 failed, 1 skipped")
        return 0
    if not arguments.arm and platform.machine() != "x86_64":
        print("skipped: this is no x86-64\n0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for part in ("src", "include", "harness", "peers"):
            if (ROOT / part).exists():
                shutil.copytree(ROOT / part, tree / part)
        builds = [Build(tree, *target) for target in targets]
        ours = re.compile(r"/a(64|32)_" if arguments.arm else r"/(?!a64_|a32_)[^/]*$")
        files = arguments.files or sorted(
            file.relative_to(tree).as_posix() for file in (tree / "src").rglob("*.[ch]")
            if file.parent.name not in ("common", "cpu", "pac") and ours.search(file.as_posix()))
        for file in files:
            good = (tree / file).read_text()
            concerned = users(tree, file)
            stems = {pathlib.Path(source).stem for source in concerned}
            kernels = ",".join(sorted(stems)) if all(stem[:2] in ("c_", "x8", "a6", "a3") for stem in stems) else ""
            for call in CALL.finditer(good):
                (tree / file).write_text(good[:call.start()] + good[call.end():])
                noticed = False
                for build in builds:
                    try:
                        for source in concerned:
                            build.make(source)
                        noticed = build.failures(kernels)
                    except subprocess.CalledProcessError:  # a warning or an unused function: it is still there
                        noticed = True
                    if noticed:
                        break
                (tree / file).write_text(good)
                for build in builds:
                    for source in concerned:
                        build.make(source)
                passed, failed = passed + noticed, failed + (not noticed)
                if not noticed:
                    line = good.count("\n", 0, call.start()) + 1
                    print(f"FAILED: {file}:{line}: nothing notices that this is gone: {call[0].strip()}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
