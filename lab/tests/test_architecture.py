# SPDX-License-Identifier: MIT
"""Who may import whom."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import everycore

PACKAGE = Path(everycore.__file__).parent

# A package imports itself and those of the lines above it, none of its own line. A name with a dot
# is a part of a package that has a line of its own.
LAYERS = (
    ("environment",),
    ("model",),
    ("measure", "binary"),
    ("store",),
    ("compile",),
    ("run",),
    ("trace",),
    ("subjects", "ct"),
    ("estimate",),
    ("matrix",),
    ("farm", "pauth", "firmware", "explain", "openssl"),
    ("report",),
    ("report.page",),
    ("commands",),
    ("cli",),
    ("__main__", "__init__"),
)
LOOSE = {"__init__", "__main__", "cli"}
PURE = (
    "model",
    "measure",
    "report",
    "environment.errors",
    "estimate.core_estimates",
    "run.bench_calls",
    "ct.verdicts",
)


def modules() -> dict[str, Path]:
    """Paths of all modules, by their names below everycore; a package is its `__init__`."""
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
        for path in PACKAGE.rglob("*.py")
        if "tree" not in path.relative_to(PACKAGE).parts
    }


def imports(path: Path) -> set[str]:
    """Modules of everycore, and top-level names of others, that a file imports."""
    found: set[str] = set()
    known = modules()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("everycore.")
                is_module = inner in known or f"{inner}.__init__" in known
                found.add(f"{node.module}.{alias.name}" if is_module else node.module)
    return found


def part(module: str) -> str:
    """The entry of LAYERS that a module belongs to: the longest that its name begins with."""
    entries = [name for names in LAYERS for name in names]
    fitting = [name for name in entries if f"{module}.".startswith(f"{name}.")]
    return max(fitting, key=len)


def is_pure(module: str) -> bool:
    return any(f"{module}.".startswith(f"{name}.") for name in PURE)


def layer(module: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if part(module) in names)


@pytest.mark.parametrize("module", sorted(modules()))
def test_a_module_imports_only_from_its_package_and_those_above(module: str) -> None:
    for name in imports(modules()[module]):
        if name.startswith("everycore."):
            other = name.removeprefix("everycore.")
            is_allowed = part(other) == part(module) or layer(other) < layer(module)
            assert is_allowed, f"{module} -> {other}"


def test_every_package_has_a_layer_and_every_layer_a_package() -> None:
    packages = {name.split(".")[0] for name in modules()}
    assert {name.split(".")[0] for names in LAYERS for name in names} == packages


def test_no_modules_lie_loose_beside_the_packages() -> None:
    assert {name for name in modules() if "." not in name} == LOOSE


def test_no_two_modules_share_a_name() -> None:
    names = Counter(name.rsplit(".", 1)[-1] for name in modules())
    del names["__init__"]
    assert [name for name, count in names.items() if count > 1] == []


def test_a_package_has_the_name_of_no_module_but_its_command() -> None:
    packages = [name.removesuffix(".__init__") for name in modules() if name.endswith(".__init__")]
    packages = [name.rsplit(".", 1)[-1] for name in packages]
    assert len(packages) == len(set(packages))
    others = {n.rsplit(".", 1)[-1] for n in modules() if not n.startswith("commands.")}
    assert not others & set(packages)


def test_tests_lie_in_folders_named_as_the_packages() -> None:
    folders = {p.name for p in Path(__file__).parent.iterdir() if p.is_dir()} - {"__pycache__"}
    packages = {name.split(".")[0] for name in modules()} - LOOSE
    assert folders <= packages | {"contrib", "data"}


def test_the_drawing_of_the_packages_is_complete() -> None:
    page = PACKAGE.parents[1] / "docs" / "ARCHITECTURE.md"
    drawing = page.read_text(encoding="utf-8").split("\nlab/everycore/\n")[1].split("```")[0]
    drawn = re.findall(r"^  (\w+)/", drawing, re.MULTILINE)
    assert drawn == [
        name
        for names in LAYERS
        for name in names
        if f"{name}.__init__" in modules() and "." not in name
    ]


def test_a_sample_reaches_the_page_in_at_most_five_hops_through_files_that_are_there() -> None:
    root = PACKAGE.parents[1]
    page = (root / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    walk = page.split("## One sample, from counter to page")[1].split("\n\nPaths")[0]
    hops = [line for line in walk.splitlines() if re.match(r"\| \d", line)]
    assert 0 < len(hops) <= 5
    for hop in hops:
        for path in re.findall(r"`([^`]+)`", hop.split("|")[4]):
            assert any((base / path).exists() for base in (root, PACKAGE)), path


@pytest.mark.parametrize("module", sorted(filter(is_pure, modules())))
def test_pure_modules_touch_no_process_and_no_disk(module: str) -> None:
    forbidden = {"subprocess", "os", "tempfile", "shutil", "socket"}
    assert not imports(modules()[module]) & forbidden


def test_only_the_context_starts_processes() -> None:
    users = {name for name, path in modules().items() if "subprocess" in imports(path)}
    # One does so on a board, one is a program that cvise runs, one times a user's program in two
    # environments.
    assert users == {
        "environment.context",
        "run.transport.on_board",
        "matrix.interesting",
        "explain.trial",
    }


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
