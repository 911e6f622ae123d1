# SPDX-License-Identifier: MIT
"""Simplify functions of a C source as text: inline those of one expression, drop parameters.

Types are not known here, so that a result may mean something else or not compile: who uses it must
test it.
"""

import re
from collections.abc import Mapping

from everycore.matrix.used_declarations import TOKEN, definitions

_NO_EXPRESSION = re.compile(r"(?:if|for|while|do|switch|goto|break|continue|case|default)\b")
_OPENING = {"(": ")", "[": "]", "{": "}"}


def inlined(source: str, name: str) -> str:
    """Return a source in which calls of a function are its expression, if it consists of one; else
    the same source."""
    found = next(
        ((begin, end) for function, begin, end in definitions(source) if function == name), None
    )
    if found is None:
        return source
    text = source[found[0] : found[1]]
    start = text.find("{", _list(text, text.find(name) + len(name))[1])
    body = text[start + 1 : -1].strip()
    expression = re.sub(r"^return\b", "", body.removesuffix(";")).strip()
    if not body.endswith(";") or ";" in expression or "{" in body or _NO_EXPRESSION.match(body):
        return source
    if re.search(rf"\b{name}\b", body):
        return source
    parameters = [_parameter(part) for part in _parts(text, text.find(name) + len(name))]
    while call := _last_call(source, name):
        begin, end, arguments = call
        if len(arguments) != len([parameter for parameter in parameters if parameter]):
            return source
        simple = [
            argument if re.fullmatch(r"\w+", argument) else f"({argument})"
            for argument in arguments
        ]
        values = dict(zip(parameters, simple, strict=False))
        put = _with_values(expression, values)
        source = f"{source[:begin]}({put}){source[end:]}"
    return source


def _with_values(expression: str, values: Mapping[str, str]) -> str:
    """Return an expression with values instead of parameters; members may have the same names."""
    names = r"(?<![.>])\b[A-Za-z_]\w*\b"
    return re.sub(names, lambda word: values.get(word[0], word[0]), expression)


def without_parameter(source: str, name: str, index: int) -> str:
    """Return a source in which a function has one parameter less, and its calls an argument."""
    for match in reversed(list(re.finditer(rf"\b{name}\b(?=\s*\()", source))):
        begin, end = _list(source, match.end())
        parts = _parts(source, match.end())
        if index < len(parts):
            rest = [part for number, part in enumerate(parts) if number != index]
            is_call = _is_inside(source, match.start())
            inner = ", ".join(rest) or ("" if is_call else "void")
            source = f"{source[:begin]}({inner}){source[end:]}"
    return source


def n_parameters(source: str, name: str) -> int:
    """Return how many parameters a function has."""
    for function, begin, end in definitions(source):
        if function == name:
            text = source[begin:end]
            parts = _parts(text, text.find(name) + len(name))
            return 0 if parts == ["void"] else len(parts)
    return 0


def _is_inside(source: str, at: int) -> bool:
    """Whether a place is in the body of a function."""
    for _, begin, end in definitions(source):
        if begin <= at < end:
            return at > source.find("{", begin)
    return False


def _last_call(source: str, name: str) -> tuple[int, int, list[str]] | None:
    """Return where the last call of a function begins and ends, and its arguments."""
    for match in reversed(list(re.finditer(rf"\b{name}\b(?=\s*\()", source))):
        if _is_inside(source, match.start()):
            return match.start(), _list(source, match.end())[1], _parts(source, match.end())
    return None


def _list(source: str, at: int) -> tuple[int, int]:
    """Return where the parentheses behind a place begin and end."""
    begin, depth = source.find("(", at), 0
    for token in TOKEN.finditer(source, begin):
        depth += (token[0] in _OPENING) - (token[0] in _OPENING.values())
        if depth == 0:
            return begin, token.end()
    return begin, len(source)


def _parts(source: str, at: int) -> list[str]:
    """Return what stands between the commas of the parentheses behind a place."""
    begin, end = _list(source, at)
    parts, depth, start = [], 0, begin + 1
    for token in TOKEN.finditer(source, begin + 1, end - 1):
        depth += (token[0] in _OPENING) - (token[0] in _OPENING.values())
        if token[0] == "," and depth == 0:
            parts.append(source[start : token.start()].strip())
            start = token.end()
    last = source[start : end - 1].strip()
    return [*parts, last] if last or parts else []


def _parameter(text: str) -> str:
    """Return the name that a parameter has; empty: none."""
    if text.strip() in ("", "void"):
        return ""
    names: list[str] = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", "", text))
    return names[-1] if names else ""
