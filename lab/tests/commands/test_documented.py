# SPDX-License-Identifier: MIT
"""Every command line of everycore that the docs show is one that the program accepts."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from world import PACKAGE

from everycore import cli
from everycore.cli import make_app
from everycore.commands.command_groups import DEFAULT

ROOT = PACKAGE.parent.parent
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
EVERYCORE = r"(?:\.venv/bin/)?everycore ([a-z][^`#|>]*)"
IN_A_BLOCK = re.compile(rf"^{EVERYCORE}")
IN_A_SENTENCE = re.compile(rf"`{EVERYCORE}`")


def shown(page: Path) -> list[str]:
    """Return the words that follow `everycore` in blocks, line by line, and in backticks."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    fenced = re.compile(r"^```.*?^```", re.M | re.S)
    lines = [line for block in fenced.findall(text) for line in block.splitlines()]
    found = [*map(IN_A_BLOCK.match, lines), *IN_A_SENTENCE.finditer(fenced.sub("", text))]
    return [" ".join(word[1].split()) for word in found if word]


def parse(line: str) -> None:
    """Raise what the command line raises for words that it does not accept; run nothing."""
    words = shlex.split(line.replace("...", ""))
    group = typer.main.get_command(make_app(words))
    command = group
    context = group.make_context("everycore", [], resilient_parsing=True)
    while hasattr(command, "commands") and words:
        is_default = words[0].startswith("-") and DEFAULT in command.commands
        command = command.commands[DEFAULT if is_default else words.pop(0)]
    if not words or "--help" in words:  # a mention of the command, or a question
        return
    command.make_context("everycore", list(words), parent=context)


EXAMPLES = [("cli.py", line) for lines in cli.EXAMPLES.values() for line in lines]
CASES = [(page.name, line) for page in PAGES for line in dict.fromkeys(shown(page))]


@pytest.mark.parametrize(("page", "line"), [*CASES, *EXAMPLES])
def test_a_command_of_the_docs_is_accepted(page: str, line: str) -> None:
    del page
    parse(line)


def test_the_docs_show_many_commands_and_wrong_ones_are_noticed() -> None:
    assert len(CASES) > 50
    for wrong in (
        "bench --qick",
        "nothing",
        "toolchain ad gcc-14",
        "bench --placement",
        "resolve --policy x y z",
    ):
        with pytest.raises((KeyError, typer.BadParameter.__bases__[0])):
            parse(wrong)
