# SPDX-License-Identifier: MIT
"""Who may import whom."""

import ast
from pathlib import Path

import pytest

import everycore

PACKAGE = Path(everycore.__file__).parent

# Each layer may import itself (where that makes no circle) and the layers above it in this list.
LAYERS = (
    ("decoding", "errors", "extras", "model", "tables"),
    (
        "catalog",
        "cores",
        "protocol",
        "stats",
        "permutation",
        "processes",
        "limits",
        "quiet",
        "estimates",
        "goals",
        "report",
        "jobs",
        "vectors",
        "verdicts",
    ),
    ("context",),
    (
        "crates",
        "debs",
        "depends",
        "progress",
        "targets",
        "toolchains",
        "build",
        "transport",
        "machine",
        "store",
        "trace",
        "atomic",
        "outputs",
        "workers",
        "wycheproof",
    ),
    ("session", "peer_runs", "placements", "sides", "subjects"),
    ("ct", "estimate", "explain", "firmware", "generated", "matrix", "openssl", "pauth"),
    ("farm", "packs"),
    ("page",),
    ("commands",),
    ("cli",),
    ("__main__", "__init__"),
)
PURE = (
    "model",
    "errors",
    "cores",
    "decoding",
    "jobs",
    "protocol",
    "stats",
    "permutation",
    "processes",
    "limits",
    "quiet",
    "estimates",
    "report",
    "page",
    "verdicts",
)


def modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
        for path in PACKAGE.rglob("*.py")
        if "tree" not in path.relative_to(PACKAGE).parts
    }


def imports(path: Path) -> set[str]:
    """Modules of everycore, and top-level names of others, that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module in ("everycore", "everycore.commands", "everycore.report"):
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
            else:
                found.add(node.module)
    return found


def layer(module: str) -> int:
    first = module.split(".", 1)[0]
    return next(i for i, names in enumerate(LAYERS) if first in names)


@pytest.mark.parametrize("module", sorted(modules()))
def test_a_module_imports_only_from_its_layer_and_those_below(module: str) -> None:
    for name in imports(modules()[module]):
        if name.startswith("everycore."):
            assert layer(name.removeprefix("everycore.")) <= layer(module), f"{module} -> {name}"


@pytest.mark.parametrize("module", sorted(m for m in modules() if m.split(".", 1)[0] in PURE))
def test_pure_modules_touch_no_process_and_no_disk(module: str) -> None:
    forbidden = {"subprocess", "os", "tempfile", "shutil", "socket"}
    assert not imports(modules()[module]) & forbidden


def test_only_the_context_starts_processes() -> None:
    users = {name for name, path in modules().items() if "subprocess" in imports(path)}
    # One does so on a board, one is a program that cvise runs, one times a user's program in two
    # environments.
    assert users == {"context", "transport.on_board", "matrix.interesting", "explain.trial"}


def test_no_drawer() -> None:
    assert not {"util", "utils", "helpers", "common"} & {m.rsplit(".", 1)[-1] for m in modules()}


# Readers did not understand these as names of what a module or class holds.
UNCLEAR = {
    *("alone", "apart", "contest", "held", "own", "places", "race"),
    *("sick", "standing", "telling", "way", "ways", "whole"),
}


def test_modules_and_classes_have_names_that_say_what_they_hold() -> None:
    names = {name.rsplit(".", 1)[-1] for name in modules()}
    for path in modules().values():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names |= {node.name.lower() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    assert not names & UNCLEAR


def test_every_command_is_in_the_table_of_commands() -> None:
    from everycore.cli import COMMANDS

    files = {p.stem for p in (PACKAGE / "commands").glob("*.py")} - {"__init__", "options"}
    assert files == set(COMMANDS)
