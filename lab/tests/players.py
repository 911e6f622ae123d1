# SPDX-License-Identifier: MIT
"""Compilers that are names on a PATH, and what they say of themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from everycore.environment.context import Completed
from everycore.environment.errors import CannotRunError

GCC = "#define __GNUC__ {}\n#define __GNUC_MINOR__ {}\n#define __GNUC_PATCHLEVEL__ {}\n"
CLANG = (
    "#define __clang_major__ {}\n#define __clang_minor__ {}\n#define __clang_patchlevel__ {}\n"
    "#define __GNUC__ 4\n"
)


@dataclass
class Compilers:
    """A runner that plays them; `add` puts one on the PATH."""

    folder: Path
    macros: dict[str, str] = field(default_factory=dict)  # by name
    refuse: set[str] = field(default_factory=set)  # names and words with which nothing compiles
    starts: dict[str, list[Path]] = field(default_factory=dict)  # by name: what -### shows
    libraries: dict[Path, list[Path]] = field(default_factory=dict)  # by program: as ldd says
    calls: list[list[str]] = field(default_factory=list)

    def add(self, name: str, family: str, *version: int) -> Path:
        path = self.folder / name
        path.write_text(f"{family} {version}")
        path.chmod(0o755)
        self.macros[name] = (GCC if family == "gcc" else CLANG).format(*version)
        return path

    def run(
        self, argv: Sequence[str], *, stdin: str | bytes = "", cwd: Path | None = None
    ) -> Completed:
        del stdin, cwd
        self.calls.append(list(argv))
        name = Path(argv[0]).name
        if name == "ldd":
            return Completed(0, "".join(map(library_line, self.libraries.get(Path(argv[1]), []))))
        if name not in self.macros:
            raise CannotRunError(f"cannot run {argv[0]}")
        if "-###" in argv:
            programs = "".join(f' "{path}" "-quiet"\n' for path in self.starts.get(name, []))
            return Completed(0, "", f"Thread model: posix\n{programs}")
        if refused := self.refuse & {name, *argv}:
            is_target = any(word.startswith("--target=") for word in refused)
            return Completed(1, "", f"error: {'unknown target triple' if is_target else 'no'}")
        return Completed(0, self.macros[name] if "-dM" in argv else "")


def library_line(path: Path) -> str:
    return f"\t{path.name} => {path} (0x00007f6388400000)\n"
