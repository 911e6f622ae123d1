# SPDX-License-Identifier: MIT
"""Shorten a C source by whole functions and statements, before a reducer looks at details.

A reducer tries thousands of small changes. Each attempt compiles and runs two programs, so that on
a busy machine there is time for a few hundred. Here a function loses its body, or a group of
statements goes, and with it all declarations that main then does not need.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from everycore.matrix.inlining import inlined, n_parameters, without_parameter
from everycore.matrix.used_declarations import (
    TOKEN,
    definitions,
    with_plain_types,
    without_unused_declarations,
    without_unused_members,
)

Test = Callable[[str], bool]
_OPENING = {"(": ")", "[": "]", "{": "}"}
MORE = 20  # characters that a source may have after a function was inlined
DEEPEST = 6  # blocks in blocks whose statements are tried


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement inside of a function, with all that is in it."""

    begin: int
    end: int
    depth: int  # 0: of the outer block


def shortened(source: str, shows: Test, has_time: Callable[[], bool]) -> str:
    """Return the shortest source that was found before the time ended and for which `shows` is
    true, as it is for the given one."""
    refused: set[str] = set()

    def is_new(text: str) -> bool:
        if text in refused or not shows(text):
            refused.add(text)
            return False
        return True

    return _shortest(source, is_new, has_time)


def _shortest(source: str, shows: Test, has_time: Callable[[], bool]) -> str:
    source = _without_bodies(source, shows, has_time)
    before = ""
    while before != source and has_time():
        source = _with_simple_declarations(source, shows, has_time)
        before = source
        for depth in range(DEEPEST):
            source = _without_statements(source, depth, shows, has_time)
        source = _without_bodies(source, shows, has_time)
        source = _with_simple_functions(source, shows, has_time)
    return source


def _without_bodies(source: str, shows: Test, has_time: Callable[[], bool]) -> str:
    """Empty the bodies of functions, those first whose loss shortens the source the most."""
    refused: set[str] = set()
    while has_time():
        tries: list[tuple[int, str, str]] = []
        for name, begin, end in definitions(source):
            if name not in refused and name != "main":
                short = _emptied(source, begin, end)
                tries.append((len(short), name, short))
        tries.sort()
        for size, name, short in tries:
            if size < len(source) and has_time() and shows(short):
                source = short
                break
            refused.add(name)
        else:
            break
    return source


def _with_simple_declarations(source: str, shows: Test, has_time: Callable[[], bool]) -> str:
    """Try declarations without attributes, other names of types and members that nobody names."""
    for change in (with_plain_types, without_unused_members, _without_attributes):
        short = without_unused_declarations(change(source))
        if len(short.splitlines()) < len(source.splitlines()) or len(short) < len(source):
            source = short if has_time() and shows(short) else source
    return source


def _with_simple_functions(source: str, shows: Test, has_time: Callable[[], bool]) -> str:
    """Inline functions of one expression, and remove parameters."""
    for name in [function for function, _, _ in definitions(source) if function != "main"]:
        short = without_unused_declarations(inlined(source, name))
        if short != source and len(short) < len(source) + MORE and has_time() and shows(short):
            source = short
            continue
        for index in reversed(range(n_parameters(source, name))):
            short = without_unused_declarations(without_parameter(source, name, index))
            source = short if has_time() and shows(short) else source
    return source


def _without_attributes(source: str) -> str:
    return re.sub(
        r"\b__attribute(?:__)?\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", "", source
    )


def _emptied(source: str, begin: int, end: int) -> str:
    """The source with another body for the function at some place: without values it returns 0."""
    text = source[begin:end]
    head = text[: _body(text)]
    is_void = re.match(r"[^(]*\bvoid\s+\w+\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head))
    body = "{ }" if is_void else "{ return 0; }"
    return without_unused_declarations(f"{source[:begin]}{head}{body}{source[end:]}")


def _body(text: str) -> int:
    """Return where the body of a function begins: at the first brace outside of parentheses."""
    depth = 0
    for token in TOKEN.finditer(text):
        if token[0] == "{" and depth == 0:
            return token.start()
        depth += (token[0] in ("(", "[")) - (token[0] in (")", "]"))
    return len(text)


def _without_statements(source: str, depth: int, shows: Test, has_time: Callable[[], bool]) -> str:
    """Remove statements of one depth: all, then halves and so on, down to single ones."""
    spans = [statement for statement in statements(source) if statement.depth == depth]
    left = list(spans)
    size = len(left)
    while size and has_time():
        at = 0
        while at < len(left) and has_time():
            some = left[:at] + left[at + size :]
            removed = [statement for statement in spans if statement not in some]
            if shows(without_unused_declarations(_without(source, removed))):
                left = some
            else:
                at += size
        size //= 2
    removed = [statement for statement in spans if statement not in left]
    return without_unused_declarations(_without(source, removed)) if removed else source


def _without(source: str, removed: Sequence[Statement]) -> str:
    for statement in sorted(removed, key=lambda cut: -cut.begin):
        source = source[: statement.begin] + source[statement.end :]
    return source


def statements(source: str) -> list[Statement]:
    """Return the statements of all functions, outer ones before those that are in them."""
    found: list[Statement] = []
    for _, begin, end in definitions(source):
        start = begin + _body(source[begin:end])
        tokens = [(match.start() + start, match[0]) for match in TOKEN.finditer(source[start:end])]
        _block(tokens, 0, 0, found)
    return sorted(found, key=lambda statement: (statement.depth, statement.begin))


def _block(tokens: Sequence[tuple[int, str]], at: int, depth: int, found: list[Statement]) -> int:
    """Find the statements of the block whose brace is token `at`; return the token behind it."""
    at += 1
    while at < len(tokens) and tokens[at][1] != "}":
        at = _statement(tokens, at, depth, found)
    return at + 1


def _statement(
    tokens: Sequence[tuple[int, str]], first: int, depth: int, found: list[Statement]
) -> int:
    at = first
    while at < len(tokens) and tokens[at][1] != "}":
        text = tokens[at][1]
        if text == "{" and tokens[at - 1][1] not in ("=", "(", ","):
            at = _block(tokens, at, depth + 1, found)
            is_done = tokens[first][1] != "do"
        elif text in _OPENING:
            at, is_done = _behind(tokens, at), False
        else:
            at, is_done = at + 1, text == ";"
        if is_done and not (at < len(tokens) and tokens[at][1] == "else"):
            break
    begin, (last, text) = tokens[first][0], tokens[at - 1]
    found.append(Statement(begin, last + len(text), depth))
    return at


def _behind(tokens: Sequence[tuple[int, str]], at: int) -> int:
    """Return the token behind a bracket's other half."""
    depth = 0
    for number in range(at, len(tokens)):
        text = tokens[number][1]
        depth += (text in _OPENING) - (text in _OPENING.values())
        if depth == 0:
            return number + 1
    return len(tokens)
