# SPDX-License-Identifier: MIT
"""The changes that tests look at begin where the branch left what has landed, or where a file says
that it landed last.
"""

import pathlib
import subprocess

import changed_files
import pytest


class Clone:
    """A repository whose branch `main` has landed."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=self.folder,
            text=True,
            capture_output=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, name: str) -> str:
        """Commit a file; return the commit."""
        (self.folder / name).touch()
        self.git("add", name)
        self.git("commit", "-q", "-m", name)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    monkeypatch.setattr(changed_files, "ROOT", tmp_path)
    return Clone(tmp_path)


def base() -> str | None:
    found = changed_files.base_of()
    return found.strip() if found else None


def test_a_branch_has_what_differs_from_where_it_began(clone: Clone) -> None:
    began = clone.commit("old")
    clone.git("checkout", "-q", "-b", "branch")
    clone.commit("mine")
    (clone.folder / "not-yet").touch()
    assert base() == began
    assert changed_files.changed_files(began) == {"mine", "not-yet"}


def test_on_main_changes_are_held_against_what_landed_before(clone: Clone) -> None:
    clone.commit("oldest")
    landed = clone.commit("landed")
    (clone.folder / ".ci").mkdir()
    (clone.folder / ".ci/landed").write_text(f"{landed}\n")
    clone.commit(".ci/landed")
    clone.commit("mine")
    assert base() == landed
    assert changed_files.changed_files(landed) == {".ci/landed", "mine"}


@pytest.mark.parametrize("names", ["", "HEAD", "0123456789", "of-another-branch"])
def test_a_file_that_names_no_older_commit_says_nothing(clone: Clone, names: str) -> None:
    clone.commit("old")
    clone.git("checkout", "-q", "-b", "of-another-branch")
    clone.commit("other")
    clone.git("checkout", "-q", "main")
    (clone.folder / ".ci").mkdir()
    (clone.folder / ".ci/landed").write_text(f"{names}\n")
    clone.commit(".ci/landed")
    assert base() is None


def test_what_has_landed_ends_at_its_newest_commit_and_not_a_week_before(clone: Clone) -> None:
    clone.commit("old")
    landed = clone.commit("new")
    assert (changed_files.fork_of() or "").strip() == landed
    clone.git("checkout", "-q", "-b", "branch")
    clone.commit("mine")
    assert (changed_files.fork_of() or "").strip() == landed


def test_changes_without_a_commit_are_held_against_the_last_one(clone: Clone) -> None:
    head = clone.commit("old")
    (clone.folder / "not-yet").touch()
    assert base() == head
    assert changed_files.changed_files(head) == {"not-yet"}


def test_there_is_no_base_without_the_file_or_without_git(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.commit("old")
    clone.commit("new")
    assert base() is None
    monkeypatch.setattr(changed_files, "LANDED", ("nowhere",))
    assert base() is None
