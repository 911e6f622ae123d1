# SPDX-License-Identifier: MIT
"""Mutants that a change concerns: of files that changed, or whose tests or data did."""

import fnmatch
import subprocess
import tomllib

from catalog import ROOT, Mutant, Recipe, properties, test_files

DATA = "tests/mutants/data"
LANDED = ("origin/main", "main")
TOO_LONG = ("placement", "provider", "wipes")  # for a sample


def git(*words: str) -> str | None:
    """Return what git prints, or nothing where it fails or is not there."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, text=True, capture_output=True, check=False
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def base_of(revision: str | None) -> str | None:
    """Return the commit where the branch left what has landed; for that itself the one before.

    None: there is no git, or no such revision.
    """
    known = (git("merge-base", each, "HEAD") for each in ([revision] if revision else LANDED))
    base = next((each for each in known if each is not None), None)
    if base is None:
        return None
    if base == git("rev-parse", "HEAD") and not git("status", "--porcelain"):
        return git("rev-parse", "HEAD^") or base
    return base


def changed_files(base: str) -> set[str]:
    """Return the files that differ from a commit, also those that no commit has yet."""
    differ = git("diff", "--name-only", base.strip()) or ""
    new = git("ls-files", "--others", "--exclude-standard") or ""
    return set(f"{differ}{new}".splitlines())


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
) -> list[Mutant]:
    """Return the mutants that a change of these files concerns, but for the removal of calls."""
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

    def is_concerned(mutant: Mutant) -> bool:
        if mutant.is_removal:
            return False
        tests = test_files(mutant, recipes[mutant.build], harness)
        is_new = of_file.get(mutant.group) in data and not is_first
        return (
            mutant.file in changed
            or any(fnmatch.fnmatch(file, pattern) for file in changed for pattern in tests)
            or (is_new and (mutant.title, mutant.old, mutant.new, mutant.notice) not in was)
        )

    return [mutant for mutant in mutants if is_concerned(mutant)]


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
