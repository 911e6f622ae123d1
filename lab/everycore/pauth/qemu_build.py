# SPDX-License-Identifier: MIT
"""A QEMU with our pointer authentication, built in the cache from Debian's source package.

    recipe = Recipe("trixie")                     # or Recipe("bookworm", system=True)
    program = build_qemu(context, tree, recipe)   # minutes; the next time none

Nothing is installed, and no root is needed: the libraries that QEMU links come from Debian's
archive as well (on another system, from the system), Meson and ninja as wheels.
"""

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError, cannot_write
from everycore.environment.progress import Progress
from everycore.model.domain import Tree
from everycore.pauth.emulators import locked

SCRIPT = Path("contrib/qemu/patch-qemu")
READS = ("contrib/qemu", "include", "src")  # what the script copies from
RELEASE = Path("/etc/os-release")
PACKAGES = ("libfdt-dev", "libglib2.0-dev", "libpixman-1-dev", "zlib1g-dev")
# The compiler has its own C library; what else these need is for programs of packages.
NOT_LINKED = (
    "libc6", "libc6-dev", "libglib2.0-bin", "libglib2.0-dev-bin", "libgio-2.0-dev-bin",
    "libgirepository-2.0-0", "girepository-tools", "gir1.2-girepository-2.0", "gir1.2-glib-2.0",
    "gir1.2-glib-2.0-dev", "native-architecture", "pkg-config", "pkgconf", "python3", "python3:any",
    "python3-distutils", "python3-packaging", "libmount-dev", "libselinux1-dev", "libffi-dev",
)  # fmt: skip
TOOLS = ("meson>=1.5,<2", "ninja", "pycotap>=1.1")  # QEMU's pythondeps.toml
OPTIONS = (
    "--without-default-features", "--enable-tcg", "--disable-docs", "--disable-debug-info",
    "--disable-install-blobs", "--disable-werror",
)  # fmt: skip
USER = ("--target-list=aarch64-linux-user", "--enable-linux-user", "--disable-system")
SYSTEM = (
    "--target-list=aarch64-softmmu", "--enable-system", "--enable-fdt=system",
    "--with-devices-aarch64=minimal", "--enable-pixman",
)  # fmt: skip
OLD_SYSTEM = ("--enable-pixman",)  # is no option before QEMU 8.2, which wants it anyway
# Variables that its configure and Meson read: QEMU's configure, Meson's "Environment variables".
SETTINGS = (
    "AR", "AS", "CC", "CFLAGS", "CPP", "CPPFLAGS", "CXX", "CXXFLAGS", "LD", "LDFLAGS", "NM",
    "OBJCC", "OBJCFLAGS", "OBJCOPY", "PKG_CONFIG", "PKG_CONFIG_PATH", "RANLIB", "STRIP",
)  # fmt: skip
SIGNED = ("GIT_AUTHOR_NAME=everycore", "GIT_AUTHOR_EMAIL=everycore@example.org")
SHOWN_LINES = 15
_STEP = re.compile(r"\[(\d+)/(\d+)\]")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts of a build."""

    suite: str = "trixie"
    system: bool = False  # a whole machine instead of a program
    static: bool = False
    series: bool = False  # the patches of `patch-qemu --series` instead of what patch-qemu does

    @property
    def program(self) -> str:
        return "qemu-system-aarch64" if self.system else "qemu-aarch64"

    def options(self, version: str) -> list[str]:
        """For QEMU's configure."""
        found = [*OPTIONS, *(SYSTEM if self.system else USER)]
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < (8, 2):
            found = [option for option in found if option not in OLD_SYSTEM]
        return [*found, "--static" if self.static else "--enable-plugins"]


@dataclass(frozen=True, slots=True)
class Libraries:
    """Paths of QEMU's libraries, as configure and its environment are told."""

    options: tuple[str, ...] = ()
    env: tuple[str, ...] = ()


@dataclass(slots=True)
class Steps:
    """Ninja's lines: how far it is, and the last ones for when it fails."""

    done: int = 0
    total: int = 0
    last: deque[str] = field(default_factory=lambda: deque(maxlen=SHOWN_LINES))

    def take(self, line: str) -> bool:
        """Whether another step is done."""
        self.last.append(line)
        match = _STEP.match(line)
        if match:
            self.done, self.total = int(match[1]), int(match[2])
        return match is not None


def build_qemu(context: Context, tree: Tree, recipe: Recipe, update: bool = False) -> Path:
    """The program; built if the cache does not have it."""
    request = Request((recipe.suite,), "source", sources=("qemu",))
    lock = locked(context, request, f"qemu-{recipe.suite}", update)
    libraries = _libraries(context, recipe, update)
    settings = [f"{name}={context.env[name]}" for name in SETTINGS if context.env.get(name)]
    options = [*libraries.options, *recipe.options("99.0"), *settings]
    kind = ["series"] if recipe.series else []
    key = "\0".join([lock.digest(), _digest(tree), *options, *kind])
    folder = context.cache_dir() / "pauth" / hashlib.sha256(key.encode()).hexdigest()[:32]
    program = folder / recipe.program
    if program.is_file() and context.runner.run([str(program), "--version"]).code == 0:
        return program
    source = debs.unpacked_source(context, lock, "qemu")
    tools = _tools(context)
    with _scratch(folder) as scratch:
        sources, build = scratch / "qemu", scratch / "build"
        # Links: the script and Meson write no file that is there, but beside it.
        shutil.copytree(source, sources, copy_function=os.link, symlinks=True)
        _patch(context, tree, sources, scratch / "series" if recipe.series else None)
        _configure(context, recipe, libraries, tools, sources, build)
        _compile(context, recipe, tools, build)
        folder.mkdir(parents=True, exist_ok=True)
        (build / recipe.program).replace(program)
    return program


def _digest(tree: Tree) -> str:
    """Hash everything that goes into the program from here."""
    digest = hashlib.sha256()
    for name in READS:
        for path in sorted(p for p in (tree.root / name).rglob("*") if p.is_file()):
            digest.update(f"{path.relative_to(tree.root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


@contextmanager
def _scratch(beside: Path) -> Iterator[Path]:
    """Some 1.5 GB for the time of a build, on the cache's own disk."""
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="qemu-", dir=beside.parent) as name:
            yield Path(name)
    except OSError as error:
        # The error of files that cannot be copied is a list of (from, to, why).
        why = error.args[0][0][2] if isinstance(error, shutil.Error) else error.strerror or error
        raise EverycoreError(
            f"cannot build QEMU in {beside.parent}: {why}",
            "it needs 1.5 GB there; XDG_CACHE_HOME names another place",
        ) from error


def _patch(context: Context, tree: Tree, sources: Path, series: Path | None) -> None:
    """As patch-qemu does, or by the patches of its series, which `git apply` checks."""
    words = ["--series", str(series)] if series else []
    argv = ["env", *SIGNED, sys.executable, str(tree.root / SCRIPT), str(sources), *words]
    done = context.runner.run(argv)
    if series and not done.code:
        patches = [str(path) for path in sorted(series.glob("000[1-9]-*.patch"))]
        done = context.runner.run(["git", "apply", "--whitespace=error", *patches], cwd=sources)
    if done.code:
        raise EverycoreError(done.stderr.strip(), "another --suite may have a tree that it knows")
    _lay_blobs(sources)


def _lay_blobs(sources: Path) -> None:
    """Debian's sources lack firmware that Meson wants to see: empty files, which nothing reads."""
    for listed in (sources / "pc-bios").rglob("meson.build"):
        for word in re.findall(r"'([\w,.-]+)'", listed.read_text(encoding="utf-8")):
            names = {".fd": (f"{word}.bz2",), ".dts": (f"{word[:-4]}.dtb",)}
            for name in (word, *names.get(Path(word).suffix, ())):
                if not word.startswith("-") and not (listed.parent / name).exists():
                    (listed.parent / name).touch()


def _configure(
    context: Context, recipe: Recipe, libraries: Libraries, tools: Path, sources: Path, build: Path
) -> None:
    build.mkdir()
    version = (sources / "VERSION").read_text(encoding="utf-8")
    path = f"PATH={tools}{os.pathsep}{context.env.get('PATH', os.defpath)}"
    options = [*recipe.options(version), *libraries.options]
    if (sources / "pythondeps.toml").is_file():  # earlier versions take Meson from PATH
        options.append(f"--python={tools / 'python'}")
    argv = ["env", path, *libraries.env, "sh", str(sources / "configure"), *options]
    with Progress(context.err, f"configuring {recipe.program}", None):
        done = context.runner.run(argv, cwd=build)
    if done.code:
        said = [*done.stdout.splitlines(), *done.stderr.splitlines()]
        log = build / "meson-logs" / "meson-log.txt"
        if log.is_file():
            found = re.findall(r"^.*ERROR: .*", log.read_text(errors="replace"), re.M)
            said = found or said
        raise _broken("configured", recipe, said)


def _compile(context: Context, recipe: Recipe, tools: Path, build: Path) -> None:
    steps = Steps()
    argv = [str(tools / "ninja"), "-C", str(build), recipe.program]
    run = context.runner.stream(argv)
    with Progress(context.err, f"building {recipe.program}", None) as progress:
        while True:
            try:
                if steps.take(next(run)):
                    progress.step(f"of {steps.total}")
            except StopIteration as end:
                done: Completed = end.value
                break
    if done.code:
        raise _broken("built", recipe, steps.last)


def _broken(what: str, recipe: Recipe, said: Sequence[str] | deque[str]) -> EverycoreError:
    last = "\n".join(list(said)[-SHOWN_LINES:])
    return EverycoreError(f"{recipe.program} of {recipe.suite} cannot be {what}", last)


# ---- What building takes -------------------------------------------------------------------------


def _libraries(context: Context, recipe: Recipe, update: bool) -> Libraries:
    """Those of this Debian, whose C library the compiler links; elsewhere the system's own."""
    suite = _suite_here()
    if not suite:
        return Libraries()
    request = Request((suite,), debs.architecture_of(), PACKAGES, exclude=NOT_LINKED)
    root = debs.unpacked(context, locked(context, request, f"qemu-libraries-{suite}", update))
    library = next(root.glob("usr/lib/*/libglib-2.0.so.0"), None)
    if library is None:
        raise EverycoreError(f"{suite}'s packages hold no libglib-2.0.so.0, which QEMU links")
    folder = library.parent
    runs = "" if recipe.static else f" -Wl,-rpath,{folder}"
    return Libraries(
        (f"--extra-cflags=-isystem {root}/usr/include", f"--extra-ldflags=-L{folder}{runs}"),
        (
            f"PKG_CONFIG_LIBDIR={folder}/pkgconfig:{root}/usr/share/pkgconfig",
            f"PKG_CONFIG_SYSROOT_DIR={root}",
        ),
    )


def _suite_here(path: Path = RELEASE) -> str:
    """The name of this system's release, if it is Debian's."""
    if not path.is_file():
        return ""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    words = dict(line.split("=", 1) for line in lines if "=" in line)
    return words.get("VERSION_CODENAME", "") if words.get("ID") == "debian" else ""


def _tools(context: Context) -> Path:
    """The folder of programs of a virtual environment with Meson and ninja.

    Its programs hold its path. So each is made where it stays, and a link says which one counts.
    """
    made_of = [sys.executable, sys.version, *TOOLS]
    digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:16]
    link = context.cache_dir() / "pauth" / f"tools-{digest}"
    before = link.resolve()
    if not _works(context, before):
        made = _environment(context, link)
        if link.resolve() != before and _works(context, link.resolve()):  # another run's
            shutil.rmtree(made)
        else:
            (made / "link").symlink_to(made.name)
            shutil.rmtree(before, ignore_errors=True)  # if there was one, it is broken
            (made / "link").replace(link)
    return link.resolve() / "bin"


def _environment(context: Context, beside: Path) -> Path:
    """Meson and ninja in a new folder beside a path."""
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{beside.name}-", dir=beside.parent))
    except OSError as error:
        raise cannot_write(
            f"the cache {beside.parent}", error, "set XDG_CACHE_HOME to another place"
        ) from error
    try:
        _run(context, [sys.executable, "-m", "venv", str(folder)])
        _run(context, [str(folder / "bin" / "pip"), "install", "--quiet", *TOOLS])
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _works(context: Context, folder: Path) -> bool:
    """Its Python may be gone, or another one than it was made for."""
    try:
        return all(
            context.runner.run([str(folder / "bin" / name), "--version"]).code == 0
            for name in ("meson", "ninja")
        )
    except EverycoreError:
        return False


def _run(context: Context, argv: Sequence[str]) -> None:
    done = context.runner.run(argv)
    if done.code:
        said = "\n".join([*done.stdout.splitlines(), *done.stderr.splitlines()][-SHOWN_LINES:])
        raise EverycoreError(f"Meson and ninja, which build QEMU, cannot be had: {argv[0]}", said)
