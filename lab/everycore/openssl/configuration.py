# SPDX-License-Identifier: MIT
"""A configuration of OpenSSL that keeps what another has, and prefers the provider (config(5))."""

import re
from collections.abc import Callable, Mapping

from everycore.environment.errors import EverycoreError

MARK = "# Made by `everycore provider enable`; `everycore provider disable` removes it."
NAME = "everycore"
PREFERENCE = f"?provider={NAME}"
_SECTION = re.compile(r"^\s*\[\s*([^]]*?)\s*\]")
_VALUE = re.compile(r"^\s*([^=\s]+)\s*=\s*(.*?)\s*$")
_INCLUDE = re.compile(r"^\s*\.include\s*=?\s*(.+?)\s*$")
_DEEPEST = 10  # of files that include files

Sections = Mapping[str, Mapping[str, str]]


def sections(text: str, read: Callable[[str], list[str]]) -> dict[str, dict[str, str]]:
    """Return the values of each section; those before the first are of the section `default`.

    read: the texts behind an `.include`, one for a file, several for a folder.
    """
    found: dict[str, dict[str, str]] = {"default": {}}
    _collect(text, read, found, "default", 0)
    return found


def _collect(
    text: str,
    read: Callable[[str], list[str]],
    found: dict[str, dict[str, str]],
    section: str,
    depth: int,
) -> None:
    if depth > _DEEPEST:
        raise EverycoreError("the configuration includes itself", "remove the .include of itself")
    for raw in re.sub(r"\\\n", "", text).splitlines():
        line = re.sub(r"(^|\s)#.*", "", raw)
        if include := _INCLUDE.match(line):
            for other in read(include[1].strip('"')):
                _collect(other, read, found, section, depth + 1)
        elif header := _SECTION.match(line):
            section = header[1]
            found.setdefault(section, {})
        elif value := _VALUE.match(line):
            found[section][value[1]] = value[2].strip('"')


def is_active(values: Mapping[str, str]) -> bool:
    """Whether the section of a provider activates it: a value that says no does not."""
    return values.get("activate", "0").lower() not in ("0", "no", "off", "false")


def added_text(base: Sections, base_path: str | None, module: str) -> str:
    """Return a configuration that includes another and adds the provider.

    base: the sections of what is at base_path; without a path there is none.
    """
    for path in filter(None, (base_path, module)):
        if re.search(r"[\s#$\\\"']", path):
            raise EverycoreError(
                f"OpenSSL's configuration cannot name '{path}'",
                "use a path without blanks and quotes",
            )
    lines = [MARK, *([f".include {base_path}"] if base_path else [])]
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
    lines += _providers(base, names["providers"], module)
    lines += _preference(base.get(names["alg_section"], {}), names["alg_section"])
    if "properties" not in base.get(names["random"], {}):
        lines += ["", f"[{names['random']}]", "properties = provider=default"]
    return "\n".join(lines) + "\n"


def _providers(base: Sections, name: str, module: str) -> list[str]:
    """The default provider stays active: a provider that is activated ends that it is by itself."""
    listed = base.get(name, {})
    active = [one for one, where in listed.items() if is_active(base.get(where, {}))]
    if active and "default" not in active and active != [NAME]:
        raise EverycoreError(
            f"the configuration activates {', '.join(active)}, and not the default provider",
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


def _preference(values: Mapping[str, str], name: str) -> list[str]:
    """Preferences that are there stay, and come first."""
    there = [one.strip() for one in values.get("default_properties", "").split(",") if one.strip()]
    wanted = ",".join([*(one for one in there if one != PREFERENCE), PREFERENCE])
    return ["", f"[{name}]", f"default_properties = {wanted}"]


def is_ours(text: str) -> bool:
    return text.startswith(MARK)
