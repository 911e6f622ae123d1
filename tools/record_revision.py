# SPDX-License-Identifier: MIT
"""Put the commit into wheels and archives of the source: a file REVISION. hatchling runs this.

Without git, as in an archive of the source that is built again, the file that is there is kept.
"""

import pathlib
import subprocess
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "REVISION"
PLACES = {"wheel": f"everycore/tree/{NAME}", "sdist": NAME}
CHANGES = "+changes"  # what is built is not what was committed


def revision(root: pathlib.Path) -> str:
    """The commit of a tree, as "0123456789ab" or "0123456789ab+changes"; "" if it is not known."""
    git = ["git", "-C", str(root)]
    try:
        head = subprocess.run(
            [*git, "rev-parse", "--short=12", "HEAD"],
            capture_output=True,
            text=True,
            check=False,
        )
        changes = subprocess.run(
            [*git, "status", "--porcelain"], capture_output=True, text=True, check=False
        )
    except OSError:
        head = None
    if head is None or head.returncode or not (root / ".git").exists():
        kept = root / NAME
        return kept.read_text().strip() if kept.is_file() else ""
    return head.stdout.strip() + (CHANGES if changes.stdout.strip() else "")


class RecordRevision(BuildHookInterface):  # type: ignore[type-arg]  # old ones take none
    """A file REVISION in what is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        found = revision(pathlib.Path(self.root))
        if not found or version == "editable" or self.target_name not in PLACES:
            return
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name, NAME)
        path.write_text(found + "\n")
        build_data["force_include"][str(path)] = PLACES[self.target_name]

    def finalize(self, *_what: object) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()
