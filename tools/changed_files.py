# SPDX-License-Identifier: MIT
"""Files that differ from what has landed, so that the tests run that a change concerns."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANDED = ("origin/main", "main")
NAMES_LANDED = ".ci/landed"  # written by whoever begins new work on what has landed


def git(*words: str) -> str | None:
    """Return what git prints, or nothing where it fails or is not there."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, text=True, capture_output=True, check=False
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def fork_of(revision: str | None = None) -> str | None:
    """Return the newest commit of the branch that has landed; None: there is no git, or none."""
    known = (git("merge-base", each, "HEAD") for each in ([revision] if revision else LANDED))
    return next((each for each in known if each is not None), None)


def base_of(revision: str | None = None) -> str | None:
    """Return the commit where the branch left what has landed.

    On main itself, where nothing tells what of it has landed: the commit that .ci/landed names.
    None, and so all is new: there is no git, or no such commit before this one.
    """
    base = fork_of(revision)
    if base is None:
        return None
    if base == git("rev-parse", "HEAD") and not git("status", "--porcelain"):
        return landed_before()
    return base


def landed_before() -> str | None:
    """Return the commit that the file names, if it is an older one of this branch."""
    try:
        name = (ROOT / NAMES_LANDED).read_text().strip()
    except FileNotFoundError:
        return None
    commit = git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    is_older = commit is not None and git("merge-base", "--is-ancestor", commit.strip(), "HEAD~1")
    return commit if is_older is not None else None


def changed_files(base: str) -> set[str] | None:
    """Return the files that differ from a commit, also those that no commit has yet; None: git
    cannot tell.

    A renamed file counts by both names. Paths are relative to ROOT, also where ROOT is a folder of
    another repository.
    """
    differ = git("diff", "--name-only", "--no-renames", "--relative", base.strip())
    new = git("ls-files", "--others", "--exclude-standard")
    if differ is None or new is None:
        return None
    return set(f"{differ}{new}".splitlines())
