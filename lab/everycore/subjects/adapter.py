# SPDX-License-Identifier: MIT
"""The adapter of a subject that has calls in its description and none of its own."""

import re
from collections.abc import Collection

from everycore.subjects.describe import Function, Subject

# Arguments that a call may name: catalog/subjects/subject.h explains each.
NAMES = {
    "in": "const uint8_t *in = job->in",
    "out": "uint8_t *out = job->out",
    "n_bytes": "size_t n_bytes = job->n_bytes",
    "n_blocks": "size_t n_blocks = job->n_blocks",
    "key": "const uint8_t *key = job->user_key",
    "key_bits": "unsigned key_bits = job->key_bits",
    "iv": "uint8_t *iv = job->iv",
    "tag": "uint8_t *tag = job->tag",
    "own": "void *own = job->own",
    "own2": "void *own2 = job->own2",
}


def adapter_text(subject: Subject, names: Collection[str] = tuple(NAMES)) -> str:
    """Return the functions of an adapter; its calls may use `names`, all by default."""
    parts = ["#include <stdlib.h>", "#include <string.h>", '#include "catalog/subjects/subject.h"']
    if subject.header:
        parts += [_line(subject, "header"), f'#include "{subject.header}"']
    if subject.declaration:
        parts += [_line(subject, "declaration"), f"{subject.declaration};"]
    for function in subject.functions:
        if function.setup:
            parts.append(
                _wrapped(subject, function, "setup", function.key_symbol, function.setup, names)
            )
        parts.append(_wrapped(subject, function, "call", function.symbol, function.call, names))
    return "\n".join(parts) + "\n"


def _wrapped(
    subject: Subject, function: Function, what: str, symbol: str, code: str, names: Collection[str]
) -> str:
    lines = [f"SUBJECT_GLUE void {symbol}(struct subject_job *job)", "{"]
    lines += [f"    {text}; (void){name};" for name, text in NAMES.items() if name in names]
    lines += [_line(subject, f"{what} of {function.name}"), f"    {code};", "}"]
    return "\n".join(lines)


def names_in_calls(subject: Subject) -> list[str]:
    """Return the arguments that the calls of a description name themselves. A macro of the
    subject's header may use others."""
    calls = " ".join(f"{function.setup} {function.call}" for function in subject.functions)
    return [name for name in NAMES if re.search(rf"\b{name}\b", calls)]


def _line(subject: Subject, what: str) -> str:
    """So that the compiler says where a mistake is."""
    return f'#line 1 "{subject.name}.toml: {what}"'
