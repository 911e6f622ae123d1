# SPDX-License-Identifier: MIT
"""everycore rom: what is in an option ROM, which rules it breaks, and how to change it."""

import json as jsonlib
import shutil
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import hexdigits
from typing import Annotated

import typer

from everycore.binary import pe
from everycore.binary.malformed import MalformedError, named
from everycore.commands import file_checks
from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import InputErrors, Json, SarifFile, context_of
from everycore.environment.context import Context
from everycore.environment.errors import (
    EverycoreError,
    MissingPackagesError,
    cannot_write,
    unknown_name,
)
from everycore.environment.outputs import atomic_output, is_standard_output, is_stream, refuse_input
from everycore.firmware import (
    codec,
    differences,
    edit,
    esl,
    manifest,
    oprom,
    rom_rules,
    signatures,
    sources,
)
from everycore.firmware.edit import Edited, Ids
from everycore.firmware.oprom import Driver, Rom
from everycore.firmware.rom_rules import CheckedRom
from everycore.firmware.sources import Source
from everycore.report import rom_tables

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


def _load(context: Context, given: str) -> list[Source]:
    def say(text: str) -> None:
        context.err.print(text, style="dim", markup=False, soft_wrap=True)

    return sources.load(given, context.cwd, sources.SYSFS, say)


def _load_all(errors: InputErrors, given: list[str]) -> list[Source]:
    loaded = errors.each(given, str, partial(_load, errors.context))
    return [source for _, some in loaded for source in some]


def _name(source: Source) -> str:
    return source.name


def _read(source: Source) -> Rom:
    with named(source.name):
        return oprom.read(source.data)


def _drivers(context: Context, rom: Rom, is_listed: bool = False) -> list[Driver]:
    """Return the drivers of a ROM; `is_listed`: one that needs a missing package says so itself."""

    def decompress(stream: bytes) -> bytes:
        try:
            return codec.decompress(context, stream)
        except MissingPackagesError as error:
            if not is_listed:
                raise
            rule = f"compressed; {error.message}: {error.hint}"
            raise MalformedError(0, rule, error.hint) from None

    return [oprom.driver(image, decompress) for image in rom.images if image.efi]


@app.command("list")
def list_images(command: typer.Context, inputs: Inputs, json: Json = False) -> None:
    """Show every image of option ROMs.

    With its machine, ids, lengths, checksum and hash.
    """
    context = context_of(command)
    errors = InputErrors(context)
    given = _load_all(errors, inputs)
    for source, (rom, drivers) in errors.each(given, _name, partial(_listed, context)):
        if not json:
            context.out.print(rom_tables.list_table(source.name, rom, drivers), soft_wrap=True)
            continue
        context.print_raw(jsonlib.dumps(rom_tables.rom_line(source.name, rom)))
        by_number = {driver.image.number: driver for driver in drivers}
        for image in rom.images:
            line = rom_tables.image_line(source.name, rom, image, by_number.get(image.number))
            context.print_raw(jsonlib.dumps(line))
    raise errors.end()


def _listed(context: Context, source: Source) -> tuple[Rom, list[Driver]]:
    rom = _read(source)
    return rom, _drivers(context, rom, is_listed=True)


@app.command("check")
def check_rules(
    command: typer.Context,
    inputs: Inputs,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            metavar="NAME",
            help="Does it work there? aarch64 (arm64), x86-64 (x64), riscv64, ...",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Advice counts, too.")] = False,
    sarif_file: SarifFile = None,
    json: Json = False,
) -> None:
    """Check the rules of PCI, UEFI and PE.

    The exit code is 1 if one is broken.
    """
    context = context_of(command)
    if machine is not None:
        machine = pe.OTHER_NAMES.get(machine, machine)
        if machine not in MACHINES:
            raise unknown_name("machine", machine, (*MACHINES, *pe.OTHER_NAMES))
    errors = InputErrors(context)
    given = _load_all(errors, inputs)
    read = [source.path for source in given]
    file_checks.refuse_sarif_of_input(context, sarif_file, read)
    found: list[CheckedRom] = []
    for _, checked in errors.each(given, _name, partial(_checked, context, machine, strict)):
        file_checks.show(context, checked, json)
        found.append(checked)
    raise file_checks.end(errors, "rom check", found, rom_rules.broken(found), sarif_file)


def _checked(context: Context, machine: str | None, strict: bool, source: Source) -> CheckedRom:
    rom = _read(source)
    drivers = _drivers(context, rom)
    found = rom_rules.check(rom, drivers, source.ids)
    verdict = rom_rules.verdict(rom, drivers, found, machine) if machine else None
    return CheckedRom(source.name, found, (), verdict, strict)


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
) -> None:
    """Print the Authenticode SHA-256 of every EFI driver.

    Secure Boot asks for it. Files may also be .efi files.
    """
    context = context_of(command)
    try:
        owner_id = uuid.UUID(owner)
    except ValueError:
        raise EverycoreError(f"--owner '{owner}' is no GUID", "uuidgen makes one") from None
    hashes: list[bytes] = []
    errors = InputErrors(context)
    given = _load_all(errors, inputs)
    if esl_ is not None:
        refuse_input("--esl", context.cwd / esl_, [source.path for source in given])
    for source, found in errors.each(given, _name, partial(_images_of, context)):
        for number, image in found:
            digest = pe.authenticode(image)
            hashes.append(digest)
            found_signatures = signatures.read(image)
            line = {
                "type": "hash",
                "file": source.name,
                "image": number,
                "machine": image.machine_name,
                **found_signatures.facts(),
                "sha256": digest.hex(),
            }
            signed = f"  {found_signatures.text}" if found_signatures.each else ""
            place = source.name if number is None else f"{source.name} image {number}"
            text = f"{digest.hex()}  {image.machine_name:8}{signed}  {place}"
            context.print_raw(jsonlib.dumps(line) if json else text)
    if not hashes and not errors.n_failed:
        raise EverycoreError(
            "no EFI driver in what was given", "everycore rom list shows the images"
        )
    if esl_ is not None and errors.n_failed:
        context.warn(f"{esl_} is not written: it would lack the drivers that could not be read")
    elif esl_ is not None:
        with atomic_output(context.cwd / esl_, context.out.file) as scratch:
            scratch.write_bytes(esl.signature_list(hashes, owner_id))
        for text in esl.commands(str(esl_), owner_id, [image_hash.hex() for image_hash in hashes]):
            context.err.print(text, markup=False, soft_wrap=True)
    raise errors.end()


def _images_of(context: Context, source: Source) -> list[tuple[int | None, pe.Image]]:
    """Return the PE images of a source; a driver that cannot be read is an error."""
    if pe.is_pe(source.data):
        with named(source.name):
            return [(None, pe.read(source.data))]
    found: list[tuple[int | None, pe.Image]] = []
    for driver in _drivers(context, _read(source)):
        if driver.pe is None:
            assert driver.fault is not None
            raise driver.fault.named(f"{source.name}: image {driver.image.number}")
        found.append((driver.image.number, driver.pe))
    return found


# ---- Changes


RomFile = Annotated[str, typer.Argument(metavar="ROM", help="A file, or a PCI device.")]
EfiFiles = Annotated[list[str], typer.Argument(metavar="EFI...", help="EFI drivers.")]
Numbers = Annotated[
    list[int], typer.Argument(metavar="N...", help="Numbers of images, from 0.", min=0)
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, and write nothing.")]
Force = Annotated[
    bool,
    typer.Option("--force", help="Even if a driver of Linux then misses the card's tables."),
]
Compression = Annotated[
    bool | None,
    typer.Option("--compress/--no-compress", help="Whether drivers are stored compressed."),
]
RomSize = Annotated[
    str | None,
    typer.Option("--size", metavar="BYTES", help="The size of the ROM: 65536, 0x10000, 64K, 1M."),
]
Hexadecimal = Annotated[str | None, typer.Option(metavar="HEX")]
ClassCode = Annotated[str | None, typer.Option("--class", metavar="HEX")]


@dataclass(frozen=True, slots=True)
class NewRom:
    """The file that a change writes."""

    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The new ROM; `-`: standard output."),
    ] = None
    dry_run: DryRun = False


NOWHERE = NewRom()


def _number(option: str, text: str | None, most: int) -> int | None:
    """Return the value of an option in hexadecimal digits."""
    if text is None:
        return None
    digits = text.lower().removeprefix("0x")
    value = int(digits, 16) if digits and set(digits) <= set(hexdigits) else -1
    if not 0 <= value <= most:
        raise EverycoreError(
            f"{option} '{text}' is not within 0 and {most:x}", "hexadecimal, as lspci -nn has it"
        )
    return value


CLASS_DIGITS = 6


def _class(text: str | None) -> int | None:
    """Return the value of --class; four digits, as lspci prints them, would be another class."""
    if text is not None and len(text.lower().removeprefix("0x")) != CLASS_DIGITS:
        raise EverycoreError(
            f"--class '{text}' has not {CLASS_DIGITS} digits",
            "lspci -nnv shows the first four, and the last two as prog-if (00 if there is none)",
        )
    return _number("--class", text, 0xFFFFFF)


def _ids(vendor: str | None, device: str | None, class_code: str | None) -> Ids:
    return Ids(
        _number("--vendor", vendor, 0xFFFF),
        _number("--device", device, 0xFFFF),
        _class(class_code),
    )


def _size(text: str | None) -> int | None:
    """Return the value of --size."""
    if text is None:
        return None
    units = {"k": 1 << 10, "m": 1 << 20}
    last = text[-1:].lower()
    number, unit = (text[:-1], units[last]) if last in units else (text, 1)
    try:
        size = int(number, 0) * unit
    except ValueError:
        size = -1
    if not edit.LEAST_BYTES <= size <= oprom.MOST_BYTES:
        raise EverycoreError(
            f"--size '{text}' is not within {edit.LEAST_BYTES} and {oprom.MOST_BYTES} bytes",
            "such as 65536, 0x10000, 64K or 1M",
        )
    return size


def _one_rom(context: Context, given: str) -> tuple[Source, Rom]:
    found = _load(context, given)
    if len(found) != 1:
        raise EverycoreError(f"{given} has {len(found)} devices", "name one of them")
    return found[0], _read(found[0])


def _finish(context: Context, new: NewRom, edited: Edited) -> None:
    """Show the plan, and write the new ROM to a file of its own."""
    out = new.out
    if out is None and not new.dry_run:
        raise EverycoreError("nowhere to write the new ROM", "--out FILE, or --dry-run")
    place = None if out is None or is_standard_output(out) else context.cwd / out
    if place is not None and _is_there(place, out) and not is_stream(place):
        raise EverycoreError(f"{out} is there already", "name a new file: none is changed in place")
    to = context.err if place is None and out is not None else context.out
    for line in edited.plan or ("no change",):
        to.print(line, markup=False, soft_wrap=True)
    if new.dry_run:
        to.print("nothing is written", markup=False)
        return
    assert out is not None
    target = out if place is None else place
    with atomic_output(target, context.out.file) as scratch:
        scratch.write_bytes(edited.data)
    if not is_stream(target):
        to.print(f"{out}: {len(edited.data)} bytes", markup=False, soft_wrap=True)


def _is_there(place: Path, given: Path | None) -> bool:
    try:
        return place.exists()
    except OSError as error:  # in a folder that may not be read
        raise cannot_write(given, error, "name another place") from error


def _change(
    command: typer.Context, given: str, new: NewRom, change: Callable[[Rom], Edited]
) -> None:
    """Change a ROM, and write the new one; what keeps a change from being made names the file."""
    context = context_of(command)
    source, rom = _one_rom(context, given)
    with named(source.name):
        edited = change(rom)
    _finish(context, new, edited)


def _new_image(context: Context, given: str, ids: Ids, compress: bool, revision: int = 0) -> bytes:
    """Return the image of a driver in a file."""
    data = sources.load(given, context.cwd, sources.SYSFS, lambda _: None)[0].data
    with named(given):
        edit.read_driver(data)
        stream = codec.compress(context, data) if compress else None
        return edit.make_image(data, ids, stream, revision)


@app.command("build")
@with_option_sets
def build_rom(
    command: typer.Context,
    efi: Annotated[
        list[str] | None, typer.Argument(metavar="EFI...", help="EFI drivers, in their order.")
    ] = None,
    new: NewRom = NOWHERE,
    vendor: Hexadecimal = None,
    device: Hexadecimal = None,
    class_code: ClassCode = None,
    compress: Compression = None,
    size: RomSize = None,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="A folder that `rom extract` made."),
    ] = None,
    force: Force = False,
) -> None:
    """Make a ROM of EFI drivers, or of extracted images.

    The drivers may be for several machines; the images are the folder that `rom extract` wrote.
    """
    context = context_of(command)
    if from_ is not None:
        if efi or vendor or device or class_code or size or compress is not None:
            raise EverycoreError(
                "--from goes with --out, --force and --dry-run alone", "rom insert adds"
            )
        _finish(context, new, _from_folder(context, from_, force))
        return
    if force:
        raise EverycoreError("--force goes with --from", "drivers alone have no tables of a card")
    if not efi:
        raise EverycoreError("no driver is named", "name .efi files, or --from DIR")
    for name in efi:
        if not (context.cwd / name).exists():
            raise EverycoreError(f"{name}: no such file", "name .efi files")
    ids = _ids(vendor, device, class_code)
    if ids.vendor is None or ids.device is None or ids.class_code is None:
        raise EverycoreError(
            "the ROM needs the ids of its device",
            "--vendor 8086 --device 100e --class 020000: lspci -nn shows four digits of each",
        )
    images = [_new_image(context, path, ids, bool(compress)) for path in efi]
    names = [
        f"{path} for {oprom.read_image(i).machine_name}"
        for path, i in zip(efi, images, strict=True)
    ]
    with named(str(new.out or "the new ROM")):
        edited = edit.new_rom(images, names, _size(size))
    _finish(context, new, edited)


def _from_folder(context: Context, given: Path, force: bool) -> Edited:
    folder = context.cwd / given

    def read(name: str) -> bytes:
        try:
            path = folder / name
            if path.stat().st_size > sources.MOST_FILE_BYTES:
                raise EverycoreError(f"{given / name}: too large", "no ROM has such a part")
            return path.read_bytes()
        except OSError as error:
            raise EverycoreError(
                f"{given / name}: cannot be read: {error.strerror}",
                f"`everycore rom extract ROM {given}` makes such a folder",
            ) from error

    try:
        table = jsonlib.loads(read(manifest.NAME))
    except (ValueError, RecursionError) as error:
        raise EverycoreError(
            f"{given / manifest.NAME}: {error}", "everycore rom extract makes such a file"
        ) from None
    with named(str(given)):
        data, notes = manifest.put_together(table, read, partial(codec.compress, context), force)
    return Edited(data, notes)


@app.command("extract")
def extract_images(
    command: typer.Context,
    given: RomFile,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    decompressed: Annotated[
        bool, typer.Option("--decompressed", help="Drivers as .efi files, images otherwise.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Write every image of a ROM into a folder.

    `rom build --from` makes the ROM of it again.
    """
    context = context_of(command)
    source, rom = _one_rom(context, given)
    place = context.cwd / folder
    if _is_there(place, folder) and (not place.is_dir() or any(place.iterdir())):
        raise EverycoreError(f"{folder} is there already", "name a new folder")
    compress = partial(codec.compress, context)
    drivers = _drivers(context, rom) if decompressed else []
    with named(source.name):
        if rom.images[0].pci is None:
            rule = "no PCI data structure: an image for ISA, which is not taken apart"
            raise MalformedError(rom.start, rule, "copy the file")
        taken = manifest.take_apart(rom, drivers, compress if decompressed else None)
        table = jsonlib.loads(taken.files[manifest.NAME])
        again, notes = manifest.put_together(table, taken.files.__getitem__, compress)
    for note in taken.notes:
        context.warn(f"{source.name}: {note}")
    if again != rom.data:
        context.warn(f"{source.name}: built again it differs: {'; '.join(notes)}")
    for name, data in taken.files.items():
        context.out.print(f"{folder / name}  {len(data)} bytes", markup=False, soft_wrap=True)
    if dry_run:
        context.out.print("nothing is written")
        return
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
        try:
            scratch.chmod(0o755)
            for name, data in taken.files.items():
                (scratch / name).write_bytes(data)
            scratch.rename(place)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise cannot_write(folder, error, "name another place") from error


@app.command("insert")
@with_option_sets
def insert_drivers(
    command: typer.Context,
    given: RomFile,
    efi: EfiFiles,
    new: NewRom,
    at: Annotated[
        int | None, typer.Option("--at", metavar="N", min=0, help="The first's number.")
    ] = None,
    compress: Compression = None,
    size: RomSize = None,
    force: Force = False,
) -> None:
    """Add EFI drivers to a ROM.

    They come behind its images, or at a place among them.
    """

    def change(rom: Rom) -> Edited:
        pci = edit.parts_of(rom) and rom.images[0].pci
        assert pci
        ids = Ids(pci.vendor, pci.device, pci.class_code)
        images = [_new_image(context_of(command), path, ids, bool(compress)) for path in efi]
        names = [Path(path).name for path in efi]
        return edit.insert(rom, images, names, at, _size(size), force)

    _change(command, given, new, change)


@app.command("replace")
@with_option_sets
def replace_driver(
    command: typer.Context,
    given: RomFile,
    number: Annotated[int, typer.Argument(metavar="N", min=0, help="The image's number.")],
    efi: Annotated[str, typer.Argument(metavar="EFI", help="An EFI driver.")],
    new: NewRom,
    compress: Compression = None,
    size: RomSize = None,
    force: Force = False,
) -> None:
    """Put an EFI driver in the place of an image.

    It gets the ids of that image, and is compressed as that was.
    """

    def change(rom: Rom) -> Edited:
        edit.parts_of(rom)
        edit.need_number(rom, number)
        old = rom.images[number]
        assert old.pci is not None
        was = old.efi is not None and old.efi.compression == oprom.COMPRESSED
        ids = Ids(old.pci.vendor, old.pci.device, old.pci.class_code)
        packed = was if compress is None else compress
        image = _new_image(context_of(command), efi, ids, packed, old.pci.code_revision)
        return edit.replace_image(rom, number, image, Path(efi).name, _size(size), force)

    _change(command, given, new, change)


@app.command("drop")
@with_option_sets
def drop_images(
    command: typer.Context, given: RomFile, numbers: Numbers, new: NewRom, force: Force = False
) -> None:
    """Remove images; the size of the ROM stays."""
    _change(command, given, new, lambda rom: edit.drop(rom, numbers, force))


@app.command("reorder")
@with_option_sets
def reorder_images(
    command: typer.Context, given: RomFile, numbers: Numbers, new: NewRom, force: Force = False
) -> None:
    """Put the images into another order.

    Give all numbers, in the order that is wanted.
    """
    _change(command, given, new, lambda rom: edit.reorder(rom, numbers, force))


@app.command("set-last")
@with_option_sets
def set_last_image(
    command: typer.Context,
    given: RomFile,
    number: Annotated[
        int | None, typer.Argument(metavar="[N]", min=0, help="Default: the last one found.")
    ] = None,
    new: NewRom = NOWHERE,
    force: Force = False,
) -> None:
    """Mark one image as the last, and no other."""
    _change(command, given, new, lambda rom: edit.set_last(rom, number, force))


@app.command("set-ids")
@with_option_sets
def set_device_ids(
    command: typer.Context,
    given: RomFile,
    new: NewRom,
    vendor: Hexadecimal = None,
    device: Hexadecimal = None,
    class_code: ClassCode = None,
    images: Annotated[
        list[int] | None,
        typer.Option("--image", metavar="N", min=0, help="Only this image; repeatable."),
    ] = None,
) -> None:
    """Change the vendor, device or class that images name."""
    ids = _ids(vendor, device, class_code)
    if ids == Ids():
        raise EverycoreError("no id is given", "--vendor, --device or --class, in hexadecimal")
    _change(command, given, new, lambda rom: edit.set_ids(rom, ids, images or []))


@app.command("fit")
@with_option_sets
def fit_size(
    command: typer.Context,
    given: RomFile,
    new: NewRom,
    size: RomSize = None,
    strip: Annotated[
        bool,
        typer.Option("--strip", help="Leave out what a vendor has before and behind the images."),
    ] = False,
    force: Force = False,
) -> None:
    """Give a ROM the size of a flash: a power of two, at least 4 KiB."""
    _change(command, given, new, lambda rom: edit.fit(rom, _size(size), strip, force))


@app.command("diff")
def diff_roms(command: typer.Context, one: RomFile, other: RomFile, json: Json = False) -> None:
    """Show what differs between two ROMs.

    The exit code is 1 if anything does.
    """
    context = context_of(command)
    first, second = (_one_rom(context, given) for given in (one, other))
    lines = differences.differences(
        first[1], _drivers(context, first[1]), second[1], _drivers(context, second[1])
    )
    for line in lines:
        if json:
            context.print_raw(jsonlib.dumps(line.line()))
        else:
            context.out.print(line.text(), markup=False, soft_wrap=True)
    raise typer.Exit(1 if lines else 0)
