# SPDX-License-Identifier: MIT
"""The only reader of efi-*.toml: firmware in which the harness is an EFI application."""

from dataclasses import dataclass
from pathlib import Path

from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.toml_tables import expect, read_toml, required_of, shape_of
from everycore.model.domain import Tree
from everycore.model.targets import FIRMWARE


@dataclass(frozen=True, slots=True)
class Architecture:
    """A machine of UEFI, and how the harness is made for it."""

    name: str
    boot_name: str  # UEFI Specification 2.10, section 3.5.1.1
    pe_machine: int  # Microsoft PE Format, machine types
    triple: str
    flags: tuple[str, ...]


ARCHITECTURES = {
    architecture.name: architecture
    for architecture in (
        Architecture(
            "x86_64", "BOOTX64.EFI", 0x8664, "x86_64-unknown-none-elf", ("-mno-red-zone",)
        ),
        Architecture(
            "aarch64",
            "BOOTAA64.EFI",
            0xAA64,
            "aarch64-none-elf",
            ("-DEVC_CPU_BY_ID_REGISTERS", "-ffixed-x18"),
        ),
    )
}


# Other names of these: those that `everycore rom` has and takes.
OTHER_NAMES = {"x86-64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}


LOADED_AS = ("bios", "kernel")  # the emulator's options for firmware of one file
DISKS = {  # the emulator's words for the medium; {}: the image
    "virtio": (
        "-drive", "file={},format=raw,if=none,id=disk,cache=unsafe",
        "-device", "virtio-blk-pci,drive=disk,bootindex=0", "-net", "none",
    ),
    "sd": ("-drive", "file={},format=raw,if=sd,cache=unsafe"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BootTarget:
    """A machine with firmware: one file of catalog/targets/.

    lock: of packages that hold the firmware, which then need not be installed; beside the target's
    file, as device_tree is. code: then a path in these packages.
    """

    name: str
    description: str
    machine: str
    emulator: tuple[str, ...]
    code: str
    variables: str = ""  # empty: the firmware is one file, and no flash memory
    loaded_as: str = "bios"  # of LOADED_AS; variables: in flash memory
    device_tree: str = ""  # a source that dtc compiles
    disk: str = "virtio"  # of DISKS
    lock: str = ""
    packages: tuple[str, ...] = ()
    folder: Path = Path()  # of the target's file

    @property
    def architecture(self) -> Architecture:
        return ARCHITECTURES[OTHER_NAMES.get(self.machine, self.machine)]


def names(tree: Tree) -> list[str]:
    return sorted(path.stem for path in (tree.root / "catalog/targets").glob(f"{FIRMWARE}*.toml"))


def load(tree: Tree, name: str) -> BootTarget:
    """A target by its name, or any other by the path of its file."""
    path = tree.root / "catalog/targets" / f"{name}.toml"
    if name.endswith(".toml") or "/" in name:
        path = Path(name).expanduser()
        if not path.is_file():
            raise EverycoreError(f"no target file {path}", "copy catalog/targets/efi-aavmf.toml")
    elif name not in names(tree):
        raise unknown_name("target of firmware", name, names(tree))
    given = {"name", "folder"}
    shape = shape_of(BootTarget, given)
    values = expect(path.name, read_toml(path), shape, required_of(BootTarget, given))
    place = BootTarget(name=path.stem, folder=path.parent, **values)
    if place.machine not in (*ARCHITECTURES, *OTHER_NAMES):
        raise EverycoreError(
            f"{path.name}: unknown machine '{place.machine}'", f"valid: {', '.join(ARCHITECTURES)}"
        )
    for key, value, valid in (
        ("disk", place.disk, tuple(DISKS)),
        ("loaded_as", place.loaded_as, LOADED_AS),
    ):
        if value not in valid:
            raise EverycoreError(
                f"{path.name}: unknown {key} '{value}'", f"valid: {', '.join(valid)}"
            )
    if not place.emulator:
        raise EverycoreError(f"{path.name}: 'emulator' names no program")
    return place
