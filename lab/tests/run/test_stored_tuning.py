# SPDX-License-Identifier: MIT
"""The rule of selection, judged by the sets of results/: the kernels that it takes are the fastest.

Faults are planted in the rule and in the order of kernels, and have to be noticed.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from library_reads import TREE
from world import Lab

from everycore.environment.errors import EverycoreError
from everycore.model.tuning import MOST_LOSS, Choice
from everycore.run import stored_tuning
from everycore.run.session import Session, open_session
from everycore.run.stored_tuning import Accepted
from everycore.store import run_files

pytestmark = pytest.mark.reads("src/", "include/", "harness/", "catalog/", "results/")

RESULTS = TREE.root / "results"
MACHINE = "intel-granite-rapids"
BEST = "all features"


def bad(session: Session, change: Callable[[Sequence[str]], Sequence[str]]) -> list[Choice]:
    """Return the bad choices on the machine, were its features those that `change` returns."""
    results = run_files.read(stored_tuning.sets(RESULTS)[MACHINE])
    arch, features = stored_tuning.features_of(results)
    choices = stored_tuning.judge(session, results, arch, change(features))
    found = stored_tuning.beyond({MACHINE: choices}, stored_tuning.accepted(session.tree))
    return [choice for _, choice in found if choice.hardware == BEST]


def without(name: str) -> Callable[[Sequence[str]], Sequence[str]]:
    return lambda features: [one for one in features if one != name]


def test_no_stored_machine_loses_more_than_is_accepted(real_lab: Lab) -> None:
    session = open_session(real_lab.context(), without_kernels=True)
    judged = stored_tuning.of_machines(session, RESULTS)
    known = stored_tuning.accepted(session.tree)
    assert stored_tuning.beyond(judged, known) == []
    for entry in known:
        covered = [one for one in judged[entry.machine] if entry.covers(entry.machine, one)]
        assert any(one.loss > MOST_LOSS for one in covered), f"remove what is no loss: {entry}"
    for machine, choices in judged.items():
        decided = [one for one in choices if not one.undecided]
        assert len(decided) > 0.9 * len(choices), f"{machine}: measure again"


def test_wide_vectors_withheld_from_a_core_that_welcomes_them_are_noticed(real_lab: Lab) -> None:
    session = open_session(real_lab.context(), without_kernels=True)
    modes = {one.mode for one in bad(session, without("tune-zmm"))}
    assert {"rsa-private", "dh-public", "ctr", "gcm-seal", "xts-enc"} <= modes


def test_a_line_that_moved_is_noticed(real_lab: Lab, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for folder in ("include", "src", "harness", "catalog"):
        shutil.copytree(TREE.root / folder, tree / folder)
    (tree / "lab").mkdir()
    file = tree / "src/kernels.def"
    lines = file.read_text().splitlines()
    (ifma,) = (i for i, line in enumerate(lines) if line.startswith("KERNEL(bn, x86_ifma,"))
    (adx,) = (i for i, line in enumerate(lines) if line.startswith("KERNEL(bn, x86_adx_intel,"))
    lines.insert(adx, lines.pop(ifma))
    file.unlink()
    file.write_text("\n".join(lines) + "\n")
    moved = Lab(real_lab.runner, tmp_path, {**real_lab.env, "EVERYCORE_TREE": os.fspath(tree)})
    session = open_session(moved.context(), without_kernels=True)
    found = bad(session, lambda features: features)
    moved_sizes = {(one.mode, one.bytes) for one in found if one.selected == "x86_adx_intel"}
    assert {("rsa-private", size) for size in (128, 256, 384, 512)} <= moved_sizes


def test_an_accepted_choice_is_that_of_its_machine_and_kernels() -> None:
    entry = Accepted("here", BEST, ("ctr 64 B", "xts-* 64 B"), "a", "b", 0.2, "because")
    choice = Choice(BEST, "aes", "xts-enc", 64, 1, "a", "b", 0.2)
    assert entry.covers("here", choice)
    assert not entry.covers("there", choice)
    assert not entry.covers("here", choice.replace(bytes=1500))
    assert not entry.covers("here", choice.replace(fastest="c"))
    assert not entry.covers("here", choice.replace(loss=0.21))
    assert not entry.covers("here", choice.replace(hardware="no AVX-512"))
    assert not stored_tuning.beyond({"here": [choice]}, [entry])
    assert stored_tuning.beyond({"there": [choice]}, [entry]) == [("there", choice)]
    assert not stored_tuning.beyond({"there": [choice.replace(bytes=16)]}, [entry])
    hashed = choice.replace(primitive="sha2", mode="pbkdf2-sha256", bytes=256)
    assert stored_tuning.beyond({"there": [hashed]}, [entry]) == [("there", hashed)]


def test_a_set_that_does_not_tell_its_features_is_refused() -> None:
    results = run_files.read(RESULTS / "amd-zen5-epyc/bench.jsonl.xz")
    with pytest.raises(EverycoreError, match="does not tell the features"):
        stored_tuning.features_of(results)
