# SPDX-License-Identifier: MIT
"""The only reader of catalog/targets/ and peers.toml: places to run, CPUs and libraries by name."""

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.toml_tables import expect, read_toml, required_of, shape_of
from everycore.model.domain import Board, CpuModel, Hardware, Newest, Peer, Target, Tree, Vendored

CPU_FILE = "cpus.toml"
FIRMWARE = "efi-"  # targets of `everycore efi run`: run/uefi/boot_targets.py
PEER_FILE = "peers.toml"
HARDWARE = ("vaes256", "sse", "ssse3", "c")  # what a peer can be switched to
_PEER_TABLES: Mapping[str, type] = {"vendored": Vendored, "newest": Newest}
_NAMES = "names"  # the table of other names in CPU_FILE
_DECORATION = re.compile(r"\((r|tm|c)\)|\b(cpu|processor)\b|\b\d+-core\b|\brev \d.*$")
# Words in front of a name, and the architectures of what they name: an "Intel m3" is no Apple M3.
_MAKERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("intelceleron", "intelpentiumsilver", "intelpentium", "intelatom"), ("x86",)),
    **dict.fromkeys(("celeron", "pentiumsilver", "pentiumgold", "pentium", "atom"), ("x86",)),
    **dict.fromkeys(("intelpentiumgold", "intel", "amd"), ("x86",)),
    **dict.fromkeys(("zhaoxinkaixian", "zhaoxinkaisheng", "zhaoxin", "hygon", "via"), ("x86",)),
    **dict.fromkeys(("apple", "aws", "amazon", "ampere", "nvidia", "hisilicon"), ("a64",)),
    **dict.fromkeys(("arm", "rockchip", "allwinner", "amlogic", "broadcom"), ("a64", "a32")),
    **dict.fromkeys(("mediatek", "samsung", "google", "microsoft"), ("a64", "a32")),
    "ibm": ("ppc64", "s390x"),
}
_ALIKE = 0.7  # least likeness of a name that is meant perhaps
_MOST_NEAR = 3
_AES_UNIT = {"aes", "pmull", "pclmul", "sha2"}  # instructions that come and go together
TRANSPORTS = ("local", "qemu", "bochs", "hercules", "ssh")
# Modules that run a program: --cpu, the model, and the program's words.
EXECUTE = {"bochs": "everycore.run.bochs.execute", "hercules": "everycore.run.hercules.z_machine"}
BUILDS = ("here", "there")


def target_names(tree: Tree) -> list[str]:
    return sorted(
        path.stem
        for path in (tree.root / "catalog/targets").glob("*.toml")
        if path.name != CPU_FILE and not path.name.startswith(FIRMWARE)
    )


def load_target(tree: Tree, name: str) -> Target:
    """A target of catalog/targets/ by its name, or any other by the path of its file."""
    if name.endswith(".toml") or "/" in name:
        path = Path(name).expanduser()
        if not path.is_file():
            raise EverycoreError(
                f"no target file {path}", "docs/guides/adding-a-target.md shows one"
            )
        return read_target(path)
    if name.startswith(FIRMWARE):
        raise EverycoreError(f"{name} is firmware", f"everycore efi run --target {name}")
    names = target_names(tree)
    if name not in names:
        error = unknown_name("target", name, names)
        raise EverycoreError(error.message, f"{error.hint}; or name a file: ./{name}.toml")
    return read_target(tree.root / "catalog/targets" / f"{name}.toml")


def read_target(path: Path) -> Target:
    table = read_toml(path)
    shape = shape_of(Target, {"name"}) | {"board": dict}
    values = expect(path.name, table, shape, ["description"])
    board = values.pop("board", None)
    target = Target(name=path.stem, **values)
    if target.transport not in TRANSPORTS:
        raise EverycoreError(
            f"{path.name}: unknown transport '{target.transport}'",
            f"valid: {', '.join(TRANSPORTS)}",
        )
    if (board is not None) != (target.transport == "ssh"):
        raise EverycoreError(
            f'{path.name}: the table [board] and transport = "ssh" belong together',
            "docs/guides/adding-a-target.md shows one",
        )
    if target.transport == "qemu" and not target.emulator:
        raise EverycoreError(
            f"{path.name}: transport = \"qemu\" lacks 'emulator'",
            'emulator = ["qemu-aarch64"], or whatever runs its programs',
        )
    if target.has_cpu_model != bool(target.cpu_model):
        raise EverycoreError(
            f'{path.name}: \'cpu_model\' and transport = "bochs" or "hercules" belong together',
            'cpu_model = "arrow_lake", or another model of Bochs; "2827", or another type of Z',
        )
    if target.has_cpu_model:
        words = ("-m", EXECUTE[target.transport], "--cpu", target.cpu_model)
        target = replace(target, emulator=(sys.executable, *words))
    return target if board is None else replace(target, board=_board(path.name, board))


def _board(file: str, table: dict[str, Any]) -> Board:
    where = f"{file}: [board]"
    board = Board(**expect(where, table, shape_of(Board), ["host"]))
    # It is a word of ssh's command line, where it must not be an option.
    if not board.host or board.host.startswith("-") or len(board.host.split()) != 1:
        raise EverycoreError(f"{where}: '{board.host}' is no host")
    if board.build not in BUILDS:
        raise EverycoreError(
            f"{where}: unknown build '{board.build}'", f"valid: {', '.join(BUILDS)}"
        )
    for name, words in (("identity", [board.identity]), ("options", board.options)):
        if any(len(word.split()) > 1 for word in words):
            raise EverycoreError(
                f"{where}: a word of {name} has spaces, with which execnet cannot start ssh",
                "say it in ~/.ssh/config under an alias, and name the alias as host",
            )
    if not 0 <= board.port < 1 << 16 or board.timeout_seconds < 1:
        raise EverycoreError(f"{where}: port and timeout_seconds want numbers above 0")
    return board


def load_cpus(tree: Tree) -> dict[str, CpuModel]:
    """Every CPU of catalog/targets/cpus.toml; one may build on an earlier one."""
    table = read_toml(tree.root / "catalog/targets" / CPU_FILE)
    cpus: dict[str, CpuModel] = {}
    for name, entry in table.items():
        if name != _NAMES:
            cpus[name] = _cpu(name, entry, cpus)
    return cpus


def other_names(tree: Tree) -> dict[str, str]:
    """Return other names of CPUs, as `spelled` has them but for their ? and *; the CPU of each."""
    table = read_toml(tree.root / "catalog/targets" / CPU_FILE).get(_NAMES, {})
    expect(f"{CPU_FILE}: [{_NAMES}]", table, dict.fromkeys(table, str))
    return {spelled(name, "?*[]"): str(cpu) for name, cpu in table.items()}


def spelled(name: str, also: str = "") -> str:
    """Return a name without what people write in different ways: only small letters and digits.

    A model name of /proc/cpuinfo has signs, the clock and the number of cores in it.
    """
    text = _DECORATION.sub(" ", name.lower().partition("@")[0])
    return "".join(c for c in text if c in also or (c.isascii() and c.isalnum()))


def load_peers(tree: Tree) -> list[Peer]:
    table = read_toml(tree.root / "catalog/peers" / PEER_FILE)
    return [_peer(name, entry) for name, entry in table.items()]


def find_peer(tree: Tree, name: str) -> Peer:
    peers = {peer.name: peer for peer in load_peers(tree)}
    if name not in peers:
        raise unknown_name("peer", name, peers)
    return peers[name]


def find_cpu(tree: Tree, name: str) -> CpuModel:
    """Return the CPU of a name: that of cpus.toml, or one that people call it by."""
    cpus = load_cpus(tree)
    if name in cpus:
        return cpus[name]
    word, others = spelled(name), other_names(tree)
    if found := _called(word, cpus, others):
        return cpus[found]
    for maker, arches in _MAKERS.items():
        if word.startswith(maker) and len(word) > len(maker):
            found = _called(word.removeprefix(maker), cpus, others)
            if found and cpus[found].arch in arches:
                return cpus[found]
    near = _near(word, cpus, others)
    hint = f"nearest: {', '.join(near)}; " if near else ""
    raise EverycoreError(
        f"unknown CPU '{name}'",
        f"{hint}`everycore resolve --cpus` lists the names; of a product by AMD or Intel, give the"
        " generation, such as zen4 or tigerlake, of others the core or model, such as power9, z15"
        " or spacemit-x60; --arch and --features describe any CPU",
    )


def _called(word: str, cpus: Mapping[str, CpuModel], others: Mapping[str, str]) -> str:
    for name in cpus:
        if spelled(name) == word:
            return name
    return next((cpu for form, cpu in others.items() if fnmatchcase(word, form)), "")


def _near(word: str, cpus: Mapping[str, CpuModel], others: Mapping[str, str]) -> list[str]:
    """Return at most three names that resemble a word; all of one architecture, or none."""
    known = {spelled(name): name for name in cpus}
    others = {form.rstrip("*"): cpu for form, cpu in others.items()}
    known |= {form: form for form in others if form.isalnum()}
    rank = {  # the likeness, and of equal ones the distance of the numbers: rpi6 is next to rpi5
        form: (-SequenceMatcher(None, word, form).ratio(), abs(_digits(word) - _digits(form)))
        for form in known
        if form[:1] == word[:1] and not word.isdigit()
    }
    near = sorted((form for form in rank if -rank[form][0] >= _ALIKE), key=lambda form: rank[form])
    arch_of = {
        form: cpus[known[form] if known[form] in cpus else others[form]].arch for form in near
    }
    if len({arch_of[form] for form in near if rank[form] == rank[near[0]]}) != 1:
        return []
    return [known[form] for form in near if arch_of[form] == arch_of[near[0]]][:_MOST_NEAR]


def _digits(word: str) -> int:
    return int("".join(c for c in word if c.isdigit()) or "0")


def without_aes(tree: Tree, name: str) -> list[str]:
    """Return the CPUs that are like one with AES instructions, and lack these: its other builds.

    Such a CPU adds nothing, and takes nothing else away than the instructions that use AES's unit.
    """
    table, cpus = read_toml(tree.root / "catalog/targets" / CPU_FILE), load_cpus(tree)
    if "aes" not in cpus[name].features:
        return []
    found = {name}
    for other, entry in table.items():
        is_less = set(entry.get("lacks", ())) <= _AES_UNIT and not entry.get("adds")
        if entry.get("like") in found and is_less and "aes" not in cpus[other].features:
            found.add(other)
    return [other for other in table if other in found - {name}]


def _cpu(name: str, entry: dict[str, Any], earlier: dict[str, CpuModel]) -> CpuModel:
    shape = {"arch": str, "features": list, "source": str, "multiplies_early": bool}
    expect(f"{CPU_FILE}: [{name}]", entry, shape | {"like": str, "lacks": list, "adds": list})
    early = entry.get("multiplies_early", False)
    try:
        if "like" in entry:
            base = earlier[entry["like"]]
            lacks = set(entry.get("lacks", ()))
            kept = tuple(f for f in base.features if f not in lacks)
            features = kept + tuple(entry.get("adds", ()))
            return CpuModel(name, base.arch, features, entry["source"], early)
        return CpuModel(name, entry["arch"], tuple(entry["features"]), entry["source"], early)
    except KeyError as error:
        raise EverycoreError(f"{CPU_FILE}: [{name}] lacks or names an unknown {error}") from error


def _peer(name: str, entry: dict[str, Any]) -> Peer:
    where = f"{PEER_FILE}: [{name}"
    tables = dict.fromkeys(("build", "hardware", *_PEER_TABLES), dict)
    shape = shape_of(Peer, ("name", "adapter")) | {"source": str} | tables
    values = expect(f"{where}]", entry, shape, ["packages", "libraries"])
    for member in _PEER_TABLES.keys() & values.keys():
        kind = _PEER_TABLES[member]
        inner = expect(f"{where}.{member}]", values[member], shape_of(kind), required_of(kind))
        values[member] = kind(**inner)
    build, cases = values.pop("build", {}), values.pop("hardware", {})
    expect(f"{where}.build]", build, dict.fromkeys(build, str))
    expect(f"{where}.hardware]", cases, dict.fromkeys(HARDWARE, dict))
    for case, env in cases.items():
        expect(f"{where}.hardware.{case}]", env, dict.fromkeys(env, str))
    hardware = tuple(Hardware(case, tuple(env.items())) for case, env in cases.items())
    adapter = values.pop("source", "")
    return Peer(name, adapter=adapter, build=tuple(build.items()), hardware=hardware, **values)
