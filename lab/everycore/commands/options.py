# SPDX-License-Identifier: MIT
"""Options that several commands share."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from everycore.commands.completion import (
    complete_kernels,
    complete_primitives,
    complete_targets,
    complete_words,
)
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, MissingPackagesError, unknown_name
from everycore.environment.outputs import atomic_output, is_standard_output, is_stream

if TYPE_CHECKING:
    from everycore.report.page.answer import AnswerPage

S = TypeVar("S")
T = TypeVar("T")
Json = Annotated[bool, typer.Option("--json", help="JSON lines instead of tables.")]
TargetName = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="NAME",
        help="Where to run: a name of catalog/targets/, or a file.",
        autocompletion=complete_targets,
    ),
]
CpuNumber = Annotated[
    int | None,
    typer.Option("--cpu", metavar="N", min=0, help="Measure on this core of the machine."),
]
CompilerCommand = Annotated[
    str | None,
    typer.Option("--cc", metavar="CC", help="C compiler. Default: $CC, cc, or the target's."),
]
CompilerFlags = Annotated[
    str | None,
    typer.Option("--flags", metavar="FLAGS", help="Compiler flags, quoted. Default: -O2."),
]
KernelNames = Annotated[
    list[str] | None,
    typer.Option(
        "--kernel",
        metavar="NAME",
        help="Only this kernel; repeatable.",
        autocompletion=complete_kernels,
    ),
]
PrimitiveNames = Annotated[
    list[str] | None,
    typer.Option(
        "--primitive",
        metavar="NAME",
        help="Only this primitive; repeatable.",
        autocompletion=complete_primitives,
    ),
]
Modes = Annotated[
    list[str] | None, typer.Option("--mode", metavar="MODE", help="Only this mode; repeatable.")
]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--bytes", metavar="N", help="Message size in bytes; repeatable."),
]
KeyBits = Annotated[int, typer.Option("--key-bits", metavar="N", help="128, 192 or 256.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Where to store the samples: a new file; `-`: standard output.",
    ),
]
SarifFile = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE", help="Write findings as SARIF 2.1.0.")
]
PageFile = Annotated[
    Path | None,
    typer.Option("--page", metavar="FILE", help="The answer as a page of HTML, too."),
]
Policy = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="CLASS",
        help="Worst timing class allowed: ct, hardened or vartime.",
        autocompletion=complete_words("ct", "hardened", "vartime"),
    ),
]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The place where a harness runs, and its compiler."""

    target: TargetName = "host"
    cc: CompilerCommand = None
    flags: CompilerFlags = None


# The limits of --keys and --aad-bytes, as the harness has them.
MOST_KEYS = 65536
MOST_AAD_BYTES = 1024
MODE_OF_KEYS = "gcm-seal"
AAD_MODES = ("gcm-seal", "gcm-open", "ccm-seal", "ccm-open", "gcm-siv-seal", "gcm-siv-open")


@dataclass
class InputErrors:
    """Inputs of a command: an error of one is told, and the others are worked on."""

    context: Context
    n_failed: int = 0

    def of(self, name: str, work: Callable[[], T]) -> T | None:
        """Return what work on an input gives; None if it fails."""
        try:
            return work()
        except MissingPackagesError as error:  # which names no file
            self.context.tell(EverycoreError(f"{name}: {error.message}", error.hint))
        except EverycoreError as error:
            self.context.tell(error)
        self.n_failed += 1
        return None

    def each(
        self, inputs: Iterable[S], name: Callable[[S], str], work: Callable[[S], T]
    ) -> Iterator[tuple[S, T]]:
        """Yield inputs with what work on them gives, without those on which it fails."""
        for item in inputs:
            found = self.of(name(item), partial(work, item))
            if found is not None:
                yield item, found

    def write_sarif(self, path: Path, document: Mapping[str, object]) -> None:
        """Write a document about all inputs; warn and write nothing if one of them failed."""
        if self.n_failed:
            self.context.warn(f"{path} is not written: not all files could be checked")
            return
        with atomic_output(self.context.cwd / path, self.context.out.file) as scratch:
            scratch.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")

    def end(self, is_bad: bool = False) -> typer.Exit:
        """The end of the command."""
        return typer.Exit(2 if self.n_failed else int(is_bad))


def context_of(command: typer.Context) -> Context:
    context = command.obj
    assert isinstance(context, Context)
    return context


def read_input(context: Context, name: str, most: int, remedy: str, if_too_large: str) -> bytes:
    """Read a file; `remedy` is for one that is not there, `if_too_large` for more than `most`."""
    try:
        with (context.cwd / name).open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        raise EverycoreError(f"{name}: no such file", remedy) from None
    except OSError as error:
        raise EverycoreError(f"{name}: cannot be read: {error.strerror}", "name a file") from error
    if len(data) > most:
        size = f"{most >> 30} GiB" if most >= 1 << 30 else f"{most >> 20} MiB"
        raise EverycoreError(f"{name}: more than {size}", if_too_large)
    return data


def text_of(path: str) -> str:
    """Return the text of a file of the system; nothing if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def tables_on_stderr(context: Context, out: Path | None) -> Context:
    """A context that prints tables on standard error if `out` is standard output."""
    return replace(context, out=context.err) if is_standard_output(out) else context


def print_output_path(context: Context, what: str, path: Path) -> None:
    """Say in which file results are; who named a stream knows."""
    if not is_stream(path):
        context.err.print(f"{what}: {path}", markup=False, soft_wrap=True)


def split_commas(values: list[str] | None) -> list[str]:
    """Values of an option that may be repeated and may hold comma lists."""
    return [word for value in values or () for word in value.split(",") if word]


def refuse_unknown_kernels(context: Context, names: Iterable[str]) -> None:
    """Refuse names that no line of the registry has, before anything is compiled.

    A pair of kernels for GCM is written `AES+GHASH`.
    """
    tree = catalog.tree_of(context)
    known = {line.name for line in catalog.registry(tree)}
    for half in (half for name in names for half in name.split("+")):
        if half not in known:
            raise unknown_name("kernel", half, sorted(known))


def refuse_unknown_primitives(context: Context, names: Iterable[str]) -> None:
    """Refuse primitives that the registry has no kernel of, before anything is compiled."""
    known = {line.primitive for line in catalog.registry(catalog.tree_of(context))}
    for name in names:
        if name not in known:
            raise unknown_name("primitive", name, sorted(known))


def numbers_within(option: str, given: Sequence[str], least: int, most: int) -> tuple[int, ...]:
    """The values of an option that may be repeated, each once."""
    for word in given:
        if not word.isdecimal() or not least <= int(word) <= most:
            raise EverycoreError(
                f"{option}: '{word}' is not within {least} to {most}",
                "give a whole number of that range",
            )
    return tuple(dict.fromkeys(int(word) for word in given))


def message_sizes(given: Sequence[str]) -> tuple[int, ...]:
    """The values of --bytes."""
    for word in given:
        if not word.isdecimal() or not 1 <= int(word) <= 1 << 24:
            raise EverycoreError(
                f"'{word}' is no message size", "--bytes wants 1 to 16777216 bytes"
            )
    return tuple(int(word) for word in given)


def write_answer_page(context: Context, path: Path, page: "AnswerPage") -> None:
    """Write a page with the date and the version in it, and its drawing if there is one."""
    from importlib.metadata import PackageNotFoundError, version

    from everycore.environment import extras

    try:
        own = version("everycore")
    except PackageNotFoundError:
        own = ""
    made = context.now().isoformat(sep=" ", timespec="minutes")[:16]
    try:
        from everycore.report.page import plots
        from everycore.report.page.answer import render_answer

        library = plots.plot_library() if page.drawing else ""
        text = render_answer(replace(page, made=made, version=own), library)
    except ModuleNotFoundError as error:
        raise extras.missing_packages("a page", "report") from error
    with atomic_output(path, context.out.file) as scratch:
        scratch.write_text(text, encoding="utf-8")
