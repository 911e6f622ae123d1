# SPDX-License-Identifier: MIT
"""everycore dhparam: new parameters of Diffie-Hellman."""

from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import context_of
from everycore.run.new_keys import generate, parameters_pem


def dhparam(
    command: typer.Context,
    bits: Annotated[int, typer.Argument(metavar="BITS", help="1024 to 8192 in steps of 16.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="A new file; default: standard output."),
    ] = None,
) -> None:
    """Find a safe prime for Diffie-Hellman, as PEM.

    PKCS #3, with the generator 2.

    It takes seconds at 2048 bits, minutes at 4096. The groups of RFC 7919, such as ffdhe3072, are
    as good, and are ready.
    """
    generate(context_of(command), "dhparam", bits, out, parameters_pem)
