# SPDX-License-Identifier: MIT
"""Small scripts that start a fetched compiler with its own libraries and this machine's headers.

What they compile is linked here, so the headers are those of the C library here, behind the
compiler's own: objects made with a newer one's may ask for functions that this one lacks.
"""

import platform
import shlex
from collections.abc import Sequence
from pathlib import Path

from everycore.compile.toolchains.cache_lock import folder_of
from everycore.compile.toolchains.host import runs_here, triple
from everycore.compile.toolchains.link import header_folders
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target


def make_wrapper(context: Context, name: str, root: Path, target: Target) -> tuple[str, ...] | None:
    """The command of a compiler for a target; None if that one's C library is not here."""
    headers = header_folders(context, target)
    if not headers:
        return None
    prefix = "" if runs_here(target) else f"{triple(target)}-"
    words = [*_program(root, name, target), f"--sysroot={root}"]
    words += [word for folder in headers for word in ("-idirafter", str(folder))]
    path = folder_of(context, "bin") / f"{prefix}{name}"
    environment = ":".join(str(folder) for folder in _libraries(root))
    text = "#!/bin/sh\n# Written by `everycore toolchain add`.\n"
    text += (
        f"LD_LIBRARY_PATH={shlex.quote(environment)}\nexport LD_LIBRARY_PATH\n"
        if environment
        else ""
    )
    text += f'exec {shlex.join(words)} "$@"\n'
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        with atomic_write(path) as scratch:
            scratch.write_text(text, encoding="utf-8")
            scratch.chmod(0o755)
    return (str(path),)


def _program(root: Path, name: str, target: Target) -> list[str]:
    """The compiler in a root, of a package or of a wheel, with the words that make it compile."""
    native = runs_here(target)
    prefix = "" if native else f"{triple(target)}-"
    to = f"{platform.machine()}-linux-gnu" if native else triple(target)
    bins = root / "usr" / "bin"
    if (bins / f"{prefix}{name}").exists() and name.startswith("gcc"):
        return [str(bins / f"{prefix}{name}"), f"-B{bins / to}-"]
    if (bins / name).exists():
        return [str(bins / name), *([] if native else [f"--target={to}"])]
    if (root / "bin" / "gcc").is_file():
        return [str(root / "bin" / "gcc")]
    if (zig := root / "bin" / "zig").is_file():
        return [str(zig), "clang", f"--target={to}", "-resource-dir", str(root / "lib" / "clang")]
    raise EverycoreError(f"{root} holds no {prefix}{name}")


def _libraries(root: Path) -> Sequence[Path]:
    """Folders of shared libraries, which only programs of the suite's own loader are to see."""
    return [path for path in sorted((root / "usr" / "lib").glob("*-linux-gnu*")) if path.is_dir()]


def remove_wrapper(context: Context, command: Sequence[str]) -> None:
    path = Path(command[0])
    if path.parent == folder_of(context, "bin"):
        path.unlink(missing_ok=True)
