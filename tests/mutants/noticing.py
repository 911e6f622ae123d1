# SPDX-License-Identifier: MIT
"""Tests that have to notice a fault: properties, programs, answers of Python, calls of OpenSSL."""

import functools
import importlib
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Protocol

from objects import TIMEOUT, BuildError, Linked, Objects, Sources

from catalog import ROOT, Mutant, Recipe

sys.path += [str(ROOT / "tests" / name) for name in ("", "oracles", "systems")]

INCLUDES = ("-w", "-O1", "-Iinclude", "-Isrc")
RESIDUE = ",".join(
    f"{what}_nothing_behind"
    for what in (
        "set_key_leaves", "operations_leave", "modes_leave", "leaves", "messages_leave",
        "pieces_leave", "dh_leaves", "primes_leave", "rsa_leaves", "scratch_leaves",
    )
)  # fmt: skip
ANSWER_SECONDS = 60
FOREIGN = {"x86_": ("x86_64", "i686"), "a64_": ("aarch64",), "a32_": ("armv7l",)}


class Kind(Protocol):
    """One build, and the tests that notice its faults."""

    def prepare(self, mutants: Sequence[Mutant]) -> None:
        """Compile the build; raise BuildError if a test of these mutants fails without a fault."""

    def noticed(self, mutant: Mutant) -> str:
        """Return what noticed the fault, or nothing."""


def own_compiler(text: str) -> tuple[str, ...]:
    words = text.split()
    return tuple(shlex.split(os.environ.get("CC", "cc"))) if words == ["cc"] else tuple(words)


def emulator_of(text: str) -> list[str]:
    """Return the words of an emulator; some need a command of the lab around them."""
    words = text.split()
    if words[:1] == ["hercules"]:
        words[:1] = [sys.executable, "-m", "everycore.run.hercules.z_machine"]
    if words[:1] == ["bochs"]:
        words[:1] = [sys.executable, "-m", "everycore.run.bochs.execute"]
    return words


def fails(*argv: str | pathlib.Path) -> bool:
    """Whether a program ends with an error, by a signal, or not in time."""
    try:
        return (
            subprocess.run(argv, capture_output=True, check=False, timeout=TIMEOUT).returncode != 0
        )
    except subprocess.TimeoutExpired:
        return True


def failing(command: Sequence[str | pathlib.Path]) -> Iterator[str]:
    """Give the properties that fail, as they do: who needs one only may leave.

    A harness that a signal ends has noticed, too.
    """
    with subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as harness:
        timer = threading.Timer(TIMEOUT, harness.kill)
        timer.start()
        has_ended = False
        assert harness.stdout
        try:
            for line in harness.stdout:
                fact = json.loads(line) if line.startswith("{") else {}
                has_ended |= fact.get("type") == "summary"
                if fact.get("type") == "check" and fact["result"] == "fail":
                    yield fact["property"]
            if not has_ended and (code := harness.wait()) < 0:
                yield "the harness, which ends by a signal"
            elif not has_ended:
                raise BuildError(f"{' '.join(map(str, command))} ends with {code}")
        finally:
            timer.cancel()
            harness.kill()


class Harness:
    """Properties of `harness check`, and test programs of the library."""

    def __init__(self, recipe: Recipe, folder: pathlib.Path, workers: int) -> None:
        self.recipe = recipe
        programs = tuple(f"tests/unit/{program}.c" for program in recipe.programs)
        named = {*recipe.kept, *re.split("[,+]", recipe.kernels), "c_ref"}
        kept = {kernel for kernel in named if self.is_native_to(kernel)}
        sources = Sources(
            compiler=own_compiler(recipe.compiler),
            flags=(*INCLUDES, "-Iharness"),
            wanted=lambda file: file.startswith(("src/", "harness/")) or file in programs,
            kernel=lambda stem: stem in kept,
            with_added=True,
        )
        is_foreign = recipe.emulator and platform.machine() != recipe.emulator.removeprefix("qemu-")
        self.emulator = emulator_of(recipe.emulator) if is_foreign else []
        self.objects = Objects(folder, sources, workers)

    def is_native_to(self, kernel: str) -> bool:
        """Whether the build's compiler compiles for the architecture in a kernel's name."""
        machines = FOREIGN.get(kernel[:4])
        return not machines or self.recipe.name != "native" or platform.machine() in machines

    def kernels(self, mutant: Mutant) -> str:
        asked = mutant.kernels or self.recipe.kernels
        return ",".join(name for name in asked.split(",") if self.is_native_to(name))

    def prepare(self, mutants: Sequence[Mutant]) -> None:
        whole = self.objects.whole()
        wanted = {each.notice for each in mutants}
        bad = [
            name for name in wanted & set(self.recipe.programs) if self.program_fails(whole, name)
        ]
        for kernels in sorted({self.kernels(each) for each in mutants}):
            properties = {each.notice for each in mutants if self.kernels(each) == kernels}
            if properties := properties - set(self.recipe.programs):
                bad += self.failing(whole, kernels, ",".join(sorted(properties)))
        if bad:
            raise BuildError(
                f"{self.recipe.name}: unbroken, it fails {', '.join(sorted(set(bad)))}"
            )

    def noticed(self, mutant: Mutant) -> str:
        kernels = self.kernels(mutant)
        names = re.split("[,+]", kernels)
        registry = (self.objects.tree / "src/kernels.def").read_text()
        others = {
            name
            for name in re.findall(r"^KERNEL\(\w+, *(\w+)", registry, re.M)
            if name not in names
        }

        def concerns(source: str) -> bool:
            stem = pathlib.PurePath(source).stem.removesuffix("_asm")
            is_program = source == f"tests/unit/{mutant.notice}.c"  # it may include the file
            return is_program or (source.startswith("src/") and stem not in others)

        with self.objects.with_fault(mutant, concerns) as broken:
            if mutant.notice in self.recipe.programs:
                return mutant.notice if self.program_fails(broken, mutant.notice) else ""
            # The kernel of the file first: mostly it is enough.
            own = pathlib.PurePath(mutant.file).stem.removesuffix("_asm")
            own = "c_whole" if own.startswith("whole_") else own
            for asked in [own, kernels] if own in kernels.split(",") else [kernels]:
                if found := next(iter(self.failing(broken, asked, mutant.notice)), ""):
                    return found
        return ""

    def program_fails(self, linked: Linked, program: str) -> bool:
        path = linked.link(program, "src/", f"tests/unit/{program}.c")
        return fails(*self.emulator, path)

    def failing(self, linked: Linked, kernels: str, properties: str) -> Iterator[str]:
        harness = linked.link("harness_here", "src/", "harness/")
        options = ["--kernel", kernels, "--property", properties]
        return failing([*self.emulator, str(harness), "check", "--quick", *options])


class Subtests:
    """Named tests of a program on src/cpu alone."""

    def __init__(self, recipe: Recipe, folder: pathlib.Path, workers: int) -> None:
        (self.program,) = recipe.programs
        sources = Sources(
            compiler=own_compiler(recipe.compiler),
            flags=(*recipe.flags, *INCLUDES),
            wanted=lambda file: (
                file.startswith("src/cpu/") or file == f"tests/unit/{self.program}.c"
            ),
            kernel=lambda _: True,
        )
        self.objects = Objects(folder, sources, workers)

    def failed(self, linked: Linked) -> set[str]:
        path = linked.link(self.program, "src/", "tests/")
        done = subprocess.run(
            [path], text=True, stdout=subprocess.PIPE, check=False, timeout=TIMEOUT
        )
        if "\n1.." not in done.stdout:
            raise BuildError(f"{self.program} did not end: {done.stdout[-500:]}")
        return set(re.findall(r"^not ok \d+ - (\w+)", done.stdout, re.M))

    def prepare(self, mutants: Sequence[Mutant]) -> None:
        del mutants
        if names := self.failed(self.objects.whole()):
            raise BuildError(f"{self.program}: unbroken, it fails {', '.join(sorted(names))}")

    def noticed(self, mutant: Mutant) -> str:
        with self.objects.with_fault(mutant) as broken:
            return mutant.notice if mutant.notice in self.failed(broken) else ""


class Answers:
    """Answers of one kernel of bn or of word primitives, held against the integers of Python."""

    def __init__(self, recipe: Recipe, folder: pathlib.Path, workers: int) -> None:
        self.recipe = recipe
        (self.program,) = recipe.programs
        files = re.compile(r"src/(bn|bn_words|common|cpu)/|src/\w+/c_ref\.c$|src/registry\.c$")
        program = f"tests/oracles/{self.program}.c"
        sources = Sources(
            compiler=own_compiler(recipe.compiler),
            flags=(*INCLUDES, *recipe.flags),
            wanted=lambda file: bool(files.match(file)) or file == program,
            kernel=lambda stem: stem in (recipe.kernels, "c_ref"),
        )
        self.objects = Objects(folder, sources, workers)

    def are_right(self, linked: Linked) -> bool:
        program = linked.link(self.program, "src/", "tests/", options=("-static",))
        command = [*self.recipe.emulator.split(), str(program)]
        if self.program == "bn_answers":
            return right_answers(command, self.recipe.kernels, self.recipe.rounds)
        python = [sys.executable, str(ROOT / f"tests/oracles/{self.program}.py")]
        try:
            done = subprocess.run(
                [*python, *command, self.recipe.kernels],
                capture_output=True,
                timeout=ANSWER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def prepare(self, mutants: Sequence[Mutant]) -> None:
        del mutants
        if not self.are_right(self.objects.whole()):
            raise BuildError(f"unbroken, {self.recipe.kernels} gives wrong answers")

    def noticed(self, mutant: Mutant) -> str:
        with self.objects.with_fault(mutant) as broken:
            return "" if self.are_right(broken) else f"{self.program}.py"


def right_answers(command: list[str], kernel: str, rounds: int) -> bool:
    asked = importlib.import_module("bn_against_python")
    return bool(asked.all_answers_are_right(command, kernel, rounds, ANSWER_SECONDS))


class Provider:
    """The provider for OpenSSL: the comparison of calls, and the refusal of forgeries."""

    FOLDER = "contrib/openssl/provider"

    def __init__(self, recipe: Recipe, folder: pathlib.Path) -> None:
        self.recipe = recipe
        self.folder = folder
        self.library = pathlib.Path()
        self.turns = threading.local()

    def prepare(self, mutants: Sequence[Mutant]) -> None:
        import pytest

        del mutants
        provider_module = importlib.import_module("provider_module")

        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            provider_module.need("cc")
            self.library = provider_module.library_of(provider_module.module_of(None))
        except pytest.skip.Exception as lacking:
            raise LackingError(str(lacking)) from lacking
        except pytest.fail.Exception as failure:
            raise BuildError(str(failure)) from failure
        for program in self.recipe.programs:
            source = ROOT / f"tests/systems/provider/{program}.c"
            to = str(self.folder / program)
            words = ["cc", "-O1", str(source), "-o", to, "-lcrypto", "-pthread"]
            subprocess.run(words, check=True)
        self.objects(ROOT / self.FOLDER, self.folder)
        if self.is_noticed(self.folder):
            raise BuildError("provider: a test fails without a fault")

    def objects(self, sources: pathlib.Path, folder: pathlib.Path) -> None:
        provider_module = importlib.import_module("provider_module")

        provider_module.objects_of_module(folder, sorted(sources.glob("*.c")))

    def is_noticed(self, folder: pathlib.Path) -> bool:
        module = folder / "everycore.so"
        objects = sorted(folder.glob("*.o"))
        subprocess.run(["cc", "-shared", "-o", module, *objects, self.library], check=True)
        forgeries, compare = self.folder / "forgeries", self.folder / "compare"
        return fails(forgeries, folder, "100", "1") or fails(compare, folder, "20000", "1")

    def noticed(self, mutant: Mutant) -> str:
        provider_module = importlib.import_module("provider_module")

        folder = self.folder / f"worker{threading.get_ident()}"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / self.FOLDER, folder / "source")
        for path in self.folder.glob("*.o"):
            shutil.copy(path, folder)
        source = folder / "source" / pathlib.PurePath(mutant.file).name
        source.write_text(mutant.changed(source.read_text()))
        provider_module.objects_of_module(folder, [source])
        is_noticed = self.is_noticed(folder)
        shutil.rmtree(folder)
        return "forgeries or compare" if is_noticed else ""


class LackingError(Exception):
    """A build cannot be had here; the text says what is missing."""


class Wipes:
    """Residue properties by several compilers and levels, and what the interface promises."""

    def __init__(self, recipe: Recipe, folder: pathlib.Path, workers: int) -> None:
        self.recipe = recipe
        compilers = [each.strip() for each in recipe.compiler.split(",")]
        emulators = [each.strip() for each in recipe.emulator.split(",")] if recipe.emulator else []
        programs = tuple(f"tests/unit/{program}.c" for program in recipe.programs)
        self.builds: list[tuple[str, list[str], Objects]] = []
        for i, compiler in enumerate(compilers):
            name, level = compiler.split()
            sources = Sources(
                compiler=(name, *(["-static"] if emulators else [])),
                flags=(level, "-std=gnu11", "-fPIC", "-w", "-Iinclude", "-Isrc", "-Iharness"),
                wanted=lambda file: file.startswith(("src/", "harness/")) or file in programs,
                kernel=lambda _: True,
                library_flags=("-ffreestanding",),
            )
            emulator = emulators[i : i + 1]
            objects = Objects(folder / f"{name}{level}", sources, workers)
            self.builds.append((compiler, emulator, objects))
        self.passed = [
            functools.cache(functools.partial(self.check_whole, i)) for i in range(len(compilers))
        ]
        self.locks = [threading.Lock() for _ in compilers]

    def check_whole(self, i: int) -> bool:
        """Return that the tree passes by this compiler; raise BuildError if not."""
        compiler, emulator, objects = self.builds[i]
        if found := list(self.failing(objects.whole(), emulator, "", RESIDUE)):
            raise BuildError(f"{compiler}: with all calls in place, {', '.join(found)} fail")
        return True

    def prepare(self, mutants: Sequence[Mutant]) -> None:
        """Others are compiled when a call needs them."""
        del mutants
        self.passed[0]()

    def failing(
        self, linked: Linked, emulator: list[str], kernels: str, properties: str
    ) -> Iterator[str]:
        harness = linked.link("harness_here", "src/", "harness/")
        kernel = ["--kernel", kernels] if kernels else []
        only = ["--property", properties] if properties else []
        return failing([*emulator, harness, "check", "--quick", *kernel, *only])

    def kernels(
        self, mutant: Mutant, sources: list[str], prefixes: tuple[str, ...]
    ) -> tuple[str, bool]:
        """Return the kernels of these sources; else those of the layer, and that it is these."""
        stems = [pathlib.PurePath(source).stem for source in sources]
        kernels = sorted({stem for stem in stems if stem.startswith(prefixes)})
        if not kernels or not all(re.match("c_|x86_|a64_|a32_|ppc_", stem) for stem in stems):
            return self.recipe.layers[pathlib.PurePath(mutant.file).parent.name], True
        return ",".join(kernels), False

    def noticed(self, mutant: Mutant) -> str:
        for i, (compiler, emulator, objects) in enumerate(self.builds):
            with self.locks[i]:
                self.passed[i]()
            own = self.recipe.prefixes[i % 2 :][:1] if emulator else self.recipe.prefixes
            sources = [
                each for each in objects.users.get(mutant.file, []) if each.startswith("src/")
            ]
            if emulator and not any(own[0] in source for source in [mutant.file, *sources]):
                continue
            kernels, are_for_all = self.kernels(mutant, sources, own)
            with objects.with_fault(mutant, lambda source: source.startswith("src/")) as broken:
                if next(self.failing(broken, emulator, kernels, RESIDUE), ""):
                    return compiler
                if i == 0 and are_for_all and (test := self.broken_promise(broken, emulator)):
                    return test
        return ""

    def broken_promise(self, linked: Linked, emulator: list[str]) -> str:
        """Return the first test of what the interface promises that fails, or nothing."""
        for program in self.recipe.programs:
            path = linked.link(program, "src/", f"tests/unit/{program}.c")
            if fails(*emulator, path):
                return program
        return next(self.failing(linked, emulator, "c_ref,c_ref+c_ref", ""), "")
