# SPDX-License-Identifier: MIT
"""Debian packages of compilers, unpacked once each; toolchains are folders of links to them.

A package is kept below store/, its programs made to start with the loader of the suite's own
libc6. A root has hard links to the files of all packages that a compiler needs, as / would look
with them installed. What two roots share is on the disk once.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from everycore.binary.interpreter import interpreter_of, set_interpreter
from everycore.compile import debs
from everycore.compile.debs.lock import Pinned
from everycore.compile.toolchains.cache_lock import folder_of
from everycore.compile.toolchains.compiler_lock import REMEDY, Part
from everycore.environment.context import Context
from everycore.environment.errors import cannot_write
from everycore.environment.progress import Progress
from everycore.environment.workers import worker_pool

LAYOUT = "1"  # counts up with what is made of the same packages
LIBC = "libc6"
UNWANTED = ("etc/", "usr/lib/bfd-plugins/", "usr/lib/python3", "usr/share/", "var/")
# Programs for linking with -flto, run-time libraries of sanitizers, and what is for plugins.
DROPPED = (
    "usr/bin/*-lto-dump-*",
    "usr/lib/*/gconv",
    "usr/lib*/gcc*/*/*/lib*san*",
    "usr/lib*/gcc*/*/*/lto1",
    "usr/lib*/gcc*/*/*/plugin",
    "usr/lib/llvm-*/build",
    "usr/lib/llvm-*/lib/clang/*/lib",
    "usr/lib/llvm-*/share",
)
LINKS = ("bin", "lib", "lib64")  # of a root, to the same below usr
DISK_HINT = "`everycore toolchain remove` frees space; XDG_CACHE_HOME names another place"


def keys_of(pins: Sequence[Pinned]) -> list[str]:
    """The folder of each package below store/."""
    loader = next((_sha256(pin) for pin in pins if pin.name == LIBC), "")[:8]
    return [f"{pin.name}-{_sha256(pin)[:16]}-{loader or 'none'}-{LAYOUT}" for pin in pins]


def root_of(context: Context, part: Part, made: str) -> Path:
    """The root of a part of Debian: complete, or not there."""
    keys = dict(zip(keys_of(part.files), part.files, strict=True))
    missing = {key: pin for key, pin in keys.items() if not _kept(context, key).is_dir()}
    paths = debs.fetched(context, list(missing.values()), made, REMEDY)
    libc = next((key for key, pin in keys.items() if pin.name == LIBC), "")
    if libc in missing:  # whose loader the others name
        _keep(context, libc, missing[libc], paths, libc)
    others = [key for key in missing if key != libc]
    with (
        Progress(context.err, f"unpacking {part.package}", len(others)) as progress,
        worker_pool() as pool,
    ):
        for key in pool.map(lambda k: _keep(context, k, missing[k], paths, libc), others):
            progress.step(key)
    for pin in missing.values():
        debs.discard(context, pin.files[0])
    place = folder_of(context, "roots") / _root_name(part)
    return complete_folder(place, lambda root: _link_all(context, keys, root))


def root_of_file(context: Context, part: Part, fill: Callable[[Path], None]) -> Path:
    """The root of a part that is one file, which `fill` unpacks."""
    return complete_folder(folder_of(context, "roots") / _root_name(part), fill)


def _root_name(part: Part) -> str:
    (own,) = (pin for pin in part.files if pin.name == part.package)
    return f"{part.name}.{part.target}-{_sha256(own)[:16]}-{LAYOUT}"


def complete_folder(place: Path, fill: Callable[[Path], None]) -> Path:
    """The folder `place`, filled beside its name if it is not there: it never lacks anything."""
    if place.is_dir():
        return place
    scratch = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".", dir=place.parent))
        scratch.chmod(0o755)
        fill(scratch)
        scratch.rename(place)
    except OSError as error:
        if not place.is_dir():  # else another run was faster
            raise cannot_write(f"into {place.parent}", error, DISK_HINT, "unpack") from error
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
    return place


def _keep(context: Context, key: str, pin: Pinned, paths: dict[str, Path], libc: str) -> str:
    def fill(folder: Path) -> None:
        debs.unpack_package(paths[pin.files[0].name], folder, UNWANTED)
        for pattern in DROPPED:
            for path in folder.glob(pattern):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if libc and key != libc:
            _repoint(folder, _kept(context, libc))

    complete_folder(_kept(context, key), fill)
    return key


def _repoint(folder: Path, libc: Path) -> None:
    """Programs of a package start with the loader of its own suite."""
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file() or not (old := interpreter_of(path)):
            continue
        new = next((p for p in sorted(libc.rglob(Path(old).name)) if p.is_file()), None)
        if new is not None:
            set_interpreter(path, str(new))


def _link_all(context: Context, keys: Iterable[str], root: Path) -> None:
    for key in keys:
        package = _kept(context, key)
        for folder, folders, files in os.walk(package):
            here = root / Path(folder).relative_to(package)
            here.mkdir(exist_ok=True)
            for name in (*files, *(d for d in folders if Path(folder, d).is_symlink())):
                _link(Path(folder, name), here / name)
    for name in LINKS:
        if (root / "usr" / name).is_dir() and not (root / name).exists():
            (root / name).symlink_to(f"usr/{name}")


def _link(source: Path, place: Path) -> None:
    if place.is_symlink() or place.exists():  # another package's: dpkg refuses it, here it stays
        return
    try:
        os.link(source, place, follow_symlinks=False)
    except OSError as error:  # a file system without hard links
        if error.errno not in (errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EOPNOTSUPP):
            raise
        shutil.copy2(source, place, follow_symlinks=False)


def _kept(context: Context, key: str) -> Path:
    return folder_of(context, "store") / key


def _sha256(pin: Pinned) -> str:
    return pin.files[0].sha256


def sweep(context: Context, roots: set[str], keys: set[str]) -> None:
    """Remove roots and packages that nothing names, and what interrupted runs have left."""
    for folder, wanted in (
        (folder_of(context, "roots"), roots),
        (folder_of(context, "store"), keys),
    ):
        for path in folder.glob("*") if folder.is_dir() else ():
            if path.name not in wanted:
                shutil.rmtree(path, ignore_errors=True)


def disk_bytes(*folders: Path) -> int:
    """Return how many bytes folders take on the disk; of hard links within them one counts."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for top in folders:
        for folder, _, files in os.walk(top):
            for status in (os.lstat(Path(folder, name)) for name in (*files, ".")):
                if (status.st_dev, status.st_ino) not in seen:
                    seen.add((status.st_dev, status.st_ino))
                    total += status.st_blocks * 512
    return total
