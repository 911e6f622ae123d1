# SPDX-License-Identifier: MIT
"""Output of the programs that the checks of objects call: objdump, nm, readelf, compilers."""

import pathlib
import subprocess
import sys
from typing import NoReturn


def output_of(command: list[str], cwd: pathlib.Path | None = None) -> str:
    """Run a command; return its standard output. If it cannot run or fails, say why and end with
    exit code 2.
    """
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd)
    except OSError as error:
        refuse(f"{command[0]} cannot be run: {error.strerror}; is it installed?")
    except subprocess.CalledProcessError as error:
        refuse(
            error.stderr.strip()
            or f"{command[0]} ended with {error.returncode}: {' '.join(command)}"
        )
    return done.stdout


def refuse(text: str) -> NoReturn:
    """End with exit code 2 and a line that begins with the program's name."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {text}", file=sys.stderr)
    sys.exit(2)
