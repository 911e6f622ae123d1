# SPDX-License-Identifier: MIT
"""The harness as an EFI application: clang compiles it for no operating system, ld.lld links it as
harness/port/uefi/image.lds says."""

from pathlib import Path

from everycore.compile import catalog
from everycore.compile.binaries import build_harness, digest_of, harness_objects
from everycore.compile.toolchains import find_compiler
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Build, Compiler, Target, Tree
from everycore.run.uefi.boot_targets import Architecture

COMPILER = "clang"
LINKER = "ld.lld"
PACKAGES = ("clang", "lld")
# In firmware there is no operating system to ask for randomness, or to measure other programs in.
ABSENT = ("bursts", "ct", "peer", "cpu_limits", "generate")
KEPT = ("ct_marks.c",)
FLAGS = (
    "-ffreestanding", "-nostdlibinc", "-fpie", "-fvisibility=hidden", "-fno-stack-protector",
    "-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables",
    "-DHARNESS_UEFI", "-DHARNESS_BARE", "-DEVC_CPU_WITHOUT_OS", "-Iharness/bare/include",
)  # fmt: skip
OPTIMISATION = ("-O2", "-fno-unroll-loops")  # unrolled, two applications exceed 2 MiB
HARNESS_FLAGS = ("-Oz",)  # of what is not timed: two applications and results share 2 MiB
LINK_FLAGS = (
    "-pie", "--no-dynamic-linker", "-z", "text", "-z", "norelro", "-Bsymbolic",
    "--hash-style=sysv", "--pack-dyn-relocs=relr", "--build-id=none", "--gc-sections",
    "--icf=all",  # functions of equal code are one: nothing here asks which of them it has
    # A section that the script does not name would lie behind the image, in memory of others.
    "-e", "efi_entry", "--oformat", "binary", "--orphan-handling=error",
)  # fmt: skip


def sources(tree: Tree) -> list[Path]:
    """The files of the application."""
    return [
        path
        for path in catalog.sources(tree)
        if path.parent != Path("harness") or path.name in KEPT or not path.name.startswith(ABSENT)
    ]


def flags_of(architecture: Architecture) -> tuple[str, ...]:
    """The flags of all files, without those of the harness's own."""
    return (f"--target={architecture.triple}", *FLAGS, *architecture.flags, *OPTIMISATION)


def build(context: Context, tree: Tree, architecture: Architecture, cc: str | None = None) -> Build:
    """The application for a machine; nothing is compiled that was compiled before."""
    script = tree.root / "harness/port/uefi/image.lds"
    link_flags = (
        *LINK_FLAGS,
        "--defsym", f"efi_machine={architecture.pe_machine}",
        "--defsym", f"efi_layout=0x{digest_of([script])[:8]}",  # another, another program
        "-T", str(script.absolute()),
    )  # fmt: skip
    target = _target(architecture, link_flags)
    compiler = _compiler(context, architecture, cc)
    said = context.runner.run([LINKER, "--version"])
    if said.code != 0:
        raise EverycoreError(f"{LINKER} does not run", "Debian: apt-get install lld")
    linker = Compiler((LINKER,), said.stdout.strip(), said.stdout)
    flags, files = flags_of(architecture), sources(tree)
    return build_harness(context, tree, target, compiler, flags, files, linker, HARNESS_FLAGS)


def objects(context: Context, tree: Tree, architecture: Architecture) -> list[tuple[Path, Path]]:
    """The sources and objects of the application, which is built before."""
    build(context, tree, architecture)
    compiler = _compiler(context, architecture, None)
    words = flags_of(architecture)
    return harness_objects(context, tree, compiler, words, sources(tree), HARNESS_FLAGS)


def _target(architecture: Architecture, link_flags: tuple[str, ...] = ()) -> Target:
    return Target(
        name=f"efi-{architecture.name}",
        description="firmware",
        compiler=COMPILER,
        link_flags=link_flags,
        packages=PACKAGES,
    )


def _compiler(context: Context, architecture: Architecture, cc: str | None) -> Compiler:
    words = flags_of(architecture)
    return find_compiler(context, _target(architecture), cc, words, architecture.name)
