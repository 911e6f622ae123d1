# SPDX-License-Identifier: MIT
"""The changes that tests look at begin where the branch left what has landed, or a week ago."""

import os
import pathlib
import subprocess

import changed_files
import pytest

DAY_SECONDS = 24 * 3600
NOW = 1_700_000_000


class Clone:
    """A repository whose branch `main` has landed."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, **environment: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=self.folder,
            env={**os.environ, **environment},
            text=True,
            capture_output=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, name: str, days_ago: float = 0) -> str:
        """Commit a new file; return the commit."""
        (self.folder / name).touch()
        self.git("add", name)
        when = f"{NOW - int(days_ago * DAY_SECONDS)} +0000"
        self.git("commit", "-q", "-m", name, GIT_COMMITTER_DATE=when)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    monkeypatch.setattr(changed_files, "ROOT", tmp_path)
    return Clone(tmp_path)


def base() -> str | None:
    found = changed_files.base_of()
    return found.strip() if found else None


def test_a_branch_has_what_differs_from_where_it_began(clone: Clone) -> None:
    began = clone.commit("old", days_ago=30)
    clone.git("checkout", "-q", "-b", "branch")
    clone.commit("mine", days_ago=20)
    (clone.folder / "not-yet").touch()
    assert base() == began
    assert changed_files.changed_files(began) == {"mine", "not-yet"}


def test_of_what_has_landed_the_work_of_a_week_is_looked_at(clone: Clone) -> None:
    clone.commit("oldest", days_ago=30)
    before = clone.commit("before", days_ago=7.5)
    for number in range(7):
        clone.commit(f"day{number}", days_ago=6 - number)
    assert base() == before
    assert changed_files.changed_files(before) == {f"day{number}" for number in range(7)}


def test_what_has_landed_ends_at_its_newest_commit_and_not_a_week_before(clone: Clone) -> None:
    clone.commit("old", days_ago=30)
    landed = clone.commit("new", days_ago=1)
    assert (changed_files.fork_of() or "").strip() == landed
    clone.git("checkout", "-q", "-b", "branch")
    clone.commit("mine")
    assert (changed_files.fork_of() or "").strip() == landed


def test_changes_without_a_commit_are_held_against_the_last_one(clone: Clone) -> None:
    head = clone.commit("old", days_ago=30)
    (clone.folder / "not-yet").touch()
    assert base() == head
    assert changed_files.changed_files(head) == {"not-yet"}


def test_there_is_no_base_in_a_young_repository_or_without_git(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.commit("young", days_ago=1)
    clone.commit("younger")
    assert base() is None
    monkeypatch.setattr(changed_files, "LANDED", ("nowhere",))
    assert base() is None
