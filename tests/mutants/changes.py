# SPDX-License-Identifier: MIT
"""Mutants that a change concerns: of files that changed, or whose tests or data did."""

import fnmatch
import sys
import tomllib
import zlib

from catalog import ROOT, Mutant, Recipe, properties, test_files

sys.path.insert(0, str(ROOT / "tools"))

from changed_files import base_of, changed_files, git

__all__ = ["base_of", "changed_files", "concerned", "drawn", "sample"]

DATA = "tests/mutants/data"
TOO_LONG = ("ct", "placement", "provider", "wipes")  # for a sample
DRAWN_BUILDS = 1  # at least, beside `native`, which most mutants have


def old_data(base: str, files: set[str]) -> set[tuple[str, str, str, str]]:
    """Return what files of data said that have changed: title, old text, new text, notice."""
    found = set()
    for file in files:
        table = tomllib.loads(git("show", f"{base.strip()}:{file}") or "")
        for group in table.get("group", []):
            for mutant in group["mutant"]:
                words = {"notice": "", **group, **mutant}
                found.add((words["title"], words["old"], words["new"], words["notice"]))
    return found


def concerned(
    mutants: list[Mutant], recipes: dict[str, Recipe], changed: set[str], base: str
) -> tuple[list[Mutant], list[Mutant]]:
    """Return the mutants that a change of these files concerns, but for the removal of calls: those
    whose data is new, and the others.
    """
    harness = properties()
    data = {file for file in changed if file.startswith(DATA) and file.endswith(".toml")}
    is_first = git("cat-file", "-e", f"{base.strip()}:{DATA}") is None
    was = old_data(base, data)
    names = {f"{DATA}/{path.name}": path for path in (ROOT / DATA).glob("*.toml")}
    of_file = {
        group["name"]: file
        for file, path in names.items()
        for group in tomllib.loads(path.read_text()).get("group", [])
    }

    def is_new(mutant: Mutant) -> bool:
        said = (mutant.title, mutant.old, mutant.new, mutant.notice)
        return of_file.get(mutant.group) in data and not is_first and said not in was

    def is_of_change(mutant: Mutant) -> bool:
        tests = test_files(mutant, recipes[mutant.build], harness)
        return mutant.file in changed or any(
            fnmatch.fnmatch(file, pattern) for file in changed for pattern in tests
        )

    planted = [mutant for mutant in mutants if not mutant.is_removal]
    new = [mutant for mutant in planted if is_new(mutant)]
    return new, [mutant for mutant in planted if is_of_change(mutant) and mutant not in new]


def drawn(mutants: list[Mutant], at_most: int, base: str) -> list[Mutant]:
    """Return so many of these mutants, others with each base, and of few builds, since each has to
    be compiled whole.
    """

    def place(name: str) -> int:
        return zlib.crc32(f"{base}{name}".encode())

    others = sorted({mutant.build for mutant in mutants} - {"native"}, key=place)
    builds = {"native"}
    for name in others:
        has_enough = sum(mutant.build in builds for mutant in mutants) >= at_most
        if len(builds) > DRAWN_BUILDS and has_enough:
            break
        builds.add(name)
    own = [mutant for mutant in mutants if mutant.build in builds]
    return sorted(own, key=lambda mutant: place(mutant.name))[:at_most]


def sample(mutants: list[Mutant], recipes: dict[str, Recipe]) -> list[Mutant]:
    """Return one mutant for each kind of noticing, which try the runner whatever has changed."""
    found: dict[str, Mutant] = {}
    for mutant in sorted(mutants, key=lambda each: each.build != "native"):
        recipe = recipes[mutant.build]
        if recipe.kind in TOO_LONG:
            continue
        kind = "program" if mutant.notice in recipe.programs else recipe.kind
        if not mutant.is_removal and not mutant.lacks() and not recipe.missing():
            found.setdefault(kind, mutant)
    return list(found.values())
