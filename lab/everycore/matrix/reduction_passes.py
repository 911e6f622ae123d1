# SPDX-License-Identifier: MIT
"""The passes of cvise that shorten one C file, in the order in which they shorten it the most.

cvise's own list is for C++, too, and for inputs that crash a compiler within milliseconds. An
attempt takes a second here, so that passes which find nothing in C cost minutes.
"""

import json

_LINES = [("lines", level) for level in "01234"]
_BALANCED = [("balanced", what) for what in ("curly", "curly2", "curly3", "parens-to-zero")]
_UNUSED = [
    ("clangbinarysearch", "remove-unused-function"),
    ("clangbinarysearch", "remove-unused-var"),
    ("clangbinarysearch", "remove-unused-enum-member"),
]
_FIRST = [("comments", ""), ("blank", ""), *_UNUSED, *_LINES, *_BALANCED]
# Each makes functions, types or declarations fewer.
_MAIN = [
    ("clang", "callexpr-to-value"), ("clang", "replace-callexpr"),
    ("clang", "simple-inliner"), ("clang", "remove-unused-function"),
    ("clang", "param-to-local"), ("clang", "return-void"),
    ("clang", "remove-unused-field"), ("clang", "aggregate-to-scalar"),
    ("clang", "union-to-struct"), ("clang", "simplify-struct"),
    ("clang", "replace-simple-typedef"), ("clang", "replace-one-level-typedef-type"),
    ("clang", "copy-propagation"), ("clang", "simplify-if"), ("clang", "simplify-callexpr"),
    ("clang", "reduce-pointer-level"), ("clang", "lift-assignment-expr"),
    *_UNUSED,
    ("ternary", "b"), ("ternary", "c"),
    *(("balanced", what) for what in ("curly", "curly2", "curly3", "curly-only", "parens")),
    *(("balanced", what) for what in ("parens-inside", "square-inside")),
    *_LINES,
    *(("lines", level) for level in ("6", "8")),
    ("special", "b"), ("special", "c"), ("indent", "regular"),
    *(("clex", f"rm-toks-{number}") for number in (16, 12, 8, 6, 5, 4, 3, 2, 1)),
    ("peep", "a"), ("peep", "b"), ("ints", "a"), ("ints", "d"), ("balanced", "parens-only"),
]  # fmt: skip
_LAST = [
    ("clang", "combine-global-var"), ("clang", "combine-local-var"),
    ("clang", "move-global-var"), ("clang", "simplify-struct-union-decl"),
    ("lines", "0"), ("indent", "final"),
]  # fmt: skip


def pass_group() -> str:
    """Return the passes as cvise reads them: a file of JSON."""
    groups = {"first": _FIRST, "main": _MAIN, "last": _LAST}
    return json.dumps(
        {
            name: [
                {"pass": pass_, "arg": what} if what else {"pass": pass_} for pass_, what in passes
            ]
            for name, passes in groups.items()
        }
    )
