# SPDX-License-Identifier: MIT
"""everycore genrsa: a new key of RSA."""

from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import context_of
from everycore.run.new_keys import check_packages, generate, private_key_pem


def genrsa(
    command: typer.Context,
    bits: Annotated[
        int, typer.Argument(metavar="BITS", help="1024 to 8192 in steps of 16; 3072 is good.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="A new file; default: standard output."),
    ] = None,
) -> None:
    """Make a key of RSA, as PEM.

    PKCS #8, without a password; e = 65537.

    The randomness is the operating system's. A new file has mode 0600; none is replaced.
    """
    check_packages()
    generate(context_of(command), "genrsa", bits, out, private_key_pem)
