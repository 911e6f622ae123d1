# SPDX-License-Identifier: MIT
"""Builds the C drivers of drivers/ as EFI images, by clang and lld-link."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent / "drivers"
RULES, RULES_OF_X86, HOSTILE = "rules.c", "rules_x86.c", "hostile.c"
TARGETS = {"x86-64": "x86_64-unknown-windows", "aarch64": "aarch64-unknown-windows"}
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wno-infinite-recursion")
CODE = ("-O1", "-ffreestanding", "-fno-stack-protector", "-mno-stack-arg-probe", "-fshort-wchar")
LINK = ("/subsystem:efi_boot_service_driver", "/nxcompat")
_HOOK = re.compile(r"^(ENTRY|SUPPORTED|START|STOP)\((\w+)\)$", re.M)
# Drivers of other devices, or that ask for theirs in another way: macros of driver.h.
MACROS = {
    "binding_not_by_driver": ("-DHOW=2",),  # EFI_OPEN_PROTOCOL_GET_PROTOCOL
    "dma_after_stop": ("-DVENDOR=0x8086", "-DDEVICE=0x24cd", "-DLEFT_ON=0x400"),  # bus mastering
    "dma_dual_address_cycle": ("-DENABLED=ATTRIBUTES",),
    "pci_not_enabled": ("-DENABLED=LONG_ADDRESSES",),
    "run_not_started": ("-DVENDOR=0xfffe",),  # which nobody has
}


def find_tools() -> str:
    """The tools that are missing to build drivers; empty: none."""
    missing = [name for name in ("clang", "lld-link") if shutil.which(name) is None]
    return f"no {' and no '.join(missing)}: apt-get install clang lld" if missing else ""


def hooks(*files: str) -> list[tuple[str, str]]:
    """The functions of drivers in these files: the step of the driver's life, and its name."""
    return [hook for file in files for hook in _HOOK.findall((FOLDER / file).read_text("utf-8"))]


def names() -> list[str]:
    """All drivers, by the rule that they break; and clean."""
    return sorted({*MACROS, *(name for _, name in hooks(RULES, RULES_OF_X86))})


def attacks() -> list[str]:
    """All drivers that attack the checker."""
    return sorted(name for _, name in hooks(HOSTILE))


def is_for(name: str, machine: str) -> bool:
    """Whether a driver can be built for a machine."""
    return machine == "x86-64" or name not in (hook for _, hook in hooks(RULES_OF_X86))


def build(
    folder: Path, name: str, machine: str, link: Sequence[str] = LINK, *, map_file: bool = False
) -> Path:
    """Compile and link one driver; returns the image."""
    target, stem = TARGETS[machine], f"{name}.{machine}"
    unit, image = folder / f"{stem}.obj", folder / f"{stem}.efi"
    red_zone = ("-mno-red-zone",) if machine == "x86-64" else ()
    steps = [step for step, hook in hooks(RULES, RULES_OF_X86, HOSTILE) if hook == name]
    own = [*MACROS.get(name, ()), *(f"-DON_{step}={name}_{step.lower()}" for step in steps)]
    source = FOLDER / (HOSTILE if name in attacks() else RULES)
    files = ("-c", str(source), "-o", str(unit))
    arguments = ("-target", target, *CODE, *red_zone, *WARNINGS, *own, *files)
    subprocess.run(("clang", *arguments), check=True)
    maps = (f"/map:{folder / stem}.map",) if map_file else ()
    common = ("/nologo", "/dll", "/entry:efi_main", "/nodefaultlib", f"/out:{image}")
    subprocess.run(("lld-link", *common, *link, *maps, str(unit)), check=True, cwd=folder)
    return image
