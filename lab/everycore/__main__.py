# SPDX-License-Identifier: MIT
"""Entry point of `everycore` and of `python -m everycore`."""

import sys

from everycore.cli import main


def run() -> None:
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
