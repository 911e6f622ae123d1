# SPDX-License-Identifier: MIT
"""Make preprocessed sources shorter: remove the declarations that a program does not use.

The headers of a subject declare hundreds of functions and types. A reducer removes them, too, but
needs a compilation for each attempt. This is a guess from the names alone, and it may keep or
remove too much: who uses it must test the result.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""
    (?P<directive>^[ \t]*\#[^\n]*)
    | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
    | (?P<name>[A-Za-z_]\w*)
    | (?P<number>\.?\d[\w.]*)
    | (?P<mark>[^\s\w])
    """,
    re.VERBOSE | re.MULTILINE,
)
# Words before a parenthesis that declare nothing, and do not make a brace a function's body.
_ATTRIBUTE_WORDS = "__attribute__ __attribute __declspec _Alignas __asm__ asm __asm"
_KEYWORDS = f"""
    {_ATTRIBUTE_WORDS} struct union enum typedef
    auto break case char const continue default do double else extern float for goto if inline
    int long register restrict return short signed sizeof static switch unsigned void volatile
    while _Bool _Complex _Noreturn _Static_assert _Thread_local _Alignof _Generic
    __extension__ __inline __inline__ __restrict __restrict__ __const __volatile__
    """
ATTRIBUTES = frozenset(_ATTRIBUTE_WORDS.split())
KEYWORDS = frozenset(_KEYWORDS.split())


_TABLE = re.compile(
    r"^(?P<head>[^;{}=\n]+)\[(?P<size>[^\[\]]*)\]\s*=\s*\{(?P<values>[^{}]{400,})\}\s*;",
    re.MULTILINE,
)


@dataclass(frozen=True)
class _Declaration:
    """A function or declaration at the outer level of a file."""

    begin: int
    end: int
    names: frozenset[str]  # all words in it
    declared: frozenset[str]
    function: str  # its name, if it declares or defines one
    is_definition: bool  # of a function


@dataclass
class _Begun:
    """A declaration whose end has not been seen yet."""

    begin: int = -1
    depth: int = 0  # of parentheses, brackets and braces
    in_body: bool = False  # of a function
    names: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    last: str = ""  # token
    is_enum: bool = False  # the last structure that was begun is none
    is_pointer: bool = False  # the next name is that of a pointer to a function: int (*call)(int)
    last_is_name: bool = False
    before_parenthesis: str = ""  # the token before the last outer parenthesis
    function: str = ""

    @property
    def may_declare(self) -> bool:
        """Whether the next name may be one of the outer level: no member, and no parameter."""
        is_tag = self.last in ("struct", "union", "enum")
        return self.depth == 0 or self.is_enum or self.is_pointer or is_tag

    def follow(self, text: str, is_name: bool) -> None:
        """Remember a token for those behind it."""
        if text in ("struct", "union", "enum") and self.depth == 0:
            self.is_enum = text == "enum"
        starts = self.last == "(" and text == "*"
        self.is_pointer = starts or (self.is_pointer and text in KEYWORDS)
        self.last, self.last_is_name = text, is_name


def without_unused_declarations(source: str, root: str = "main") -> str:
    """Return a source with what the function `root` needs, and no preprocessor directives.

    A function that is defined is not declared again after that: in one file with the definition,
    the declaration of another file may not fit it.
    """
    defined: set[str] = set()
    declarations = []
    for declaration in _declarations(source):
        if declaration.is_definition:
            defined.add(declaration.function)
        if declaration.is_definition or declaration.function not in defined:
            declarations.append(declaration)
    needed: set[int] = set()
    wanted = {root}
    while wanted:
        added = {
            number
            for number, declaration in enumerate(declarations)
            if number not in needed and declaration.declared & wanted
        }
        needed |= added
        wanted = set().union(*(declarations[number].names for number in added)) if added else set()
    kept = [declarations[number] for number in sorted(needed)]
    return "".join(
        f"{source[declaration.begin : declaration.end].strip()}\n" for declaration in kept
    )


def definitions(source: str) -> list[tuple[str, int, int]]:
    """Return the name of each function that is defined, and where it begins and ends."""
    found = [declaration for declaration in _declarations(source) if declaration.is_definition]
    return [(declaration.function, declaration.begin, declaration.end) for declaration in found]


def without_tables(source: str) -> str:
    """Return a source whose long tables have no values. They may be written to, so that no
    compiler computes with zeros; an earlier declaration says otherwise, and is left out."""
    names: list[str] = []

    def emptied(table: re.Match[str]) -> str:
        head = re.sub(r"\b(?:static|const)\b\s*", "", table["head"])
        names.append(head.split()[-1])
        count = len([value for value in table["values"].split(",") if value.strip()])
        return f"{head}[{table['size'].strip() or count}];"

    short = _TABLE.sub(emptied, source)
    declared = "|".join(map(re.escape, names)) or "(?!)"
    return re.sub(rf"^extern\b[^;{{}}=]*\b(?:{declared})\s*\[[^;]*;\n", "", short, flags=re.M)


_TYPEDEF = re.compile(
    r"^[ \t]*typedef\s+(?P<type>\w[\w\s]*?)\s+(?P<name>\w+)[ \t]*;[ \t]*\n", re.MULTILINE
)
_STRUCT = re.compile(r"\b(?:struct|union)\b[^;{}()=]*\{(?P<members>[^{}]*)\}")
_DECLARED = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:,|$)|\(\s*\*\s*(\w+)\s*\)")
_HINTS = "nothrow|nonnull|leaf|unused|pure|warn_unused_result|access"
_ATTRIBUTE = re.compile(
    rf"__attribute__\s*\(\(\s*(?:__)?(?:{_HINTS})(?:__)?\s*(?:\([^()]*\))?\s*\)\)"
)


def with_plain_types(source: str) -> str:
    """Return a source in which other names of arithmetic types and structures are the types
    themselves, and without attributes that only help a compiler to warn or to optimise calls."""
    source = _ATTRIBUTE.sub("", source)
    types = {match["name"]: match["type"] for match in _TYPEDEF.finditer(source)}
    for _ in types:  # a type may be defined by another
        types = {
            name: " ".join(types.get(word, word) for word in text.split())
            for name, text in types.items()
        }
    if not types:
        return source
    names = "|".join(map(re.escape, types))
    source = _TYPEDEF.sub("", source)
    return re.sub(rf"(?<![.>])\b(?:{names})\b", lambda match: types[match[0]], source)


def without_unused_members(source: str) -> str:
    """Return a source whose structures have no members but those that occur in it.

    A structure keeps one member at least; one that has no name is kept.
    """
    counts: dict[str, int] = {}
    for word in re.findall(r"[A-Za-z_]\w*", source):
        counts[word] = counts.get(word, 0) + 1

    def shortened(found: re.Match[str]) -> str:
        members = [member for member in found["members"].split(";") if member.strip()]
        kept = [member for member in members if not _is_unused(member, counts)] or members[:1]
        begin, end = (found.start("members") - found.start(), found.end("members") - found.start())
        return found[0][:begin] + "".join(f"{member};" for member in kept) + "\n" + found[0][end:]

    return _STRUCT.sub(shortened, source)


def _is_unused(member: str, counts: dict[str, int]) -> bool:
    """Whether no name that a member of a structure declares occurs anywhere else."""
    names = [name for pair in _DECLARED.findall(member.strip()) for name in pair if name]
    if len(member.split()) < 2 or re.fullmatch(r"\s*(?:struct|union|enum)\s+\w+\s*", member):
        return False
    return bool(names) and all(counts.get(name, 0) == 1 for name in names)


def _declarations(source: str) -> Iterator[_Declaration]:
    """The outer declarations in their order.

    A name is declared where it occurs first outside of the bodies of functions, unless it is a
    member or a parameter there, and wherever it stands before one of `( [ { = , ;` outside of all
    braces and parentheses.
    """
    seen: set[str] = set()
    begun = _Begun()
    for token in TOKEN.finditer(source):
        text, is_mark = token[0], token.lastgroup == "mark"
        if token.lastgroup == "directive":
            continue
        if begun.begin < 0:
            begun.begin = token.start()
        if begun.depth == 0 and is_mark and text in "([{=,;" and begun.last_is_name:
            begun.declared |= {begun.last} - KEYWORDS
        if token.lastgroup == "name" and text not in KEYWORDS:
            begun.names.add(text)
            if not begun.in_body and text not in seen and begun.may_declare:
                begun.declared.add(text)
                seen.add(text)
        elif is_mark and text in "([{":
            if begun.depth == 0 and text == "(":
                begun.before_parenthesis = begun.last
                if begun.last_is_name and begun.last not in KEYWORDS:
                    begun.function = begun.function or begun.last
            if begun.depth == 0 and text == "{":
                begun.in_body = begun.last == ")" and begun.before_parenthesis not in ATTRIBUTES
            begun.depth += 1
        elif is_mark and text in ")]}":
            begun.depth -= 1
        begun.follow(text, token.lastgroup == "name")
        if begun.depth == 0 and text == ("}" if begun.in_body else ";"):
            names, declared = frozenset(begun.names), frozenset(begun.declared)
            end = token.end()
            yield _Declaration(begun.begin, end, names, declared, begun.function, begun.in_body)
            begun = _Begun()
