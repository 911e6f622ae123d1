# SPDX-License-Identifier: MIT
"""Objects of a copy of the tree: compiled once by ninja; for a fault, what it concerns."""

import contextlib
import dataclasses
import os
import pathlib
import queue
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator

from catalog import ROOT, Mutant

PARTS = ("include", "src", "harness", "catalog/peers", "tests/unit", "tests/oracles")
ADDED = {
    "tests/mutants/whole_kernel.c": "src/aes/c_whole.c",
    "tests/mutants/whole_gcm.c": "src/gcm/c_whole.c",
}
ADDED_LINES = """KERNEL(aes, c_whole, ANY, VARTIME, PARALLEL)
KERNEL(gcm, c_whole, ANY, VARTIME, ANY)
"""
TIMEOUT = 600  # seconds; a test that does not end has noticed


class BuildError(Exception):
    """Code without a fault does not compile or does not pass; or a fault does not compile."""


@dataclasses.dataclass(frozen=True)
class Sources:
    """The sources of a build, and how they are compiled."""

    compiler: tuple[str, ...]
    flags: tuple[str, ...]
    wanted: Callable[[str], bool]  # files of the copy that are compiled
    kernel: Callable[[str], bool]  # kernels, by their stem, that the registry keeps
    library_flags: tuple[str, ...] = ()
    with_added: bool = False


def object_name(source: str) -> str:
    return source.replace("/", "_") + ".o"


def run(argv: list[str], cwd: pathlib.Path) -> None:
    done = subprocess.run(
        argv, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode:
        told = done.stdout[max(done.stdout.find("FAILED:"), 0) :].strip()
        raise BuildError(f"{' '.join(argv[:2])} failed: {told[:1500]}")


class Objects:
    """The objects of one build, in a folder that is kept from run to run."""

    def __init__(self, folder: pathlib.Path, sources: Sources, workers: int) -> None:
        self.folder = folder
        self.sources = sources
        self.tree = folder / "tree"
        self.users: dict[str, list[str]] = {}  # file -> sources that are compiled with it
        self.lock = threading.Lock()
        self.is_ready = False
        self.slots: queue.Queue[int] = queue.Queue()
        for slot in range(workers):
            self.slots.put(slot)

    def ready(self) -> None:
        """Compile what has changed since the last run."""
        with self.lock:
            if self.is_ready:
                return
            self.copy_tree()
            self.write_ninja()
            run(["ninja", "-f", "../build.ninja"], self.tree)
            self.read_users()
            for old in [*self.folder.glob("worker*"), *self.folder.glob("whole")]:
                shutil.rmtree(old)
            (self.folder / "whole").mkdir()
            self.is_ready = True

    def copy_tree(self) -> None:
        """Make the copy equal to the tree; files that have not changed keep their times."""
        texts = {
            path.relative_to(ROOT).as_posix(): path.read_bytes()
            for part in PARTS
            for path in (ROOT / part).rglob("*.[chS]")
        }
        registry = (ROOT / "src/kernels.def").read_text()
        kept, lost = [], set()
        for line in registry.splitlines(keepends=True):
            kernel = re.match(r"KERNEL\((\w+), *(\w+)", line)
            if not kernel or self.sources.kernel(kernel[2]):
                kept.append(line)
            else:
                stem = f"src/{kernel[1]}/{kernel[2]}"
                lost |= {f"{stem}.c", f"{stem}_asm.S"}
        if self.sources.with_added:
            kept.append(ADDED_LINES)
            texts |= {to: (ROOT / file).read_bytes() for file, to in ADDED.items()}
        texts["src/kernels.def"] = "".join(kept).encode()
        texts = {name: text for name, text in texts.items() if name not in lost}
        for path in [path for path in self.tree.rglob("*") if path.is_file()]:
            if path.relative_to(self.tree).as_posix() not in texts:
                path.unlink()
        for name, text in texts.items():
            path = self.tree / name
            if not path.exists() or path.read_bytes() != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                path.write_bytes(text)

    def compiled(self) -> list[str]:
        files = [path.relative_to(self.tree).as_posix() for path in self.tree.rglob("*.[cS]")]
        return sorted(file for file in files if self.sources.wanted(file))

    def command(self, source: str) -> list[str]:
        library = self.sources.library_flags if source.startswith("src/") else ()
        return [*self.sources.compiler, *self.sources.flags, *library, "-c", source]

    def write_ninja(self) -> None:
        (self.folder / "objects").mkdir(parents=True, exist_ok=True)
        version = subprocess.run(
            [self.sources.compiler[0], "--version"], text=True, capture_output=True, check=True
        )
        # CCACHE_DIR is set by tests/running.py.
        kept = "ccache " if "CCACHE_DIR" in os.environ and shutil.which("ccache") else ""
        lines = [
            f"# {version.stdout.splitlines()[0]}",
            "builddir = ..",
            "rule compile",
            f"  command = {kept}$words -MD -MF $out.d -o $out",
            "  depfile = $out.d",
        ]
        for source in self.compiled():
            lines += [
                f"build ../objects/{object_name(source)}: compile {source}",
                f"  words = {' '.join(self.command(source))}",
            ]
        text = "\n".join(lines) + "\n"
        path = self.folder / "build.ninja"
        if path.exists() and path.read_text().splitlines()[0] != lines[0]:  # another compiler
            shutil.rmtree(self.folder / "objects")
            (self.folder / "objects").mkdir()
        path.write_text(text)

    def read_users(self) -> None:
        self.users = {}
        for source in self.compiled():
            text = (self.folder / "objects" / f"{object_name(source)}.d").read_text()
            for file in text.replace("\\\n", " ").partition(":")[2].split():
                self.users.setdefault(os.path.normpath(file), []).append(source)

    def objects(self, *prefixes: str) -> dict[str, pathlib.Path]:
        """Return the objects of sources below these folders, or of these sources, by name."""
        return {
            object_name(source): self.folder / "objects" / object_name(source)
            for source in self.compiled()
            if source.startswith(prefixes)
        }

    def whole(self) -> "Linked":
        """Return programs of the tree as it is."""
        self.ready()
        return Linked(self, self.folder / "whole")

    @contextlib.contextmanager
    def with_fault(
        self, mutant: Mutant, concerns: Callable[[str], bool] = lambda _: True
    ) -> Iterator["Linked"]:
        """Give programs of the tree with the fault; `concerns` leaves out what no test uses."""
        self.ready()
        file = ADDED.get(mutant.file, mutant.file)
        sources = [source for source in self.users.get(file, []) if concerns(source)]
        if not sources:
            raise BuildError(
                f"{mutant.name}: {mutant.file} is not part of the build {mutant.build}"
            )
        slot = self.slots.get()
        worker = self.folder / f"worker{slot}"
        try:
            if not worker.exists():
                shutil.copytree(self.tree, worker / "tree", copy_function=os.link)
            objects = worker / "objects"
            shutil.rmtree(objects, ignore_errors=True)
            objects.mkdir()
            tree = worker / "tree"
            path = tree / file
            good = path.read_text()
            path.unlink()  # a link to the file of the tree
            path.write_text(mutant.changed(good))
            try:
                for source in sources:
                    run([*self.command(source), "-o", f"../objects/{object_name(source)}"], tree)
                yield Linked(self, objects)
            finally:
                path.unlink()
                os.link(self.tree / file, path)
        finally:
            self.slots.put(slot)


@dataclasses.dataclass(frozen=True)
class Linked:
    """Programs of a build; objects in `changed` take the places of those that were built once."""

    build: Objects
    changed: pathlib.Path

    def link(self, name: str, *prefixes: str, options: tuple[str, ...] = ()) -> pathlib.Path:
        """Link a program of the objects below these folders, once."""
        program = self.changed / name
        if not program.exists():
            objects = self.build.objects(*prefixes)
            objects |= {
                each: self.changed / each for each in objects if (self.changed / each).exists()
            }
            words = [*self.build.sources.compiler, *options, "-o", str(program)]
            run([*words, *(str(path) for path in objects.values())], self.changed)
        return program
