# SPDX-License-Identifier: MIT
"""Show which cells are constant-time, as text: a paragraph for each function."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from rich.console import Group
from rich.text import Text

from everycore.matrix.second_pass import LOOKED_AT
from everycore.model.cells import Result

MOST = 12  # leaking cells of a function that are listed
Claims = Collection[tuple[str, str]]  # subjects and functions that promise constant time


def broken(results: Sequence[Result], claims: Claims) -> list[Result]:
    """Cells that leak although they promise not to."""
    return [
        result
        for result in results
        if result.constant_time is False and (result.cell.subject, result.cell.function) in claims
    ]


def paragraphs(results: Sequence[Result], claims: Claims) -> Iterator[Group]:
    """Broken promises first, then each function; last, what could not be looked at, and why."""
    looked = [result for result in results if result.outcome in LOOKED_AT]
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in looked:
        groups.setdefault(
            (result.cell.subject, result.cell.function, result.cell.target), []
        ).append(result)
    for key in sorted(groups, key=lambda key: (not broken(groups[key], claims), key)):
        yield _function(key, groups[key], key[:2] in claims)
    if unseen := [result for result in looked if result.constant_time is None]:
        yield _unseen(unseen)


def _function(key: tuple[str, str, str], results: Sequence[Result], promises: bool) -> Group:
    subject, function, target = key
    seen = [result for result in results if result.constant_time is not None]
    leaking = sorted(
        (result for result in seen if not result.constant_time), key=lambda result: result.cell
    )
    where = "" if target == "host" else f" for {target}"
    promise = "promises constant time" if promises else "promises nothing"
    head = Text(f"{subject} {function}{where} ({promise}): ")
    style = ("bold red" if promises else "yellow") if leaking else "green"
    head.append(f"{len(leaking)} of {len(seen)} cells leak", style=style)
    head.append(_methods(seen))
    lines = [head]
    if len(leaking) == len(seen) and leaking and not promises:
        lines.append(Text(f"  {_places(leaking)}", style="dim"))
    else:
        lines += [
            Text(f"  {result.cell.toolchain} {' '.join(result.cell.flags)}: {_place(result)}")
            for result in leaking[:MOST]
        ]
        if len(leaking) > MOST:
            lines.append(Text(f"  and {len(leaking) - MOST} more"))
    return Group(*lines)


def _methods(seen: Sequence[Result]) -> str:
    """How many cells each method looked at."""
    counts = Counter(v.method for result in seen for v in result.verdicts if v.constant is not None)
    said = ", ".join(f"{method} {count}" for method, count in sorted(counts.items()))
    return f" (looked at by {said})" if said else ""


def _places(leaking: Sequence[Result]) -> str:
    """Name one place: for code that leaks with every compiler that is enough."""
    return f"such as {leaking[0].cell.toolchain}: {_place(leaking[0])}"


def _place(result: Result) -> str:
    found: dict[str, list[str]] = {}
    for verdict in result.verdicts:
        if verdict.constant is False:
            found.setdefault(verdict.detail, []).append(verdict.method)
    return "; ".join(f"{' and '.join(methods)}: {detail}" for detail, methods in found.items())


def _unseen(results: Sequence[Result]) -> Group:
    """Cells that no method could look at are no passes."""
    reasons = Counter(
        "; ".join(f"{v.method}: {v.detail}" for v in result.verdicts) for result in results
    )
    lines = [Text(f"Not looked at, {len(results)} cells:", style="bold yellow")]
    lines += [Text(f"  {n:4} {why or 'no verdict'}") for why, n in reasons.most_common()]
    return Group(*lines, Text())
