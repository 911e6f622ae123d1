# SPDX-License-Identifier: MIT
"""everycore efi: drivers that keep the rules of machines other than PCs; harness in firmware."""

import json as jsonlib
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from everycore.binary import pe
from everycore.binary.malformed import MalformedError, named
from everycore.commands import file_checks
from everycore.commands.options import (
    CompilerCommand,
    InputErrors,
    Json,
    Out,
    SarifFile,
    context_of,
    print_output_path,
    read_input,
)
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.decoding import Record
from everycore.environment.errors import EverycoreError
from everycore.environment.outputs import atomic_output, refuse_existing
from everycore.environment.progress import Progress
from everycore.firmware import codec, oprom, sarif
from everycore.firmware.efi import check_image as checking
from everycore.firmware.efi.check_image import Options
from everycore.firmware.efi.devices.device import Identity, read_identity
from everycore.firmware.efi.driver_output import Checked
from everycore.firmware.efi.driver_rules import RULES
from everycore.firmware.efi.platforms import PLATFORMS, Translation, platform_of, read_range
from everycore.firmware.sources import MOST_FILE_BYTES
from everycore.model.domain import Build, Revision, Tree
from everycore.model.protocol import Bench, Check, Failure
from everycore.model.run_lines import Run
from everycore.run import machine
from everycore.run.uefi import application, boot, boot_targets, medium, results
from everycore.store import run_files

PROGRAMS = "name an .efi file or an option ROM"
LARGE = "no driver is so large"
MOST_SECONDS = 600.0
USUAL = ("list", "resolve", "check --quick")
ORIGIN = "everycore/origin.json"
COMMAND_BYTES = 8191  # harness/port/uefi/uefi.c: all lines together
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check EFI drivers; run the harness in firmware.",
)


@app.callback()
def efi() -> None:
    """Commands of EFI drivers and of the harness as an EFI application."""


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
    sarif_file: SarifFile = None,
    seconds: Annotated[
        float, typer.Option("--seconds", help="The time of one run.", min=0.1, max=MOST_SECONDS)
    ] = checking.SECONDS,
    json: Json = False,
) -> None:
    """Check drivers; exit code 1 if one violates a rule."""
    context = context_of(command)
    file_checks.refuse_sarif_of_input(context, sarif_file, [*files, map_file])
    errors = InputErrors(context)
    read_images = dict(errors.each(files, str, partial(_read_images, context)))
    images = [image for some in read_images.values() for image in some]
    if map_file and not errors.n_failed and len(images) != 1:
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
            work = partial(_check_image, context, options, map_file, name, image, identities)
            checked = errors.of(name, work)
            found += [checked] if checked else []
    for checked in found:
        file_checks.show(context, checked, json)
    raise file_checks.end(errors, "efi check", found, RULES.values(), sarif_file, sarif.RELATIVE)


def _check_image(
    context: Context,
    options: Options,
    map_file: Path | None,
    name: str,
    image: pe.Image,
    identities: tuple[Identity, ...],
) -> Checked:
    options = replace(options, others=(*options.others, *identities))
    if map_file is not None:
        symbols = file_checks.read_map(context, map_file, image.base)
        options = replace(options, symbols=symbols)
    return checking.check(context, name, image, options)


def _read_images(context: Context, name: str) -> list[tuple[str, pe.Image, tuple[Identity, ...]]]:
    return list(_images(context, name))


def _images(context: Context, name: str) -> Iterator[tuple[str, pe.Image, tuple[Identity, ...]]]:
    """The drivers in a file: names, images, and the devices that the file is for."""
    data = read_input(context, name, MOST_FILE_BYTES, PROGRAMS, LARGE)
    try:
        if pe.is_pe(data) or data[:2] == b"VZ":
            yield name, _loadable(pe.read(data)), ()
            return
        rom = oprom.read(data)
    except oprom.NoRomError as error:
        but = f", but {error.what}" if error.what else ""
        raise EverycoreError(
            f"{name}: neither an EFI driver nor an option ROM{but}",
            "name a PE image, as linkers for EFI write it, or a dump of a card's ROM",
        ) from None
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
        with named(label):
            yield label, _loadable(driver.pe), (identity,)
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


# ---- The harness in firmware ------------------------------------------------------------------


@app.command("image")
def image(
    command: typer.Context,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The image to write.")],
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="N",
            help="A file of so many bytes, or 64M, for a virtual disk. "
            f"Default: a short file, for a stick of {medium.VOLUME_BYTES >> 20} MiB or more.",
        ),
    ] = None,
    harness: Annotated[
        list[str] | None,
        typer.Option(
            "--command",
            metavar="WORDS",
            help="A command of the harness, such as 'check --quick'; repeatable.",
        ),
    ] = None,
    leave_state: Annotated[
        bool, typer.Option("--leave-state", help="Leave vector registers as firmware has them.")
    ] = False,
    cc: CompilerCommand = None,
) -> None:
    """Write an image for a USB stick that starts the harness.

    Or for an SD card. It starts the harness on x86-64 and on AArch64. Without --command the medium
    has none, and the application does what is usual.
    """
    context = context_of(command)
    n_bytes = _bytes_of(size) if size is not None else 0
    tree = _tree(context)
    lines = [*(["--leave-state"] if leave_state else []), *_checked(harness or ())]
    path = context.cwd / out
    refuse_existing(path, "name another file, or remove it")
    with tempfile.TemporaryDirectory(prefix="everycore-efi.") as folder:
        origin = Path(folder) / "origin.json"
        files: dict[str, Path] = {}
        builds = {}
        for architecture in boot_targets.ARCHITECTURES.values():
            built = application.build(context, tree, architecture, cc)
            files[f"EFI/BOOT/{architecture.boot_name}"] = built.binary
            builds[architecture.name] = built
        if lines:
            script = Path(folder) / "commands.txt"
            script.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
            files["everycore/commands.txt"] = script
        origin.write_text(_origin(context, tree, next(iter(builds.values()))), encoding="utf-8")
        files[ORIGIN] = origin
        with atomic_output(path, context.out.file) as scratch:
            if n_bytes:
                medium.write(context, scratch, n_bytes, files)
            else:
                medium.write_trimmed(context, scratch, files)
    print_output_path(context, "image", path)


@app.command("run")
def run(
    command: typer.Context,
    harness: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND...", help="Commands of the harness, each one argument."),
    ] = None,
    target: Annotated[
        str, typer.Option("--target", metavar="NAME", help="catalog/targets/efi-*.toml, or a file.")
    ] = "efi-aavmf",
    leave_state: Annotated[
        bool, typer.Option("--leave-state", help="Leave vector registers as firmware has them.")
    ] = False,
    emulator: Annotated[
        str, typer.Option("--emulator", metavar="WORDS", help="More words for the emulator.")
    ] = "",
    cc: CompilerCommand = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Start the harness in emulated firmware, and store its results.

    Exit code 1 if a check failed.
    """
    context = context_of(command)
    tree = _tree(context)
    place = boot_targets.load(tree, target)
    lines = [*(["--leave-state"] if leave_state else []), *_checked(harness or USUAL)]
    if out:
        run_files.refuse_if_unusable(out)
    built = application.build(context, tree, place.architecture, cc)
    booted = boot.boot(context, place, built.binary, lines, more=shlex.split(emulator))
    found = results.read("the result file", booted.result)
    revision = machine.revision(context, tree)
    _store(context, found, revision, place.name, built.flags, out, json)


@app.command("read")
def read(
    command: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="result.jsonl of the medium.")],
    target: Annotated[
        str, typer.Option("--target", metavar="NAME", help="A name for the machine.")
    ] = "efi",
    out: Out = None,
    json: Json = False,
) -> None:
    """Store what the harness wrote on a medium.

    The result is one that `report` and `compare` take.
    """
    context = context_of(command)
    path = context.cwd / file
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise EverycoreError(f"cannot read {path}: {why}") from error
    if out:
        run_files.refuse_if_unusable(out)
    found = results.read(str(path), text)
    revision, flags = _origin_beside(path)
    _store(context, found, revision, target, flags, out, json)


def _tree(context: Context) -> Tree:
    return catalog.find_tree(context.package, context.env.get("EVERYCORE_TREE", ""))


def _checked(commands: list[str] | tuple[str, ...]) -> list[str]:
    """The commands, each a line of ASCII; all together have to fit the application's memory."""
    for line in commands:
        if not line.strip() or not line.isascii() or not line.isprintable() or "#" in line:
            raise EverycoreError(
                f"not a command of the harness: '{line}'", "such as: 'check --quick'"
            )
    if sum(len(line) + 1 for line in commands) > COMMAND_BYTES - 64:
        raise EverycoreError("the commands are longer than 8 KiB", "give fewer of them")
    return list(commands)


def _bytes_of(size: str) -> int:
    digits, unit = (size[:-1], size[-1].upper()) if size[-1:].upper() in UNITS else (size, "")
    n_bytes = int(digits) * UNITS.get(unit, 1) if digits.isdecimal() and digits.isascii() else 0
    if not medium.LEAST_BYTES <= n_bytes <= medium.MOST_BYTES or n_bytes % medium.SECTOR_BYTES:
        raise EverycoreError(f"--size {size}: no size of an image", "1M to 2G, such as 64M")
    return n_bytes


def _origin(context: Context, tree: Tree, built: Build) -> str:
    revision = machine.revision(context, tree)
    facts = {"commit": revision.commit, "dirty": revision.dirty, "flags": list(built.flags)}
    return jsonlib.dumps(facts) + "\n"


def _origin_beside(path: Path) -> tuple[Revision, tuple[str, ...]]:
    """The commit and the flags that the image was made with; unknown if the file is alone."""
    try:
        facts = jsonlib.loads(path.with_name(Path(ORIGIN).name).read_text(encoding="utf-8"))
        flags = tuple(str(word) for word in facts["flags"])
        return Revision(str(facts["commit"]), bool(facts["dirty"])), flags
    except (OSError, ValueError, KeyError, TypeError):
        return Revision("", False), ()


def _store(
    context: Context,
    found: results.Results,
    revision: Revision,
    target: str,
    flags: tuple[str, ...],
    out: Path | None,
    json: bool,
) -> None:
    """Write the result file of the lab, show what happened, and end with the exit code."""
    records = [record for command in found.commands for record in command.records]
    greetings = [command.hello for command in found.commands if command.hello]
    if not greetings:
        refused = next((command for command in found.commands if command.stderr), None)
        why = refused.stderr.removeprefix("harness: ") if refused else "no command was done"
        raise EverycoreError(f"nothing was done in firmware: {why}")
    measured = [hello for hello in greetings if hello.counter != "none"]
    hello = (measured or greetings)[0]
    run = Run(
        command="efi",
        date=context.now().isoformat(timespec="seconds"),
        everycore=hello.library,
        revision=revision,
        machine=results.machine(found, hello.arch),
        target=target,
        compiler=hello.compiler,
        flags=flags,
        counter=hello.counter,
        options={"commands": [command.words for command in found.commands]},
    )
    path = out or run_files.new_path(
        context.state_dir() / "results", context.now(), revision, "efi"
    )
    with run_files.Writer(path, run, context.out.file) as writer:
        for record in records:
            writer.write(record)
    for command in found.commands:
        _show_command(context, command, json)
    for why in dict.fromkeys(command.no_guards for command in found.commands if command.no_guards):
        context.warn(f"no guard pages: {why}")
    print_output_path(context, "results", path)
    if found.code:
        raise typer.Exit(1 if found.code == 1 else 2)


def _show_command(context: Context, command: results.Command, json: bool) -> None:
    checks = [r for r in command.records if isinstance(r, Check)]
    counts = {word: sum(c.result == word for c in checks) for word in ("pass", "fail", "skip")}
    points = sum(isinstance(r, Bench) for r in command.records)
    if json:
        facts = {"type": "efi", "command": command.words, "code": command.code, **counts}
        context.print_raw(jsonlib.dumps({**facts, "points": points, "stderr": command.stderr}))
        return
    summary = [f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped"]
    summary = summary if checks else [f"{points} points"] if points else ["done"]
    text = command.stderr.removeprefix("harness: ") if command.code == 2 else summary[0]
    context.out.print(f"{command.words}: {text}", markup=False, soft_wrap=True)
    for record in command.records:
        if line := _failure(record):
            context.out.print(f"FAIL {line}", style="bold red", markup=False, soft_wrap=True)


def _failure(record: Record) -> str:
    line = record
    if isinstance(line, Check) and line.result == "fail":
        return f"{line.primitive} {line.kernel} {line.property}: {line.detail}"
    if isinstance(line, Failure):
        return f"{line.kernel} {line.mode}: {line.detail}"
    return ""
