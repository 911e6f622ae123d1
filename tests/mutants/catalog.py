# SPDX-License-Identifier: MIT
"""Mutants as data: data/*.toml names each, builds.toml how the tree is compiled for them."""

import dataclasses
import functools
import importlib.util
import pathlib
import platform
import re
import shutil
import subprocess
import tomllib
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/mutants"


class CatalogError(Exception):
    """The data and the tree do not agree; the text names the mutant."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How a build is compiled and run, as builds.toml has it."""

    name: str
    kind: str
    compiler: str = ""
    emulator: str = ""
    flags: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    kernels: str = ""
    programs: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    rounds: int = 20
    prefixes: tuple[str, ...] = ()
    layers: dict[str, str] = dataclasses.field(default_factory=dict, hash=False)

    def missing(self) -> list[str]:
        """Return the programs that this build needs and that are not installed."""
        words = [
            each.split()[0]
            for text in (self.compiler, self.emulator)
            for each in text.split(", ")
            if each.strip()
        ]
        lacks = [] if self.emulator or self.name != "bn-hppa20" else ["emulator of PA-RISC 2.0"]
        lacks += sorted({word for word in words if not is_there(word)})
        return lacks or [f"CPU of '{each}'" for each in self.emulator.split(", ") if refuses(each)]


def is_there(program: str) -> bool:
    """Whether a program is installed; Bochs is a library of a Python package."""
    if program == "bochs":
        return importlib.util.find_spec("bochscpu") is not None
    return shutil.which(program) is not None


@functools.cache
def refuses(emulator: str) -> bool:
    """Whether QEMU does not know the CPU that is named, or a feature of it."""
    if not emulator.startswith("qemu-"):
        return False
    done = subprocess.run([*emulator.split(), "/"], capture_output=True, text=True, check=False)
    return any(words in done.stderr for words in ("unable to find CPU model", "not found"))


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A few words of a file that are replaced, and the test that must notice."""

    group: str
    build: str
    title: str
    file: str
    at: int  # where `old` begins
    old: str
    new: str
    notice: str
    kernels: str = ""
    machine: str = ""
    cpu: tuple[str, ...] = ()
    is_removal: bool = False
    more: dict[str, str] = dataclasses.field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        return f"{self.group}: {self.title}"

    def changed(self, text: str) -> str:
        """Return the text of the file with the fault."""
        return text[: self.at] + self.new + text[self.at + len(self.old) :]

    def lacks(self) -> str:
        """Return why this machine cannot run the code, or nothing."""
        if self.machine and platform.machine() != self.machine:
            return f"this is no {self.machine}"
        absent = sorted(set(self.cpu) - cpu_flags())
        return f"this CPU lacks {', '.join(absent)}" if absent else ""


def cpu_flags() -> set[str]:
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    return set(cpuinfo.read_text().split()) if cpuinfo.exists() else set()


def load_recipes() -> dict[str, Recipe]:
    """Return the builds by name."""
    found = {}
    for name, table in tomllib.loads((HERE / "builds.toml").read_text()).items():
        lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
        found[name] = Recipe(name=name, **{**table, **lists})
    return found


def load_mutants() -> list[Mutant]:
    """Return all mutants, those that removals make of the sources last."""
    tables = [tomllib.loads(path.read_text()) for path in sorted((HERE / "data").glob("*.toml"))]
    groups = [group for table in tables for group in table.get("group", [])]
    found = [planted(group, each) for group in groups for each in group["mutant"]]
    for table in tables:
        for removal in table.get("removal", []):
            found += removed_calls(removal)
    if twice := {
        each.name for each in found if sum(other.name == each.name for other in found) > 1
    }:
        raise CatalogError(f"two mutants of one name: {', '.join(sorted(twice))}")
    return found


def planted(group: dict[str, Any], each: dict[str, Any]) -> Mutant:
    """Return the mutant that a group has, after the words that it changes have been counted.

    `file` and `notice` of a group are those of its mutants that name none.
    """
    each = {key: group[key] for key in ("file", "notice") if key in group} | each
    path = ROOT / each["file"]
    text = path.read_text() if path.exists() else ""
    times, wanted = text.count(each["old"]), each.get("count", 1)
    if times != wanted:
        raise CatalogError(
            f"{group['name']}: {each['title']}: {each['file']} has {each['old']!r} {times} times, "
            f"not {wanted}: write what it has now into tests/mutants/data"
        )
    known = {"title", "file", "count", "old", "new", "notice"}
    return Mutant(
        group=group["name"],
        build=group["build"],
        title=each["title"],
        file=each["file"],
        at=text.index(each["old"]),
        old=each["old"],
        new=each["new"],
        notice=each.get("notice", ""),
        kernels=group.get("kernels", ""),
        machine=group.get("machine", ""),
        cpu=tuple(group.get("cpu", ())),
        more={key: value for key, value in each.items() if key not in known},
    )


def removed_calls(removal: dict[str, str]) -> list[Mutant]:
    """Return a mutant for each call that the pattern finds in the files named."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        file = path.relative_to(ROOT).as_posix()
        if not re.search(removal["files"], file) or re.search(removal["but"], file):
            continue
        text = path.read_text()
        for call in re.finditer(removal["call"], text, re.M):
            line = text.count("\n", 0, call.start(1)) + 1
            found.append(
                Mutant(
                    group=removal["name"],
                    build=removal["build"],
                    title=f"{file}:{line}: without {call[1]}",
                    file=file,
                    at=call.start(1),
                    old=call[1],
                    new="(void)0;",
                    notice="residue",
                    machine=removal.get("machine", ""),
                    is_removal=True,
                )
            )
    return found


def properties() -> dict[str, list[str]]:
    """Return the files of the harness that have each property."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "harness").glob("*.c")):
        for name in re.findall(r'(?:\bPROPERTY\(|\{")(\w+)(?:\),|", \w+, \w+\})', path.read_text()):
            found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    return found


def test_files(mutant: Mutant, recipe: Recipe, harness: dict[str, list[str]]) -> list[str]:
    """Return the files whose change means that the mutant has to be tried again."""
    match recipe.kind:
        case "harness" if mutant.notice in recipe.programs:
            return [f"tests/unit/{mutant.notice}.c"]
        case "harness":
            files = harness.get(mutant.notice, [])
            folder = pathlib.PurePath(mutant.file).parent.name
            own = [file for file in files if re.search(rf"/check_{folder}(_\w+)?\.c$", file)]
            return own or files
        case "subtests":
            return [*recipe.tests, *(f"tests/unit/{program}.c" for program in recipe.programs)]
        case "answers":
            (program,) = recipe.programs
            python = "bn_against_python.py" if program == "bn_answers" else f"{program}.py"
            return [f"tests/oracles/{program}.c", f"tests/oracles/{python}"]
        case "provider":
            return [f"tests/systems/provider/{program}.c" for program in recipe.programs]
        case _:
            return list(recipe.tests)


def problems(mutants: list[Mutant], recipes: dict[str, Recipe]) -> list[str]:
    """Return what names nothing: builds, properties, programs and subtests."""
    harness = properties()
    subtests = (ROOT / "tests/unit/test_cpu.c").read_text()
    found = []
    for each in mutants:
        recipe = recipes.get(each.build)
        if not recipe:
            found.append(f"{each.name}: there is no build {each.build}")
        elif recipe.kind == "harness" and each.notice not in (*harness, *recipe.programs):
            found.append(f"{each.name}: the harness has no property {each.notice}")
        elif recipe.kind == "subtests" and not re.search(rf"\b{each.notice}\b", subtests):
            found.append(f"{each.name}: tests/unit/test_cpu.c has no test {each.notice}")
    return found
