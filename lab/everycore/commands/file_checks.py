# SPDX-License-Identifier: MIT
"""The parts of `efi check` and `canary check` that are the same: maps, findings, SARIF."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from everycore.commands.options import InputErrors, read_input
from everycore.environment.context import Context
from everycore.environment.outputs import refuse_input
from everycore.firmware import sarif
from everycore.firmware.efi import linker_map
from everycore.firmware.efi.linker_map import Symbols
from everycore.firmware.findings import CheckedFile, Rule

MOST_MAP_BYTES = 64 << 20


def refuse_sarif_of_input(
    context: Context, sarif_file: Path | None, files: Sequence[str], map_file: Path | None
) -> None:
    """Refuse a SARIF file that is one of the files that are read."""
    if sarif_file is not None:
        read = [context.cwd / name for name in (*files, map_file) if name is not None]
        refuse_input("--sarif", context.cwd / sarif_file, read)


def read_map(context: Context, map_file: Path, base: int) -> Symbols:
    """Read the linker's map of an image whose preferred base is given."""
    remedy = "name the map that the linker wrote"
    data = read_input(context, str(map_file), MOST_MAP_BYTES, remedy, "no map is so large")
    return linker_map.read(data.decode("utf-8", errors="replace"), str(map_file), base)


def finish(
    errors: InputErrors,
    command: str,
    found: Sequence[CheckedFile],
    rules: Mapping[str, Rule],
    json: bool,
    sarif_file: Path | None,
    addresses: str = sarif.ABSOLUTE,
) -> typer.Exit:
    """Show what was found in files, write it as SARIF, and return the command's end."""
    context = errors.context
    for checked in found:
        if json:
            for line in checked.json_lines():
                context.print_raw(line)
            continue
        for style, line in checked.lines():
            context.out.print(line, style=style, markup=False, soft_wrap=True)
        for note in checked.notes:
            context.warn(f"{checked.name}: {note}")
    if sarif_file is not None:
        document = sarif.document(command, rules.values(), found, addresses)
        errors.write_sarif(sarif_file, document)
    return errors.end(any(checked.has_violations for checked in found))
