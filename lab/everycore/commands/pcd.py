# SPDX-License-Identifier: MIT
"""everycore pcd: settings of a finished EFI module, for EDK2 and for whoever has only the file."""

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from everycore.binary import pe
from everycore.binary.malformed import named
from everycore.commands.options import Json, context_of, read_input
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.outputs import atomic_output, refuse_input
from everycore.firmware import pcd_settings as settings_of
from everycore.firmware.pcd_settings import Setting, Type
from everycore.firmware.sources import MOST_FILE_BYTES

MOST_TEXT_BYTES = 64 << 20

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List and change the settings of a finished EFI module.",
)
ImageFile = Annotated[Path, typer.Argument(metavar="IMAGE", help="An EFI image: driver.efi.")]
MapFile = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="The map of its linker: lld-link, ld.lld, GNU ld."),
]
InfFile = Annotated[
    Path | None, typer.Option("--inf", metavar="FILE", help="Its INF, with a [PatchPcd] section.")
]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="NAME=TYPE", help="BOOLEAN, UINT8 ... UINT64, VOID*."),
]
OutFile = Annotated[Path, typer.Option("--out", metavar="FILE", help="The new file.")]


@app.command("list")
def list_settings(
    command: typer.Context,
    image_file: ImageFile,
    map_file: MapFile = None,
    inf_file: InfFile = None,
    kind: Types = None,
    json: Json = False,
) -> None:
    """Print every setting: type, place in the file, value."""
    context = context_of(command)
    image = _image(context, image_file)
    for setting in _settings(context, image, map_file, inf_file, kind):
        value = image.data[setting.offset : setting.offset + setting.size]
        text = settings_of.as_text(value, setting.type)
        if json:
            line = {
                "type": "setting",
                "name": setting.name,
                "pcd_type": setting.type,
                "value": text,
            }
            context.print_raw(
                jsonlib.dumps({**line, "offset": setting.offset, "size": setting.size})
            )
        else:
            line_text = f"{setting.name:32} {setting.type:8} {setting.offset:#8x} {text}"
            context.out.print(line_text, markup=False, soft_wrap=True)


@app.command("set")
def set_values(
    command: typer.Context,
    image_file: ImageFile,
    values: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", help="New values.")],
    out: OutFile,
    map_file: MapFile = None,
    inf_file: InfFile = None,
    kind: Types = None,
) -> None:
    """Write a new image with other values; types and sizes are checked."""
    context = context_of(command)
    read = [path for path in (image_file, map_file, inf_file) if path is not None]
    refuse_input("--out", context.cwd / out, [context.cwd / path for path in read])
    image = _image(context, image_file)
    known = _settings(context, image, map_file, inf_file, kind)
    wanted = _pairs(values, "NAME=VALUE")
    data = settings_of.changed(image, known, wanted)
    for setting in known:
        if setting.name in wanted:
            before = settings_of.as_text(image.data[setting.offset :][: setting.size], setting.type)
            after = settings_of.as_text(data[setting.offset :][: setting.size], setting.type)
            line = (
                f"{setting.name}: {before} -> {after} (offset {setting.offset:#x}, {setting.type})"
            )
            context.err.print(line, markup=False, soft_wrap=True)
    _write(context, out, data)


@app.command("inf")
def write_inf(
    command: typer.Context,
    image_file: ImageFile,
    map_file: Annotated[Path, typer.Option("--map", metavar="FILE", help="The linker's map.")],
    guid: Annotated[str, typer.Option("--guid", metavar="GUID", help="The module's FILE_GUID.")],
    token_space: Annotated[
        str, typer.Option("--token-space", metavar="NAME", help="The C name of its PCDs' GUID.")
    ],
    out: OutFile,
    kind: Types = None,
) -> None:
    """Write the INF with which EDK2 takes the image as a binary module."""
    context = context_of(command)
    read = [context.cwd / image_file, context.cwd / map_file]
    refuse_input("--out", context.cwd / out, read)
    image = _image(context, image_file)
    found = _settings(context, image, map_file, None, kind)
    text = settings_of.inf(image, image_file.name, guid, token_space, found)
    _write(context, out, text.encode())


@app.command("verify")
def verify(
    command: typer.Context,
    image_file: ImageFile,
    inf_file: Annotated[Path, typer.Option("--inf", metavar="FILE", help="Its INF.")],
    map_file: MapFile = None,
    kind: Types = None,
    json: Json = False,
) -> None:
    """Compare an INF with its image.

    Also with the map if it is given. The exit code is 1 if they differ.
    """
    context = context_of(command)
    image = _image(context, image_file)
    described = _settings(context, image, None, inf_file, None)
    mapped = _settings(context, image, map_file, None, kind) if map_file else None
    faults = list(settings_of.verify(image, described, mapped))
    for fault in faults:
        if json:
            context.print_raw(
                jsonlib.dumps({"type": "fault", "name": fault.name, "text": fault.text})
            )
        else:
            context.out.print(f"{fault.name}: {fault.text}", markup=False, soft_wrap=True)
    if not json:
        words = f"{len(faults)} differ" if faults else "image and INF agree"
        context.out.print(f"{len(described)} settings: {words}", markup=False)
    if faults:
        raise typer.Exit(1)


def _image(context: Context, path: Path) -> pe.Image:
    hint = "name an .efi file"
    with named(str(path)):
        return pe.read(read_input(context, str(path), MOST_FILE_BYTES, hint, hint))


def _settings(
    context: Context,
    image: pe.Image,
    map_file: Path | None,
    inf_file: Path | None,
    kind: list[str] | None,
) -> list[Setting]:
    if (map_file is None) == (inf_file is None):
        raise EverycoreError("settings are found by the map or by an INF", "--map or --inf, one")
    if inf_file is not None:
        text = _text(context, inf_file)
        found = settings_of.read_inf(text, str(inf_file), image)
        for setting in found:
            if setting.offset + setting.size > len(image.data):
                raise EverycoreError(
                    f"{inf_file}: {setting.name} lies behind the end of the image",
                    "the INF is not that of this image",
                )
        return found
    assert map_file is not None
    types: dict[str, Type] = {}
    for name, word in _pairs(kind or [], "NAME=TYPE").items():
        try:
            types[name] = Type(word.upper())
        except ValueError:
            hint = f"valid: {', '.join(Type)}"
            raise EverycoreError(f"unknown type '{word}' of {name}", hint) from None
    return settings_of.find(image, _text(context, map_file), str(map_file), types)


def _pairs(texts: list[str], shape: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise EverycoreError(f"'{text}' is not {shape}", f"write {shape}")
        if name in found:
            raise EverycoreError(f"'{name}' is named twice", "name it once")
        found[name] = value
    return found


def _text(context: Context, path: Path) -> str:
    hint = "name a text file"
    return read_input(context, str(path), MOST_TEXT_BYTES, hint, hint).decode("utf-8", "replace")


def _write(context: Context, path: Path, data: bytes) -> None:
    with atomic_output(context.cwd / path, context.out.file) as scratch:
        scratch.write_bytes(data)
