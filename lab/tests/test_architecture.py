# SPDX-License-Identifier: MIT
"""Who may import whom, as pyproject.toml says, and which names modules and classes have."""

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import everycore

PACKAGE = Path(everycore.__file__).parent
ROOT = PACKAGE.parents[1]
LOOSE = {"__init__", "__main__", "cli"}


@cache
def modules() -> dict[str, Path]:
    """Paths of all modules, by their names below everycore; a package is its `__init__`."""
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
        for path in PACKAGE.rglob("*.py")
        if "tree" not in path.relative_to(PACKAGE).parts
    }


@cache
def layers() -> list[list[str]]:
    """The packages of each layer of import-linter, from the lowest on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [row.split(" | ") for row in reversed(rows)]


def test_imports_keep_the_contracts_of_the_project(capfd: pytest.CaptureFixture[str]) -> None:
    linter = pytest.importorskip("importlinter.cli", reason="no import-linter: extra 'test'")
    code = linter.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == 0, capfd.readouterr().out


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
    page = ROOT / "docs/architecture.md"
    drawing = page.read_text(encoding="utf-8").split("\nlab/everycore/\n")[1].split("```")[0]
    drawn = re.findall(r"^  (\w+)/", drawing, re.MULTILINE)
    packages = [sorted(set(row) - LOOSE) for row in layers()]
    assert sorted(drawn) == sorted(name for row in packages for name in row)
    begins = [sum(map(len, packages[:i])) for i in range(len(packages))]
    for begin, row in zip(begins, packages, strict=True):
        assert sorted(drawn[begin : begin + len(row)]) == row


def test_a_sample_reaches_the_page_in_at_most_five_hops_through_files_that_are_there() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    walk = page.split("## One sample, from counter to page")[1].split("\n\nPaths")[0]
    hops = [line for line in walk.splitlines() if re.match(r"\| \d", line)]
    assert 0 < len(hops) <= 5
    for hop in hops:
        for path in re.findall(r"`([^`]+)`", hop.split("|")[4]):
            assert any((base / path).exists() for base in (ROOT, PACKAGE)), path


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

    shared = {
        "__init__", "command_groups", "completion", "file_checks", "matrix_steps", "option_sets",
        "options", "sample_output",
    }  # fmt: skip
    files = {p.stem for p in (PACKAGE / "commands").glob("*.py")} - shared
    assert files == set(COMMANDS)


def test_nobody_compares_the_texts_of_errors() -> None:
    """The kind of an error is a type, or a member: a message may be worded anew at any time."""
    text = r"(error|gone|refusal|broken)\.(message|hint|reason)"
    forbidden = re.compile(
        rf"{text}\.(\w*with|find|index|r?partition|count)\(|{text} *[!=]=|[!=]= *{text}"
        rf"|\bin {text}\b(?!\.)|\.(search|match|fullmatch)\({text}"
    )
    found = [
        f"{name}: {match[0]}"
        for name, path in modules().items()
        for match in forbidden.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
