#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Remove each call of evc_wipe, evc_clear and their kind in turn; a test must notice.

wipes_matter.py [--arm] [--part K/N] [PATH...]   files or folders below src; without any, all that have such calls
                                                 outside of common, cpu, pac

The library and the harness are built once by each compiler and level that is needed. Without a call, only the objects
that it concerns are compiled again, by one compiler and level after the other, until a residue property of a kernel
that it concerns fails. The first compiler and level also runs the tests of what the interface promises: keys after a
failure, states after the end, the output of a forgery.

A call that nothing notices is printed: either it covers no secret and goes, or a test is missing. --arm: files for A64
and A32, with cross compilers and emulators. --part 2/3 removes the calls 2, 5, 8, ... of those that the paths have; all
calls natively take a few minutes on two idle cores.
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
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKERS = 2
WITHOUT = ("common", "cpu", "pac")  # folders of src whose calls are not removed, unless a path names their files
CALL = re.compile(r"^ +((?:evc_wipe|evc_clear|evc_clear_both|clear|clear_(?!vectors)[a-z0-9_]+)\([^;]*\);)", re.M)
NATIVE = [("gcc", "-O1", ""), ("gcc", "-Os", ""), ("gcc", "-O2", ""), ("clang", "-O2", "")]
ARM = [("aarch64-linux-gnu-gcc", "-O1", "qemu-aarch64"), ("arm-linux-gnueabihf-gcc", "-O1", "qemu-arm"),
       ("aarch64-linux-gnu-gcc", "-Os", "qemu-aarch64"), ("arm-linux-gnueabihf-gcc", "-Os", "qemu-arm")]
FLAGS = ["-std=gnu11", "-fPIC", "-w", "-Iinclude", "-Isrc", "-Iharness"]
LEFT_BEHIND = ",".join(f"{what}_nothing_behind" for what in (
    "set_key_leaves", "operations_leave", "modes_leave", "leaves", "messages_leave", "pieces_leave", "dh_leaves", "primes_leave", "rsa_leaves", "scratch_leaves"))
PROMISES = ("test_keys", "test_orders", "test_modes", "test_dh", "test_prime", "test_rsa")
# Kernels that exercise a folder's code for all of its kernels: with operations of their own and without, that leave
# only registers and that leave much stack.
BLOCKS = "x86_aesni,c_ref,c_fixslice32,x86_bitslice128"
LAYERS = {
    "aes": BLOCKS, "modes": BLOCKS, "ghash": "c_ref,c_ctmul64,x86_clmul,x86_vperm", "qarma": "",
    "bn": "c_ref,c_limb64,x86_adx,x86_ifma,x86_sse2",
    "bn_words": "c_words64,c_words32",
    "dh": "c_ref,c_limb64",
    "prime": "c_ref,c_limb64",
    "rsa": "c_ref,c_limb64,c_limb32",
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
    sources: pathlib.Path  # a tree from which no call is removed
    objects: pathlib.Path
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def ready(self) -> "Build":
        """This build, after its objects have been compiled: by the first thread that asks for it."""
        with self.lock:
            if not self.objects.exists():
                self.objects.mkdir()
                with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
                    for job in [pool.submit(self.make, self.sources, source, self.objects)
                                for source in sources(self.sources)]:
                        job.result()
                self.link(self.objects / "harness", self.objects, "")
                if found := failures(self, self.objects / "harness", "", LEFT_BEHIND):
                    raise RuntimeError(f"{self.compiler} {self.level}: with all calls in place, {', '.join(found)} fail")
        return self

    def make(self, tree: pathlib.Path, source: str, objects: pathlib.Path) -> None:
        freestanding = ["-ffreestanding"] if source.startswith("src/") else []
        subprocess.run([self.compiler, self.level, *FLAGS, *freestanding, "-c", source, "-o",
                        objects / object_name(source)], cwd=tree, check=True, capture_output=True)

    def link(self, program: pathlib.Path, changed: pathlib.Path, test: str) -> None:
        """The harness, or a test on the library; objects in `changed` take the places of those that were built once."""
        chosen = {path.name: path for path in self.objects.glob("*.o")} | {path.name: path for path in changed.glob("*.o")}
        objects = [path for name, path in chosen.items()
                   if name.startswith("src_") or (name == object_name(f"tests/unit/{test}.c") if test
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
    return found + [f"tests/unit/{name}.c" for name in PROMISES]


def failures(build: Build, program: pathlib.Path, kernels: str, properties: str) -> list[str]:
    """The properties of these kernels that fail; kernels that the harness does not know here are left out."""
    options = [*(["--kernel", kernels] if kernels else []), *(["--property", properties] if properties else [])]
    run = build.run(program, "check", "--quick", *options)
    facts = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if not facts or facts[-1]["type"] != "summary":
        if run.returncode < 0:
            return ["the harness ends by a signal"]
        raise RuntimeError(f"harness check {' '.join(options)}: {run.stderr}{run.stdout[-500:]}")
    return [f"{fact['primitive']} {fact['kernel']} {fact['property']}" for fact in facts if fact.get("result") == "fail"]


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
    """Return the test that notices that the call is gone; "": nothing does."""
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
                build.ready().link(changed / "harness", changed, "")
                if failures(build, changed / "harness", kernels, LEFT_BEHIND):
                    return f"{build.compiler} {build.level}"
                if build is builds[0] and kernels == layer(removal.file) and (test := broken_promise(build, changed)):
                    return test
        return ""
    finally:
        (tree / removal.file).write_text(good)


def broken_promise(build: Build, changed: pathlib.Path) -> str:
    """The first test of what the interface promises that fails with these objects; "": none does."""
    for test in PROMISES:
        build.link(changed / test, changed, test)
        if build.run(changed / test).returncode:
            return test
    return "a promise of the interface" if failures(build, changed / "harness", ONE_OF_EACH, "") else ""


def removals(tree: pathlib.Path, files: list[str]) -> list[Removal]:
    found = []
    for file in files:
        text = (tree / file).read_text()
        found += [Removal(file, call.start(1), call.end(1), text.count("\n", 0, call.start(1)) + 1, call[1])
                  for call in CALL.finditer(text)]
    return found


def copy(tree: pathlib.Path) -> pathlib.Path:
    for part in ("src", "include", "harness", "catalog/peers", "tests"):
        if (ROOT / part).exists():
            shutil.copytree(ROOT / part, tree / part)
    return tree


def files_of(paths: list[str], arm: bool) -> list[str]:
    """The files that these paths name, or all of the library; of folders only those that have code for this run."""
    ours = re.compile(r"/a(64|32)_" if arm else r"/(?!a64_|a32_)[^/]*$")
    found: list[str] = []
    for path in paths or ["src"]:
        if not (ROOT / path).exists() or (ROOT / "src") not in [ROOT / path, *(ROOT / path).parents]:
            raise ValueError(f"{path} is no file or folder below src of this tree")
        if (ROOT / path).is_file():
            found.append(path)
            continue
        files = sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / path).rglob("*.[ch]"))
        found += [file for file in files if file.split("/")[1] not in WITHOUT and ours.search(file)]
    return found


def part_of(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text} is no part; the second of three parts is 2/3")
    return int(match[1]), int(match[2])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arm", action="store_true")
    parser.add_argument("--part", type=part_of, default=(1, 1), metavar="K/N")
    parser.add_argument("paths", nargs="*", metavar="PATH")
    arguments = parser.parse_args()
    targets = ARM if arguments.arm else NATIVE
    try:
        files = files_of(arguments.paths, arguments.arm)
    except ValueError as error:
        parser.error(str(error))
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
            trees.put(copy(pathlib.Path(folder) / str(i)))
        whole = copy(pathlib.Path(folder) / "whole")
        builds = [Build(*target, whole, pathlib.Path(folder) / f"{target[0]}{target[1]}") for target in targets]

        def one(removal: Removal) -> str:
            mine = trees.get()
            try:
                return noticed(removal, mine, builds, arguments.arm)
            finally:
                trees.put(mine)

        k, n = arguments.part
        calls = removals(whole, files)[k - 1::n]
        if not calls:
            parser.error("this part of these paths has no call to remove")
        try:
            for removal, by in zip(calls, pool.map(one, calls), strict=True):
                passed, failed = passed + bool(by), failed + (not by)
                print(f"{'ok' if by else 'FAILED'}: {removal.file}:{removal.line}: {removal.call} "
                      + (f"its removal is noticed by {by}" if by else "nothing notices that this is gone"), flush=True)
        except RuntimeError as error:
            pool.shutdown(cancel_futures=True)
            print(f"FAILED: {error}")
            failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
