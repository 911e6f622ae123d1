#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Remove each call of evc_wipe and evc_clear in turn; a test must notice.

wipes_matter.py [--arm] [FILE...]   files below src; without any, all that have such calls outside of common, cpu, pac

The library and the harness are built once by each compiler and level. Without a call, only the objects that it concerns
are compiled again, by one compiler and level after the other, until a residue property of a kernel that it concerns
fails. If none does, the first compiler and level runs the tests of what the interface promises: keys after a failure,
states after the end, the output of a forgery.

A call that nothing notices is printed: either it covers no secret and goes, or a test is missing. --arm: files for A64
and A32, with cross compilers and emulators. All calls natively take a few minutes on two cores.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import platform
import queue
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKERS = 2
CALL = re.compile(r"^ +((?:evc_wipe|evc_clear|evc_clear_both|clear|clear_pair)\([^;]*\);)", re.M)
NATIVE = [("gcc", "-O1", ""), ("gcc", "-Os", ""), ("gcc", "-O2", ""), ("clang", "-O2", "")]
ARM = [("aarch64-linux-gnu-gcc", "-O1", "qemu-aarch64"), ("arm-linux-gnueabihf-gcc", "-O1", "qemu-arm"),
       ("aarch64-linux-gnu-gcc", "-Os", "qemu-aarch64"), ("arm-linux-gnueabihf-gcc", "-Os", "qemu-arm")]
FLAGS = ["-std=gnu11", "-fPIC", "-w", "-Iinclude", "-Isrc", "-Iharness"]
LEFT_BEHIND = ",".join(f"{what}_nothing_behind" for what in (
    "set_key_leaves", "operations_leave", "modes_leave", "leaves", "messages_leave", "pieces_leave"))
PROMISES = ("test_keys", "test_orders", "test_modes")
# Kernels that exercise a folder's code for all of its kernels: with operations of their own and without, that leave
# only registers and that leave much stack.
BLOCKS = "x86_aesni,c_ref,c_fixslice32,x86_bitslice128"
LAYERS = {
    "aes": BLOCKS, "modes": BLOCKS, "ghash": "c_ref,c_ctmul64,x86_clmul,x86_vperm", "qarma": "",
    "gcm": "x86_aesni,x86_vaes256,x86_aesni+c_ref,x86_aesni+x86_vclmul512,x86_bitslice128+c_ctmul64,c_ref+c_ref,"
           "c_ref+x86_clmul",
}
ONE_OF_EACH = "c_ref,c_ref+c_ref"


@dataclasses.dataclass(frozen=True)
class Removal:
    file: str
    start: int
    end: int
    line: int
    call: str


@dataclasses.dataclass(frozen=True)
class Build:
    compiler: str
    level: str
    emulator: str
    objects: pathlib.Path

    def make(self, tree: pathlib.Path, source: str, objects: pathlib.Path) -> None:
        freestanding = ["-ffreestanding"] if source.startswith("src/") else []
        subprocess.run([self.compiler, self.level, *FLAGS, *freestanding, "-c", source, "-o",
                        objects / object_name(source)], cwd=tree, check=True, capture_output=True)

    def link(self, program: pathlib.Path, changed: pathlib.Path, test: str) -> None:
        """The harness, or a test on the library; objects in `changed` take the places of those that were built once."""
        chosen = {path.name: path for path in self.objects.glob("*.o")} | {path.name: path for path in changed.glob("*.o")}
        objects = [path for name, path in chosen.items()
                   if name.startswith("src_") or (name == object_name(f"tests/{test}.c") if test
                                                  else name.startswith("harness_"))]
        static = ["-static"] if self.emulator else []
        subprocess.run([self.compiler, *static, "-o", program, *sorted(objects)], check=True, capture_output=True)

    def run(self, *command: str | pathlib.Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([*([self.emulator] if self.emulator else []), *command], capture_output=True, text=True,
                              check=False, timeout=600)


def object_name(source: str) -> str:
    return source.replace("/", "_") + ".o"


def sources(tree: pathlib.Path) -> list[str]:
    found = [path.relative_to(tree).as_posix() for folder in ("src", "harness")
             for path in sorted((tree / folder).rglob("*.[cS]"))]
    return found + [f"tests/{name}.c" for name in PROMISES]


def fails(build: Build, program: pathlib.Path, kernels: str, properties: str) -> bool:
    """Whether a property of these kernels fails; kernels that the harness does not know here are left out."""
    options = [*(["--kernel", kernels] if kernels else []), *(["--property", properties] if properties else [])]
    run = build.run(program, "check", "--quick", *options)
    facts = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if not facts or facts[-1]["type"] != "summary":
        if run.returncode < 0:
            return True
        raise RuntimeError(f"harness check {' '.join(options)}: {run.stderr}{run.stdout[-500:]}")
    return bool(facts[-1]["failed"])


def users(tree: pathlib.Path, header: str) -> list[str]:
    """The sources that a change of this file concerns."""
    if header.endswith(".c"):
        return [header]
    found: set[str] = set()
    todo = [header.removeprefix("src/")]
    while todo:
        name = todo.pop()
        for file in (tree / "src").rglob("*.[ch]"):
            short = file.relative_to(tree / "src").as_posix()
            if f'#include "{name}"' in file.read_text() and short not in found:
                found.add(short)
                todo += [short] if short.endswith(".h") else []
    return [f"src/{short}" for short in sorted(found) if short.endswith(".c")]


def layer(file: str) -> str:
    return LAYERS[pathlib.Path(file).parent.name]


def kernels_of(file: str, concerned: list[str], prefixes: tuple[str, ...]) -> str:
    """Names for --kernel: the kernels of these sources, or those that exercise a file for all kernels."""
    stems = [pathlib.Path(source).stem for source in concerned]
    kernels = [stem for stem in stems if stem.startswith(prefixes)]
    if not kernels or not all(re.match("c_|x86_|a64_|a32_", stem) for stem in stems):
        return layer(file)
    return ",".join(sorted(set(kernels)))


def noticed(removal: Removal, tree: pathlib.Path, builds: list[Build], arm: bool) -> str:
    """What notices that the call is gone; "": nothing does."""
    good = (tree / removal.file).read_text()
    (tree / removal.file).write_text(good[:removal.start] + "(void)0;" + good[removal.end:])
    concerned = users(tree, removal.file)
    try:
        for build in builds:
            prefixes = ("a64_",) if "aarch64" in build.compiler else ("a32_",) if arm else ("c_", "x86_")
            kernels = kernels_of(removal.file, concerned, prefixes)
            if arm and not any(prefixes[0] in source for source in [removal.file, *concerned]):
                continue
            with tempfile.TemporaryDirectory() as folder:
                changed = pathlib.Path(folder)
                for source in concerned:
                    build.make(tree, source, changed)
                build.link(changed / "harness", changed, "")
                if fails(build, changed / "harness", kernels, LEFT_BEHIND):
                    return f"{build.compiler} {build.level}"
        return promise_broken(tree, builds[0], concerned) if kernels == layer(removal.file) else ""
    finally:
        (tree / removal.file).write_text(good)


def promise_broken(tree: pathlib.Path, build: Build, concerned: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        changed = pathlib.Path(folder)
        for source in concerned:
            build.make(tree, source, changed)
        for test in PROMISES:
            build.link(changed / test, changed, test)
            if build.run(changed / test).returncode:
                return test
        build.link(changed / "harness", changed, "")
        return "a promise of the interface" if fails(build, changed / "harness", ONE_OF_EACH, "") else ""


def removals(tree: pathlib.Path, files: list[str]) -> list[Removal]:
    found = []
    for file in files:
        text = (tree / file).read_text()
        found += [Removal(file, call.start(1), call.end(1), text.count("\n", 0, call.start(1)) + 1, call[1])
                  for call in CALL.finditer(text)]
    return found


def copy(tree: pathlib.Path) -> pathlib.Path:
    for part in ("src", "include", "harness", "peers", "tests"):
        if (ROOT / part).exists():
            shutil.copytree(ROOT / part, tree / part)
    return tree


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
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        trees: queue.Queue[pathlib.Path] = queue.Queue()
        for i in range(WORKERS):
            trees.put(tree := copy(pathlib.Path(folder) / str(i)))
        builds = [Build(*target, pathlib.Path(folder) / f"{target[0]}{target[1]}") for target in targets]
        for build in builds:
            build.objects.mkdir()
        jobs = [pool.submit(build.make, tree, source, build.objects) for build in builds for source in sources(tree)]
        for job in jobs:
            job.result()
        ours = re.compile(r"/a(64|32)_" if arguments.arm else r"/(?!a64_|a32_)[^/]*$")
        files = arguments.files or sorted(
            file.relative_to(tree).as_posix() for file in (tree / "src").rglob("*.[ch]")
            if file.parent.name not in ("common", "cpu", "pac") and ours.search(file.as_posix()))

        def one(removal: Removal) -> str:
            mine = trees.get()
            try:
                return noticed(removal, mine, builds, arguments.arm)
            finally:
                trees.put(mine)

        calls = removals(tree, files)
        for removal, by in zip(calls, pool.map(one, calls), strict=True):
            passed, failed = passed + bool(by), failed + (not by)
            print(f"{'ok' if by else 'FAILED'}: {removal.file}:{removal.line}: {removal.call} "
                  + (f"its removal is noticed by {by}" if by else "nothing notices that this is gone"), flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
