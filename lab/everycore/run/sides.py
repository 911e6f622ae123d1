# SPDX-License-Identifier: MIT
"""Two programs side by side: where each comes from, and their processes in turn.

A side is a C tree, a revision of this one, or a harness that is built already. Both run here, from
places whose names are equally long: the place of a program's stack depends on that length.
"""

import hashlib
import os
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from everycore.compile import catalog
from everycore.environment.atomic import only_one, publish, scratch_file
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Build, Compiler, Tree
from everycore.model.protocol import Bench, Failure
from everycore.model.targets import load_target
from everycore.run import machine
from everycore.run.bench_calls import Job
from everycore.run.session import Session, open_session
from everycore.run.transport import transport_for

SAMPLES = 11  # of each figure in a process: more of them do not make processes agree better
BUDGET_MS = 8  # for these
_REVISION = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Side:
    """A program that is compared."""

    label: str  # "A" or "B"
    name: str  # as it was given
    origin: str  # "tree", "revision" or "program"
    revision: str  # 12 digits of the commit, with "+changes" of a changed tree; "": unknown
    digest: str  # of the harness
    session: Session


def open_side(context: Context, label: str, name: str, cc: str | None, flags: str | None) -> Side:
    """The harness of a side, built if need be; an EverycoreError if the name is none of a side."""
    path = context.cwd / name
    if path.is_file():
        session = _program(context, path)
        return _staged(context, Side(label, name, "program", "", "", session))
    if path.is_dir():
        if not (path / catalog.REGISTRY).is_file():
            raise EverycoreError(
                f"{name} is no checkout of everycore: it has no {catalog.REGISTRY}",
                "name a checkout, a revision or a harness",
            )
        root, origin = path, "tree"
        state = machine.revision(context, Tree(path, is_checkout=True))
        revision = str(state) if state.commit else ""
    else:
        commit = commit_of(context, name)
        root, origin, revision = exported(context, commit), "revision", commit[:12]
    own = replace(context, env={**context.env, "EVERYCORE_TREE": str(root)})
    return _staged(
        context, Side(label, name, origin, revision, "", open_session(own, "host", cc, flags))
    )


def _program(context: Context, path: Path) -> Session:
    if not os.access(path, os.X_OK):
        raise EverycoreError(
            f"{path.name} is no program",
            "--run wants trees, revisions or harnesses; without it, result files are compared",
        )
    tree = catalog.tree_of(context)
    target = load_target(tree, "host")
    build = Build(path.resolve(), Compiler((), "unknown compiler", ""), ())
    return Session(tree, target, build, transport_for(context, target))


def _staged(context: Context, side: Side) -> Side:
    """Return the side with a copy of the harness, which nothing replaces while it runs."""
    source = side.session.build.binary
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    path = context.cache_dir() / "bin" / digest[:32] / "harness"
    with only_one(context.cache_dir() / f"side-{digest}"):
        if not path.is_file():
            with scratch_file(path.parent, "") as scratch:
                shutil.copyfile(source, scratch)
                scratch.chmod(0o755)
                publish(scratch, path)
    os.utime(path)
    build = replace(side.session.build, binary=path)
    return replace(side, digest=digest, session=replace(side.session, build=build))


def commit_of(context: Context, name: str) -> str:
    """The commit that git calls by a name."""
    tree = catalog.tree_of(context)
    git = ["git", "-C", str(tree.root), "rev-parse", "--verify", "--quiet", "--end-of-options"]
    found = context.runner.run([*git, f"{name}^{{commit}}"]).stdout.strip()
    if not _REVISION.fullmatch(found):
        raise EverycoreError(
            f"'{name}' is no folder, no program and no revision of {tree.root}",
            "--run wants two of these: a checkout, a harness, or a name that git knows, as HEAD~1",
        )
    return found


def exported(context: Context, commit: str) -> Path:
    """The files of a commit, in a folder of the cache that is made once."""
    folder = context.cache_dir() / "revisions" / commit
    with only_one(context.cache_dir() / f"revision-{commit}"):
        if folder.is_dir():
            return folder
        part = folder.with_name(f"{commit}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        with scratch_file(folder.parent, ".tar") as archive:
            git = ["git", "-C", str(catalog.tree_of(context).root), "archive", "--format=tar"]
            done = context.runner.run([*git, f"--output={archive}", commit])
            if done.code != 0:
                raise EverycoreError(f"git cannot export {commit[:12]}", done.stderr.strip())
            with tarfile.open(archive) as files:
                # Python 3.11.2, Debian 12's, has no filters and ignores this.
                files.extraction_filter = getattr(tarfile, "data_filter", None)
                files.extractall(part)
        part.replace(folder)
    if not (folder / catalog.REGISTRY).is_file():
        raise EverycoreError(
            f"commit {commit[:12]} has no {catalog.REGISTRY}", "name a later revision"
        )
    return folder


def in_turn(
    sides: Sequence[Side],
    jobs: Sequence[Job],
    kernels: Sequence[str],
    key_bits: int,
    rounds: int,
    coin: Callable[[], bool],
) -> Iterator[Bench]:
    """The figures of all processes, with side and round; the coin says who begins a round.

    Both measure the same job one directly after the other.
    """
    for number in range(rounds):
        order = list(sides) if coin() else list(sides)[::-1]
        for job in jobs:
            arguments = job.arguments(kernels, key_bits, BUDGET_MS, SAMPLES)
            for side in order:
                for line in side.session.records("bench", *arguments, *side.session.pinned):
                    if isinstance(line, Failure):
                        raise EverycoreError(
                            f"{side.label} ({side.name}): {line.kernel} {line.mode} is wrong:"
                            f" {line.detail}",
                            "`everycore check` says more",
                            code=1,
                        )
                    if isinstance(line, Bench):
                        yield line.replace(process=number, side=side.label)
