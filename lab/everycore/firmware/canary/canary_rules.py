# SPDX-License-Identifier: MIT
"""The rules of stack canaries: name, level, what is wrong, why that matters, and a remedy."""

from everycore.firmware.findings import Finding, Level, Place, Rule

_E, _W, _N = Level.ERROR, Level.WARNING, Level.NOTE
_ROWS = (
    ("policy-source", _E, "the guard comes from another place than the policy wants",
     "one object that was built with other flags is enough for an attacker who knows its guard",
     "build all objects with the same -mstack-protector-guard=... options, libraries too"),
    ("guard-offset", _E, "the code reads another word than the thread-local guard",
     "the word that it reads may be a pointer or a counter, which can be guessed",
     "set -mstack-protector-guard-offset to the offset that is named, and link again"),
    ("guard-foreign", _W, "a shared library reads a fixed offset of its program's thread block",
     "each program has another variable there", "use the global guard in shared libraries"),
    ("guard-not-a-variable", _W, "no thread-local variable is where the code reads its guard",
     "nothing is known to put a random value there",
     "define the guard as a thread-local variable, and set the offset to its place"),
    ("guard-variable", _N, "the guard is read from a thread-local variable",
     "only the program's author knows whether it holds a random value",
     "name the variable with --symbol; then its offset is checked"),
    ("guard-address", _E, "the guard's address is used as its value",
     "addresses can be guessed and leak; LLVM has had this fault on AArch64 (2026)",
     "use another version of the compiler, or another code model"),
    ("guard-mixed", _W, "functions of this binary take their guards from different places",
     "each function is only as safe as its own guard", "build all parts with the same options"),
    ("guard-unknown", _W, "a function calls for a changed canary, but its guard was not recognised",
     "whether the policy is kept there is not known", "look at the code of this function"),
    ("check-missing", _E, "a return can be reached on which the canary is not checked",
     "an overflow before that return stays unnoticed",
     "rebuild this function; check assembly and tools that change binaries"),
    ("canary-above-return", _E,
     "memory of variable length lies below the return address, and the canary above it",
     "an overflow of a variable-length array or of alloca() changes the return address before it"
     " reaches the canary, and stays unnoticed: CVE-2023-4039 of GCC for AArch64",
     "build with GCC 11.5, 12.4, 13.3, 14 or newer, or with clang; no option of older ones helps"),
    ("check-other-guard", _E, "the check compares with another guard than the prologue stored",
     "the check fails always, or depends on another thread", "rebuild this function"),
    ("set-missing", _E, "a canary is checked that was not stored",
     "the check compares whatever is on the stack", "rebuild this function"),
    ("array-unprotected", _W, "an array is on the stack, and the function has no canary",
     "an overflow of this array reaches the return address",
     "compile with -fstack-protector-strong"),
    ("protector-absent", _W, "no function of this binary has a canary",
     "a policy was asked for", "compile with -fstack-protector-strong, or name another file"),
    ("residue", _W, "the guard's value is still in a register when the function returns",
     "later code may store or leak it; GCC clears the register, clang 14 does not",
     "compile with -fzero-call-used-regs=used-gpr (GCC 11, clang 15, or newer)"),
)  # fmt: skip
RULES = {row[0]: Rule(*row) for row in _ROWS}


def finding(rule: str, function: str, address: int | None, text: str) -> Finding:
    """A rule that a function breaks; function empty: the whole binary."""
    return Finding(RULES[rule], Place(address, function), text)
