# SPDX-License-Identifier: MIT
"""everycore rom: what is in an option ROM, which rules it breaks, and how to change it."""

import json as jsonlib
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import Json, context_of
from everycore.context import Context
from everycore.errors import EverycoreError, unknown_name
from everycore.firmware import codec, esl, findings, oprom, pe, rows, sources
from everycore.firmware.findings import VIOLATION
from everycore.firmware.malformed import MalformedError
from everycore.firmware.oprom import Driver, Rom
from everycore.firmware.sources import Source
from everycore.outputs import atomic_output

MACHINES = tuple(dict.fromkeys(pe.MACHINES.values()))
OWNER = uuid.UUID("8c2f3f0e-6a47-4f0b-9d55-0d2a6c1b7e90")  # of our entries in db, by default

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Read, check and change the option ROMs of PCI cards.",
)
Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="ROM...",
        help="Files, PCI devices (0000:01:00.0), or folders of PCI devices as sysfs has them.",
    ),
]
SysfsRoot = Annotated[
    Path, typer.Option("--sysfs-root", metavar="DIR", help="Where sysfs is.", show_default=True)
]


def _load(context: Context, given: Sequence[str], sysfs: Path) -> list[Source]:
    def say(text: str) -> None:
        context.err.print(text, style="dim", markup=False, soft_wrap=True)

    return sources.load_all(given, context.cwd, context.cwd / sysfs, say)


def _read(source: Source) -> Rom:
    try:
        return oprom.read(source.data)
    except MalformedError as error:
        raise error.named(source.name) from None


def _drivers(context: Context, rom: Rom) -> list[Driver]:
    decompress: Callable[[bytes], bytes] = partial(codec.decompress, context)
    return [oprom.driver(image, decompress) for image in rom.images if image.efi]


@app.command("list")
def list_images(
    command: typer.Context,
    inputs: Inputs,
    json: Json = False,
    sysfs_root: SysfsRoot = sources.SYSFS,
) -> None:
    """Show every image of option ROMs: machine, ids, lengths, checksum and hash."""
    context = context_of(command)
    for source in _load(context, inputs, sysfs_root):
        rom = _read(source)
        drivers = _drivers(context, rom)
        if not json:
            context.out.print(rows.list_table(source.name, rom, drivers))
            continue
        context.print_raw(jsonlib.dumps(rows.rom_line(source.name, rom)))
        by_number = {driver.image.number: driver for driver in drivers}
        for image in rom.images:
            line = rows.image_line(source.name, image, by_number.get(image.number))
            context.print_raw(jsonlib.dumps(line))


@app.command("check")
def check_rules(
    command: typer.Context,
    inputs: Inputs,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine", metavar="NAME", help="Does it work there? aarch64, x86-64, riscv64, ..."
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Advice counts, too.")] = False,
    json: Json = False,
    sysfs_root: SysfsRoot = sources.SYSFS,
) -> None:
    """Check the rules of PCI, UEFI and PE; the exit code is 1 if one is broken."""
    context = context_of(command)
    if machine is not None and machine not in MACHINES:
        raise unknown_name("machine", machine, MACHINES)
    is_bad = False
    for source in _load(context, inputs, sysfs_root):
        rom = _read(source)
        drivers = _drivers(context, rom)
        found = findings.check(rom, drivers, source.ids)
        violations = sum(one.severity == VIOLATION for one in found)
        is_bad |= bool(found if strict else violations)
        verdict = findings.verdict(drivers, found, machine) if machine else None
        is_bad |= verdict is not None and not verdict.works
        if json:
            lines = [one.line() for one in found] + ([verdict.line()] if verdict else [])
            for line in lines:
                context.print_raw(jsonlib.dumps({"file": source.name, **line}))
            continue
        if found:
            context.out.print(rows.findings_table(source.name, found))
        if any(one.place for one in found):
            context.out.print("* offset in the decompressed driver", style="dim")
        count = f"violations: {violations}, advice: {len(found) - violations}"
        context.out.print(f"{source.name}: {count}", markup=False, soft_wrap=True)
        if verdict:
            text = f"{source.name}: {'works' if verdict.works else 'does not work'} on {machine}: "
            context.out.print(text + verdict.text, markup=False, soft_wrap=True)
    raise typer.Exit(1 if is_bad else 0)


@app.command("hash")
def hash_drivers(
    command: typer.Context,
    inputs: Inputs,
    esl_: Annotated[
        Path | None,
        typer.Option("--esl", metavar="FILE", help="Write the hashes as a list for db."),
    ] = None,
    owner: Annotated[
        str, typer.Option("--owner", metavar="GUID", help="The owner of the entries of that list.")
    ] = str(OWNER),
    json: Json = False,
    sysfs_root: SysfsRoot = sources.SYSFS,
) -> None:
    """Print the Authenticode SHA-256 of every EFI driver, which Secure Boot asks for.

    Files may also be .efi files.
    """
    context = context_of(command)
    try:
        owner_id = uuid.UUID(owner)
    except ValueError:
        raise EverycoreError(f"--owner '{owner}' is no GUID", "uuidgen makes one") from None
    hashes: list[bytes] = []
    for source in _load(context, inputs, sysfs_root):
        for driver, image in _images_of(context, source):
            digest = pe.authenticode(image)
            hashes.append(digest)
            number = driver.image.number if driver else None
            line = {
                "type": "hash",
                "file": source.name,
                "image": number,
                "machine": image.machine_name,
                "signed": image.is_signed,
                "sha256": digest.hex(),
            }
            signed = "  signed" if image.is_signed else ""
            place = source.name if number is None else f"{source.name} image {number}"
            text = f"{digest.hex()}  {image.machine_name:8}{signed}  {place}"
            context.print_raw(jsonlib.dumps(line) if json else text)
    if not hashes:
        raise EverycoreError("no EFI driver in what was given", "everycore rom list shows it")
    if esl_ is not None:
        with atomic_output(context.cwd / esl_, context.out.file) as scratch:
            scratch.write_bytes(esl.signature_list(hashes, owner_id))
        for text in esl.commands(str(esl_), owner_id, [one.hex() for one in hashes]):
            context.err.print(text, markup=False, soft_wrap=True)


def _images_of(context: Context, source: Source) -> list[tuple[Driver | None, pe.Image]]:
    """Return the PE images of a source; a driver that cannot be read is an error."""
    if pe.is_pe(source.data):
        try:
            return [(None, pe.read(source.data))]
        except MalformedError as error:
            raise error.named(source.name) from None
    found: list[tuple[Driver | None, pe.Image]] = []
    for driver in _drivers(context, _read(source)):
        if driver.pe is None:
            assert driver.fault is not None
            raise driver.fault.named(f"{source.name}: image {driver.image.number}")
        found.append((driver, driver.pe))
    return found
