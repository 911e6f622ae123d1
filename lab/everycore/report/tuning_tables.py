# SPDX-License-Identifier: MIT
"""Show how well selection chooses: a line for each class of CPUs, and every bad choice."""

from collections.abc import Iterable, Sequence

from rich.console import Group

from everycore.model.tuning import MOST_LOSS, Choice, worst
from everycore.report.table_style import plain_table, titled


def summary_rows(choices: Sequence[Choice]) -> list[list[str]]:
    """Return a row for each class: how many choices are decided, and where most is lost."""
    rows = []
    for name in dict.fromkeys(one.hardware for one in choices):
        own = [one for one in choices if one.hardware == name]
        decided = [one for one in own if not one.undecided]
        bad = worst(own)
        rows.append(
            [
                name,
                str(len(decided)),
                str(len(own) - len(decided)),
                f"{bad.loss:.1%}" if bad else "-",
                sentence(bad) if bad and bad.loss else "",
            ]
        )
    return rows


SUMMARY = ("CPU", "Choices", "Undecided", "Worst loss", "Where")


def sentence(choice: Choice) -> str:
    """Return where a choice loses: the operation, and the names of both kernels."""
    return f"{choice.operation}: {choice.selected}, fastest {choice.fastest}"


def summary(choices: Sequence[Choice], caption: str) -> Group:
    table = plain_table(*SUMMARY)
    for row in summary_rows(choices):
        table.add_row(*row)
    return titled("Selection, judged by time", table, caption)


def choices_table(choices: Iterable[Choice], title: str) -> Group:
    """Return a row for each choice, the largest loss first."""
    table = plain_table("CPU", "Operation", "Selected", "Fastest", figures=("Loss",))
    for one in sorted(choices, key=lambda one: -one.loss):
        table.add_row(one.hardware, one.operation, one.selected, one.fastest, f"{one.loss:.1%}")
    return titled(title, table, f"a loss of more than {MOST_LOSS:.0%} is a bad choice")


def undecided_table(choices: Iterable[Choice]) -> Group:
    """Return a row for each choice that the times do not decide, and why."""
    table = plain_table("CPU", "Operation", "Why")
    for one in choices:
        if one.undecided:
            table.add_row(one.hardware, one.operation, one.undecided)
    return titled("Undecided", table)
