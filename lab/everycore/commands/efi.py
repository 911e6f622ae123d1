# SPDX-License-Identifier: MIT
"""everycore efi: does an EFI driver keep the rules that machines other than PCs need?"""

import json as jsonlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import Json, context_of
from everycore.context import Context
from everycore.errors import EverycoreError
from everycore.firmware import codec, oprom, pe
from everycore.firmware.efi import check as checking
from everycore.firmware.efi import report, sarif, symbols
from everycore.firmware.efi.check import Checked, Options
from everycore.firmware.efi.devices.device import Identity, read_identity
from everycore.firmware.efi.platforms import PLATFORMS, Translation, platform_of, read_range
from everycore.firmware.malformed import MalformedError
from everycore.firmware.sources import MOST_FILE_BYTES
from everycore.outputs import atomic_output, refuse_input
from everycore.progress import Progress

MOST_MAP_BYTES = 64 << 20
MOST_SECONDS = 600.0

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check EFI drivers by reading them and by running them.",
)


@app.callback()
def efi() -> None:
    """Commands of EFI drivers; check is the one there is."""


@app.command("check")
def check(
    command: typer.Context,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="EFI drivers, or option ROMs with them.")
    ],
    platform: Annotated[
        list[str] | None,
        typer.Option(
            "--platform", metavar="NAME", help=f"Only this: {', '.join(PLATFORMS)}; repeatable."
        ),
    ] = None,
    static: Annotated[
        bool, typer.Option("--static", help="Read the driver, do not run it.")
    ] = False,
    device: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            metavar="VENDOR:DEVICE:CLASS",
            help="A device to offer beside the models, as registers only; repeatable.",
        ),
    ] = None,
    fixed_memory: Annotated[
        list[str] | None,
        typer.Option(
            "--fixed-memory",
            metavar="ADDRESS+LENGTH",
            help="Memory that the driver's firmware keeps at a fixed address; repeatable.",
        ),
    ] = None,
    bar_convention: Annotated[
        Translation,
        typer.Option("--bar-convention", help="Who describes translated BARs: UEFI, or ACPI."),
    ] = Translation.UEFI,
    map_file: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="The linker's map, for names.")
    ] = None,
    sarif_file: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="Write findings as SARIF 2.1.0.")
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", help="The time of one run.", min=0.1, max=MOST_SECONDS)
    ] = checking.SECONDS,
    json: Json = False,
) -> None:
    """Check drivers; exit code 1 if one violates a rule."""
    context = context_of(command)
    if sarif_file is not None:
        read = [*files, *([str(map_file)] if map_file else [])]
        refuse_input("--sarif", context.cwd / sarif_file, [context.cwd / name for name in read])
    images = [one for name in files for one in _images(context, name)]
    if map_file and len(images) != 1:
        raise EverycoreError(
            f"--map belongs to one image, not to {len(images)}", "check one driver"
        )
    options = Options(
        platforms=tuple(platform_of(name) for name in dict.fromkeys(platform or ())),
        static=static,
        others=tuple(read_identity(text) for text in device or ()),
        fixed=tuple(read_range(text) for text in fixed_memory or ()),
        translation=bar_convention,
        seconds=seconds,
    )
    found: list[Checked] = []
    with Progress(context.err, "checking", len(images)) as progress:
        for name, image, identities in images:
            progress.step(name)
            named = _with_names(context, options, identities, map_file, image)
            found.append(checking.check(context, name, image, named))
    for checked in found:
        _show(context, checked, json)
    if sarif_file is not None:
        with atomic_output(context.cwd / sarif_file, context.out.file) as scratch:
            text = jsonlib.dumps(sarif.document(found, _version()), indent=1)
            scratch.write_text(text + "\n", encoding="utf-8")
    if any(checked.has_violations for checked in found):
        raise typer.Exit(1)


def _version() -> str:
    try:
        return version("everycore")
    except PackageNotFoundError:
        return "not installed"


def _with_names(
    context: Context,
    options: Options,
    identities: tuple[Identity, ...],
    map_file: Path | None,
    image: pe.Image,
) -> Options:
    options = replace(options, others=(*options.others, *identities))
    if map_file is None:
        return options
    data = _read_file(context, str(map_file), MOST_MAP_BYTES)
    text = data.decode("utf-8", errors="replace")
    return replace(options, symbols=symbols.read(text, str(map_file), image.base))


def _show(context: Context, checked: Checked, json: bool) -> None:
    if json:
        for line in report.json_lines(checked):
            context.print_raw(line)
        return
    for style, line in report.lines(checked):
        context.out.print(line, style=style, markup=False, soft_wrap=True)
    for note in checked.notes:
        context.warn(f"{checked.name}: {note}")


def _read_file(context: Context, name: str, most: int) -> bytes:
    try:
        with (context.cwd / name).open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        raise EverycoreError(
            f"{name}: no such file", "name an .efi file or an option ROM"
        ) from None
    except OSError as error:
        raise EverycoreError(f"{name}: cannot be read: {error.strerror}", "name a file") from error
    if len(data) > most:
        raise EverycoreError(f"{name}: more than {most >> 20} MiB", "no driver is so large")
    return data


def _images(context: Context, name: str) -> Iterator[tuple[str, pe.Image, tuple[Identity, ...]]]:
    """The drivers in a file: names, images, and the devices that the file is for."""
    data = _read_file(context, name, MOST_FILE_BYTES)
    try:
        if pe.is_pe(data) or data[:2] == b"VZ":
            yield name, _loadable(pe.read(data)), ()
            return
        rom = oprom.read(data)
    except MalformedError as error:
        raise error.named(name) from None
    n_drivers = 0
    for image in rom.images:
        if image.efi is None or image.pci is None:
            continue
        n_drivers += 1
        driver = oprom.driver(image, partial(codec.decompress, context))
        label = f"{name}:{image.number}"
        if driver.pe is None:
            assert driver.fault is not None
            raise driver.fault.named(label)
        identity = Identity(image.pci.vendor, image.pci.device, image.pci.class_code)
        try:
            yield label, _loadable(driver.pe), (identity,)
        except MalformedError as error:
            raise error.named(label) from None
    if not n_drivers:
        raise EverycoreError(f"{name}: no EFI driver in it", "everycore rom list shows what is")


def _loadable(image: pe.Image) -> pe.Image:
    """The image, if it is for a machine of UEFI, and a loader can lay it out and relocate it."""
    if image.machine not in pe.MACHINES:
        raise MalformedError(
            image.machine_offset, f"no machine of UEFI: {image.machine_name}", "name an EFI driver"
        )
    pe.memory(image)
    for _ in pe.relocations(image):
        pass
    return image
