# SPDX-License-Identifier: MIT
"""TOML files as tables; what is in them is for their readers to judge."""

import tomllib
from pathlib import Path
from typing import Any

from everycore.errors import EverycoreError


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise EverycoreError(f"cannot read {path.name}: it is no text in UTF-8") from error
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise EverycoreError(f"cannot read {path.name}: {error}") from error
