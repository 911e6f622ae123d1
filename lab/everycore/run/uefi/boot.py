# SPDX-License-Identifier: MIT
"""One start of the application in emulated firmware, and what it wrote."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from everycore.compile import debs
from everycore.environment.context import Context
from everycore.environment.errors import CannotRunError, EverycoreError
from everycore.run.uefi import medium
from everycore.run.uefi.boot_targets import DISKS, BootTarget

RUN_BYTES = 64 << 20  # of the image of a run: results of any length fit
QUIET_SECONDS = 300.0
FINISHED = "everycore: finished"
_ESCAPE = re.compile(r"\x1b\[[0-9;?=]*[A-Za-z]")
# EFI_SECURITY_VIOLATION and EFI_ACCESS_DENIED, as EDK2 and U-Boot print them of a refused image.
_REFUSED = re.compile(r"(Security Violation|Access Denied|image not authenticated)", re.IGNORECASE)
_FAULT = re.compile(r"(Exception Type|Synchronous Exception|\"Synchronous Abort\").*")


@dataclass(frozen=True, slots=True)
class Booted:
    """The end of a run: the lines of the result file, and the console."""

    result: str
    console: tuple[str, ...]


def boot(
    context: Context,
    place: BootTarget,
    application: Path,
    commands: Sequence[str],
    inputs: dict[str, Path] | None = None,
    more: Sequence[str] = (),
) -> Booted:
    """Start the application in firmware with these commands. `inputs`: further files of the medium.
    `more`: words for the emulator."""
    for name in (_code(context, place), place.variables):
        if name and not Path(name).is_file():
            raise EverycoreError(f"no firmware {name}", _install(place))
    with tempfile.TemporaryDirectory(prefix="everycore-efi.") as folder:
        image, script = Path(folder) / "disk.img", Path(folder) / "commands.txt"
        script.write_text("".join(f"{line}\n" for line in ("--shutdown", *commands)))
        files = {f"EFI/BOOT/{place.architecture.boot_name}": application}
        files |= {"everycore/commands.txt": script, **(inputs or {})}
        medium.write(context, image, RUN_BYTES, files)
        console = _watch(context, place, [*_words(context, place, image, Path(folder)), *more])
        result = medium.read(context, image, "everycore/result.jsonl")
    _refuse_unfinished(place, console, result)
    return Booted((result or b"").decode(errors="replace"), tuple(console))


def _code(context: Context, place: BootTarget) -> str:
    """The file of the firmware: of this system, or of the packages of a lock, which are fetched."""
    if not place.lock:
        return place.code
    return str(debs.unpacked(context, debs.read_lock(place.folder / place.lock)) / place.code)


def _words(context: Context, place: BootTarget, image: Path, folder: Path) -> list[str]:
    words, code = list(place.emulator), _code(context, place)
    if place.variables:
        own = folder / "variables.fd"
        shutil.copyfile(place.variables, own)
        words += ["-drive", f"if=pflash,format=raw,readonly=on,file={code}"]
        words += ["-drive", f"if=pflash,format=raw,file={own}"]
    else:
        words += [f"-{place.loaded_as}", code]
    if place.device_tree:
        words += ["-dtb", str(_compiled_tree(context, place, folder))]
    words += [word.replace("{}", str(image)) for word in DISKS[place.disk]]
    return [*words, "-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot"]


def _compiled_tree(context: Context, place: BootTarget, folder: Path) -> Path:
    source, binary = place.folder / place.device_tree, folder / "machine.dtb"
    argv = ["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", str(binary), str(source)]
    try:
        done = context.runner.run(argv)
    except CannotRunError as error:
        raise error.with_hint(_install(place)) from error
    if done.code:
        raise EverycoreError(f"dtc cannot compile {source}: {done.stderr.strip()}")
    return binary


def _watch(context: Context, place: BootTarget, argv: Sequence[str]) -> list[str]:
    """The lines of the console up to the last one that the application writes."""
    lines: list[str] = []
    try:
        with closing(context.runner.stream(argv, quiet_seconds=QUIET_SECONDS)) as stream:
            for raw in stream:
                line = _ESCAPE.sub("", raw).replace("\r", "").rstrip()
                lines.append(line)
                if line.startswith(FINISHED) or _FAULT.search(line) or _REFUSED.search(line):
                    break
    except TimeoutError:
        raise EverycoreError(
            f"{place.name}: silent for {QUIET_SECONDS:.0f} s after: {_last(lines)}",
            "a command hangs, or the firmware found nothing to start",
            code=1,
        ) from None
    except CannotRunError as error:
        raise error.with_hint(_install(place)) from error
    return lines


def _refuse_unfinished(place: BootTarget, console: Sequence[str], result: bytes | None) -> None:
    for line in console:
        if _REFUSED.search(line):
            raise EverycoreError(
                f"{place.name}: Secure Boot refused the image: {line.strip()}",
                "switch Secure Boot off, sign the .efi file (sbsign), or put its hash into db: "
                "everycore rom hash",
            )
        if _FAULT.search(line):
            raise EverycoreError(f"{place.name}: the application crashed: {line.strip()}", code=1)
    if not any(line.startswith(FINISHED) for line in console):
        raise EverycoreError(
            f"{place.name}: the application did not come to its end; last: {_last(console)}",
            "is the firmware one for this machine, and does it start from a disk?",
        )
    if not result:
        said = next((line for line in console if "cannot write" in line or "no file" in line), "")
        raise EverycoreError(f"{place.name}: no result file: {said or _last(console)}")


def _last(lines: Sequence[str]) -> str:
    return next((line for line in reversed(lines) if line.strip()), "nothing")


def _install(place: BootTarget) -> str:
    return f"Debian: apt-get install {' '.join(place.packages)}" if place.packages else ""
