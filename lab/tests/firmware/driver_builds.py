# SPDX-License-Identifier: MIT
"""Builds the C drivers of drivers/ as EFI images, by clang and lld-link."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

SOURCES = Path(__file__).parent / "drivers"
HOSTILE = Path(__file__).parent / "hostile"
TARGETS = {"x86-64": "x86_64-unknown-windows", "aarch64": "aarch64-unknown-windows"}
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wno-infinite-recursion")
CODE = ("-O1", "-ffreestanding", "-fno-stack-protector", "-mno-stack-arg-probe", "-fshort-wchar")
LINK = ("/subsystem:efi_boot_service_driver", "/nxcompat")


def find_tools() -> str:
    """The tools that are missing to build drivers; empty: none."""
    missing = [name for name in ("clang", "lld-link") if shutil.which(name) is None]
    return f"no {' and no '.join(missing)}: apt-get install clang lld" if missing else ""


def names() -> list[str]:
    """All drivers, by the rule that they break; and clean."""
    return sorted(path.stem for path in SOURCES.glob("*.c"))


def source_of(name: str) -> Path:
    """The file of a driver of either folder."""
    return next(f / f"{name}.c" for f in (SOURCES, HOSTILE) if (f / f"{name}.c").is_file())


def is_for(name: str, machine: str) -> bool:
    """Whether a driver can be built for a machine."""
    text = source_of(name).read_text(encoding="utf-8")
    return machine == "x86-64" or "#if !defined(__x86_64__)" not in text


def build(
    folder: Path, name: str, machine: str, link: Sequence[str] = LINK, *, map_file: bool = False
) -> Path:
    """Compile and link one driver; returns the image."""
    target, stem = TARGETS[machine], f"{name}.{machine}"
    unit, image = folder / f"{stem}.obj", folder / f"{stem}.efi"
    red_zone = ("-mno-red-zone",) if machine == "x86-64" else ()
    files = ("-c", str(source_of(name)), "-o", str(unit))
    arguments = ("-target", target, *CODE, *red_zone, *WARNINGS, *files)
    subprocess.run(("clang", *arguments), check=True)
    maps = (f"/map:{folder / stem}.map",) if map_file else ()
    common = ("/nologo", "/dll", "/entry:efi_main", "/nodefaultlib", f"/out:{image}")
    subprocess.run(("lld-link", *common, *link, *maps, str(unit)), check=True, cwd=folder)
    return image
