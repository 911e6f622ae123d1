# SPDX-License-Identifier: MIT
"""A configuration of OpenSSL that keeps what another has, and prefers the provider (config(5))."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from everycore.environment.errors import EverycoreError

MARK = "# Made by `everycore provider enable`; `everycore provider disable` removes it."
NAME = "everycore"
PREFERENCE = f"?provider={NAME}"
# A query may name a property once (property(7)). Where it names `provider` for another one, ours is
# preferred by a property that only our algorithms have.
SECOND_PREFERENCE = f"?{NAME}.aes=yes"
_SECTION = re.compile(r"^\s*\[\s*([^]]*?)\s*\]")
_VALUE = re.compile(r"^\s*([^=\s]+)\s*=\s*(.*?)\s*$")
_INCLUDE = re.compile(r"^\s*\.include\s*=?\s*(.+?)\s*$")
_CLAUSE = re.compile(r"(?:[^,'\"]|'[^']*'|\"[^\"]*\")+")
_PROPERTY = re.compile(r"\s*(\?)?\s*(-)?\s*([A-Za-z][\w.]*)\s*(?:(!?=)\s*(.*?))?\s*$")
_DEEPEST = 10  # of files that include files

Sections = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class File:
    """A configuration file that is read."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Base:
    """A configuration that ours is to include: its values, and where each is written."""

    path: str
    sections: Sections
    places: Mapping[tuple[str, str], str]  # of section and name: "/etc/ssl/openssl.cnf:12"


NO_BASE = Base("", {"default": {}}, {})


def base_of(file: File, read: Callable[[str], Sequence[File]]) -> Base:
    """Return the values of each section; those before the first are of the section `default`.

    read: the files behind an `.include`, one, or several of a folder.
    """
    found: dict[str, dict[str, str]] = {"default": {}}
    places: dict[tuple[str, str], str] = {}
    _collect(file, read, found, places, "default", 0)
    return Base(file.path, found, places)


def _collect(
    file: File,
    read: Callable[[str], Sequence[File]],
    found: dict[str, dict[str, str]],
    places: dict[tuple[str, str], str],
    section: str,
    depth: int,
) -> None:
    if depth > _DEEPEST:
        raise EverycoreError("the configuration includes itself", "remove the .include of itself")
    for number, line in _lines(file.text):
        if include := _INCLUDE.match(line):
            for other in read(include[1].strip('"')):
                _collect(other, read, found, places, section, depth + 1)
        elif header := _SECTION.match(line):
            section = header[1]
            found.setdefault(section, {})
        elif value := _VALUE.match(line):
            found[section][value[1]] = value[2].strip('"')
            places[section, value[1]] = f"{file.path}:{number}"


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines without comments, and their numbers; a line goes on behind a backslash."""
    first, begun = 0, ""
    for number, raw in enumerate(text.splitlines(), 1):
        first = first or number
        if raw.endswith("\\"):
            begun += raw[:-1]
            continue
        yield first, re.sub(r"(^|\s)#.*", "", begun + raw)
        first, begun = 0, ""
    if begun:
        yield first, re.sub(r"(^|\s)#.*", "", begun)


def is_active(values: Mapping[str, str]) -> bool:
    """Whether the section of a provider activates it: a value that says no does not."""
    return values.get("activate", "0").lower() not in ("0", "no", "off", "false")


# ---- Property queries ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a query: `?provider=NAME`, `fips=yes`, `-fips`."""

    text: str
    is_optional: bool
    name: str
    value: str
    is_equal: bool  # False: `!=`, or `-NAME`

    def excludes_us(self) -> bool:
        """Whether no algorithm of ours can have what the clause demands."""
        if self.is_optional or self.name == f"{NAME}.aes":
            return False
        if self.name == "provider":
            return (self.value == NAME) != self.is_equal
        return self.is_equal and self.value != "no"  # a property that is not there is `no`


def clauses(query: str) -> list[Clause]:
    """Return the parts of a property query (property(7)); names have no case."""
    found = []
    for part in _CLAUSE.findall(query):
        if match := _PROPERTY.match(part):
            optional, negated, name, operator, value = match.groups()
            value = (value or "yes").strip("'\"").lower()
            is_equal = operator != "!=" and not negated
            found.append(Clause(part.strip(), bool(optional), name.lower(), value, is_equal))
    return found


def preference_of(base: Base) -> tuple[str, str]:
    """Return the `default_properties` of a configuration, and the place where they are written."""
    init = base.sections.get(base.sections["default"].get("openssl_conf", ""), {})
    name = init.get("alg_section", "")
    query = base.sections.get(name, {}).get("default_properties", "")
    return query, base.places.get((name, "default_properties"), "")


def hindrance(query: str, winner: str) -> Clause | None:
    """Return the part of a query that gives a program `winner` and not ours, if there is one."""
    found = clauses(query)
    demanded = [clause for clause in found if clause.excludes_us()]
    preferred = [
        clause for clause in found if clause.is_optional and winner in (clause.name, clause.value)
    ]
    return next(iter([*demanded, *preferred]), None)


# ---- Our configuration --------------------------------------------------------------------------


def added_text(before: Base, module: str) -> str:
    """Return a configuration that includes another and adds the provider."""
    base = before.sections
    for path in filter(None, (before.path, module)):
        if re.search(r"[\s#$\\\"']", path):
            raise EverycoreError(
                f"OpenSSL's configuration cannot name '{path}'",
                "use a path without blanks and quotes",
            )
    lines = [MARK, *([f".include {before.path}"] if before.path else [])]
    init_name = base.get("default", {}).get("openssl_conf", "")
    if not init_name:
        init_name = "everycore_init"
        lines += ["", "[default]", f"openssl_conf = {init_name}"]
    init = base.get(init_name, {})
    names = {
        key: init.get(key, f"everycore_{key}") for key in ("providers", "alg_section", "random")
    }
    lines += [
        "",
        f"[{init_name}]",
        *(f"{k} = {name}" for k, name in names.items() if k not in init),
    ]
    lines += _providers(before, names["providers"], module)
    lines += _preference(before, names["alg_section"])
    if "properties" not in base.get(names["random"], {}):
        lines += ["", f"[{names['random']}]", "properties = provider=default"]
    return "\n".join(lines) + "\n"


def _providers(before: Base, name: str, module: str) -> list[str]:
    """The default provider stays active: a provider that is activated ends that it is by itself."""
    base = before.sections
    listed = base.get(name, {})
    active = [provider for provider, where in listed.items() if is_active(base.get(where, {}))]
    if active and "default" not in active and active != [NAME]:
        place = before.places.get((name, active[0]), before.path)
        raise EverycoreError(
            f"{place}: it activates {', '.join(active)}, and not the default provider",
            "everycore does not change that choice; add the provider to the file by hand",
        )
    lines = ["", f"[{name}]"]
    default = listed.get("default", "everycore_default")
    if "default" not in listed:
        lines.append(f"default = {default}")
    lines.append(f"{NAME} = everycore_module")
    if "default" not in active:
        lines += ["", f"[{default}]", "activate = 1"]
    return [*lines, "", "[everycore_module]", f"module = {module}", "activate = 1"]


def _preference(before: Base, name: str) -> list[str]:
    """Preferences that are there stay, and come first."""
    query, place = preference_of(before)
    there = [
        clause for clause in clauses(query) if clause.text not in (PREFERENCE, SECOND_PREFERENCE)
    ]
    names = [clause.name for clause in there]
    for property_name in names:
        if names.count(property_name) > 1:
            raise EverycoreError(
                f"{place}: default_properties = {query} names '{property_name}' more than once, "
                "so OpenSSL ignores all of it",
                f"leave one '{property_name}' in that line",
            )
    ours = SECOND_PREFERENCE if "provider" in names else PREFERENCE
    wanted = ",".join([*(clause.text for clause in there), ours])
    return ["", f"[{name}]", f"default_properties = {wanted}"]


def is_ours(text: str) -> bool:
    return text.startswith(MARK)
