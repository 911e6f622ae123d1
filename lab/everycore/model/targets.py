# SPDX-License-Identifier: MIT
"""The only reader of targets/ and peers/peers.toml: places to run, CPUs and libraries by name."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from everycore.environment.errors import EverycoreError, unknown_name
from everycore.model.domain import Board, CpuModel, Hardware, Peer, Target, Tree
from everycore.model.toml_tables import expect, read_toml, shape_of

CPU_FILE = "cpus.toml"
FIRMWARE = "efi-"  # targets of `everycore efi run`: firmware/boot_targets.py
PEER_FILE = "peers.toml"
HARDWARE = ("vaes256", "sse", "ssse3", "c")  # what a peer can be switched to
_AES_UNIT = {"aes", "pmull", "pclmul"}  # instructions that come and go together
TRANSPORTS = ("local", "qemu", "ssh")
BUILDS = ("here", "there")
PEER_SHAPE: dict[str, type] = {
    **dict.fromkeys(("source", "crate", "module", "since"), str),
    **dict.fromkeys(("packages", "libraries", "includes", "primitives"), list),
    **dict.fromkeys(("build", "hardware"), dict),
}


def target_names(tree: Tree) -> list[str]:
    return sorted(
        path.stem
        for path in (tree.root / "targets").glob("*.toml")
        if path.name != CPU_FILE and not path.name.startswith(FIRMWARE)
    )


def load_target(tree: Tree, name: str) -> Target:
    """A target of targets/ by its name, or any other by the path of its file."""
    if name.endswith(".toml") or "/" in name:
        path = Path(name).expanduser()
        if not path.is_file():
            raise EverycoreError(f"no target file {path}", "docs/ADDING-A-TARGET.md shows one")
        return read_target(path)
    if name.startswith(FIRMWARE):
        raise EverycoreError(f"{name} is firmware", f"everycore efi run --target {name}")
    names = target_names(tree)
    if name not in names:
        error = unknown_name("target", name, names)
        raise EverycoreError(error.message, f"{error.hint}; or name a file: ./{name}.toml")
    return read_target(tree.root / "targets" / f"{name}.toml")


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
            "docs/ADDING-A-TARGET.md shows one",
        )
    if target.transport == "qemu" and not target.emulator:
        raise EverycoreError(
            f"{path.name}: transport = \"qemu\" lacks 'emulator'",
            'emulator = ["qemu-aarch64"], or whatever runs its programs',
        )
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
    """Every CPU of targets/cpus.toml; one may build on an earlier one."""
    table = read_toml(tree.root / "targets" / CPU_FILE)
    cpus: dict[str, CpuModel] = {}
    for name, entry in table.items():
        cpus[name] = _cpu(name, entry, cpus)
    return cpus


def load_peers(tree: Tree) -> list[Peer]:
    table = read_toml(tree.root / "peers" / PEER_FILE)
    return [_peer(name, entry) for name, entry in table.items()]


def find_peer(tree: Tree, name: str) -> Peer:
    peers = {peer.name: peer for peer in load_peers(tree)}
    if name not in peers:
        raise unknown_name("peer", name, peers)
    return peers[name]


def find_cpu(tree: Tree, name: str) -> CpuModel:
    cpus = load_cpus(tree)
    if name not in cpus:
        raise unknown_name("CPU", name, cpus)
    return cpus[name]


def without_aes(tree: Tree, name: str) -> list[str]:
    """Return the CPUs that are like one with AES instructions, and lack these: its other builds.

    Such a CPU adds nothing, and takes nothing else away than the instructions that use AES's unit.
    """
    table, cpus = read_toml(tree.root / "targets" / CPU_FILE), load_cpus(tree)
    if "aes" not in cpus[name].features:
        return []
    found = {name}
    for other, entry in table.items():
        is_less = set(entry.get("lacks", ())) <= _AES_UNIT and not entry.get("adds")
        if entry.get("like") in found and is_less and "aes" not in cpus[other].features:
            found.add(other)
    return [other for other in table if other in found - {name}]


def _cpu(name: str, entry: dict[str, Any], earlier: dict[str, CpuModel]) -> CpuModel:
    shape = {"arch": str, "features": list, "source": str}
    expect(f"{CPU_FILE}: [{name}]", entry, shape | {"like": str, "lacks": list, "adds": list})
    try:
        if "like" in entry:
            base = earlier[entry["like"]]
            lacks = set(entry.get("lacks", ()))
            kept = tuple(f for f in base.features if f not in lacks)
            return CpuModel(name, base.arch, kept + tuple(entry.get("adds", ())), entry["source"])
        return CpuModel(name, entry["arch"], tuple(entry["features"]), entry["source"])
    except KeyError as error:
        raise EverycoreError(f"{CPU_FILE}: [{name}] lacks or names an unknown {error}") from error


def _peer(name: str, entry: dict[str, Any]) -> Peer:
    where = f"{PEER_FILE}: [{name}"
    expect(f"{where}]", entry, PEER_SHAPE, ["packages", "libraries"])
    build, cases = entry.get("build", {}), entry.get("hardware", {})
    expect(f"{where}.build]", build, dict.fromkeys(build, str))
    expect(f"{where}.hardware]", cases, dict.fromkeys(HARDWARE, dict))
    for case, env in cases.items():
        expect(f"{where}.hardware.{case}]", env, dict.fromkeys(env, str))
    return Peer(
        name,
        tuple(entry["packages"]),
        tuple(entry["libraries"]),
        includes=tuple(entry.get("includes", ())),
        adapter=entry.get("source", ""),
        crate=entry.get("crate", ""),
        build=tuple(build.items()),
        module=entry.get("module", ""),
        since=entry.get("since", ""),
        hardware=tuple(Hardware(case, tuple(env.items())) for case, env in cases.items()),
        primitives=tuple(entry.get("primitives", ("aes",))),
    )
