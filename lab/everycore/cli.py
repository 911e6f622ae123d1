# SPDX-License-Identifier: MIT
"""The command line: one table of commands, and one place where errors become exit codes."""

import ast
import errno
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from everycore.commands.command_groups import SectionedGroup
from everycore.environment.context import Context, system_context
from everycore.environment.errors import EverycoreError, SignalError, unknown_name

INTERRUPTED = 130
REMEDIES = {
    errno.ENOSPC: "free some space, or write elsewhere",
    errno.EACCES: "ask as a user who may do this, or name another place",
    errno.EROFS: "name a place that can be written",
}
# The base of the errors that typer raises for a command line; older versions take it from click.
_REFUSED: Any = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)
_PLAIN = {  # its words, and ours
    "is not a valid int range": "is no whole number",
    "is not a valid int": "is no whole number",
    "is not a valid float range": "is no number",
    "is not a valid float": "is no number",
    "Got unexpected extra argument(s)": "too many words:",
    "Got unexpected extra arguments": "too many words:",
    "Got unexpected extra argument": "too many words:",
}
COMPLETE = "_EVERYCORE_COMPLETE"  # set by a shell that completes a command line

# Commands by the heading under which the help has them; the function of each, in
# everycore.commands.NAME.
COMMAND_GROUPS = {
    "Kernels": {
        "bench": "app",
        "check": "app",
        "ct": "ct",
        "list": "list_kernels",
        "resolve": "resolve",
        "tune": "tune",
        "estimate": "estimate",
        "peers": "peers_command",
        "genrsa": "genrsa",
        "dhparam": "dhparam",
    },
    "Compilers": {
        "matrix": "app",
        "subject": "app",
        "toolchain": "app",
        "job": "job",
    },
    "Results": {
        "report": "report",
        "compare": "compare",
        "query": "query",
        "pack": "pack",
    },
    "This machine": {
        "limits": "limits",
        "doctor": "doctor",
        "profile": "profile",
        "provider": "app",
        "pauth": "pauth",
    },
    "Firmware": {
        "rom": "app",
        "efi": "app",
        "canary": "app",
        "pcd": "app",
    },
}
COMMANDS = {name: own for group in COMMAND_GROUPS.values() for name, own in group.items()}


# A command line or two for each, as its help shows them.
EXAMPLES = {
    "bench": (
        "bench --quick",
        "bench --all --mode ctr,gcm-seal --out mine.jsonl",
        "bench speed rsa",
        "bench placement --mode ctr",
        "bench clock --bytes 64 --pause 100",
    ),
    "check": ("check --quick", "check --kernel x86_aesni", "check vectors", "check placement"),
    "ct": ("ct --quick --kernel c_bitslice64", "ct --cc clang --flags=-O3"),
    "resolve": ("resolve --why", "resolve --cpu cortex-a72"),
    "tune": (
        "tune",
        "tune results/intel-granite-rapids/tune.jsonl.xz",
        "tune --store my-machine",
    ),
    "list": ("list", "list --markdown"),
    "compare": ("compare --run HEAD . --mode ctr", "compare before.jsonl after.jsonl", "compare"),
    "limits": ("limits",),
    "estimate": ("estimate --core cortex-a53 --mode ctr",),
    "peers": ("peers", "peers --suite sid --mode gcm-seal"),
    "pauth": ("pauth --suite trixie --rounds 3",),
    "subject": ("subject list", "subject check linux-6.1", "subject count bearssl"),
    "matrix": (
        "matrix --subject linux-6.1 --budget 10m",
        "matrix --subject ./mine.toml --toolchain gcc-12 --flags=-O2 --flags=-O3",
        "matrix regressions --resume",
        "matrix plan --subject c_ttable4 --target qemu-aarch64 --json",
    ),
    "job": ("job job.json",),
    "toolchain": ("toolchain list", "toolchain add gcc-14 clang-19"),
    "report": ("report", "report mine.jsonl --out mine.html"),
    "pack": ("pack --out mine.pack", "pack one.jsonl two.jsonl --out both.pack"),
    "query": (
        'query "SELECT subject, min(value) FROM latest GROUP BY subject"',
        'query --from mine.pack "SELECT count(*) FROM cells"',
        "query --columns",
    ),
    "rom": (
        "rom list card.rom",
        "rom check --machine aarch64 card.rom",
        "rom hash --esl card.esl 0000:01:00.0",
        "rom insert --out new.rom card.rom driver.efi",
    ),
    "efi": (
        "efi check driver.efi",
        "efi check --platform arm-server --map driver.map driver.efi",
        "efi check --static --sarif findings.sarif card.rom",
    ),
    "canary": (
        "canary check program",
        "canary check --policy per-task --register tpidr_el0 --symbol guard program",
        "canary check --map driver.map --sarif findings.sarif driver.efi",
    ),
    "provider": (
        "provider enable",
        "provider status nginx curl ssh",
        "provider disable",
    ),
    "doctor": ("doctor", "doctor --no-probe /usr/bin/ssh", "doctor --kernel"),
    "profile": (
        "profile -- openssl speed -evp aes-256-gcm",
        "profile --pid 4711 --seconds 5",
        "profile --try -- env OPENSSL_ia32cap=~0x200000000000000 openssl speed -evp aes-128-cbc",
    ),
    "pcd": (
        "pcd list driver.efi --map driver.map",
        "pcd set driver.efi --map driver.map --out new.efi PcdRounds=20",
        "pcd verify driver.efi --inf driver.inf",
    ),
    "genrsa": ("genrsa 3072 --out key.pem",),
    "dhparam": ("dhparam 2048 --out dh.pem",),
}
EXIT_CODES = """\b
Exit codes: 0 all is well; 1 a check failed, answers are wrong, or a figure
got worse; 2 wrong usage, or something is missing here; 130 interrupted.

\b
Examples:
  everycore bench                      what the selected kernels cost here
  everycore resolve --cpu cortex-a72   which kernels another CPU would get
  everycore matrix --subject linux-6.1 --budget 10m
"""


def examples_of(name: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  everycore {line}" for line in EXAMPLES[name])


def make_app(words: Sequence[str] = ()) -> typer.Typer:
    """Return an app with the command that is named, or with the help of all commands."""
    app = typer.Typer(
        name="everycore",
        cls=SectionedGroup,
        epilog=EXIT_CODES,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(help="Measure, check and choose kernels of cryptography for every CPU core.")
    def common(
        _version: Annotated[
            bool,
            typer.Option(
                "--version",
                help="Print the version and exit.",
                callback=show_version,
                is_eager=True,
            ),
        ] = False,
        _debug: Annotated[bool, typer.Option("--debug", help="Tracebacks with errors.")] = False,
    ) -> None:
        """--version ends before this; main() takes --debug itself, wherever it stands."""

    named = next((word for word in words if word != "--"), "")
    if named in COMMANDS:
        module = import_module(f"everycore.commands.{named}")
        found = getattr(module, COMMANDS[named])
        if isinstance(found, typer.Typer):  # a command that has commands of its own
            app.add_typer(found, name=named, epilog=examples_of(named))
        else:
            app.command(named, epilog=examples_of(named))(found)
        return app
    for heading, group in COMMAND_GROUPS.items():
        for name in group:
            app.command(name, help=help_of(name), rich_help_panel=heading)(_not_first)
    return app


def _not_first() -> None:
    """Commands are imported only where the command line begins with them."""
    raise EverycoreError("options of a command stand behind its name", "everycore COMMAND --help")


def help_of(name: str) -> str:
    """Return the help of a command. Its source is read: importing all commands takes a second."""
    spec = find_spec(f"everycore.commands.{name}")
    assert spec is not None
    assert spec.origin is not None
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == COMMANDS[name]:
            return ast.get_docstring(node) or ""
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == COMMANDS[name]:
            assert isinstance(node.value, ast.Call)
            words = {keyword.arg: keyword.value for keyword in node.value.keywords}
            return str(ast.literal_eval(words["help"]))
    raise AssertionError(f"commands/{name}.py has no {COMMANDS[name]}")


def show_version(command: typer.Context, wanted: bool) -> None:
    if wanted:
        from everycore.environment.version import package_version

        known = package_version() or "(not installed)"
        command.obj.print_raw(f"everycore {known}{built_from(command.obj)}")
        raise typer.Exit


def built_from(context: Context) -> str:
    """The commit that a wheel was built from, if it is known; of a checkout git knows it."""
    from everycore.compile import catalog
    from everycore.run import machine

    tree = catalog.tree_of(context)
    commit = "" if tree.is_checkout else machine.recorded_revision(tree)
    return f" (commit {commit})" if commit else ""


def main(arguments: Sequence[str], context: Context | None = None) -> int:
    """Run one command line; the exit code."""
    context = context or system_context()
    return exit_code_of(lambda: _run(arguments, context), context, "--debug" in arguments)


def exit_code_of(work: Callable[[], int], context: Context, debug: bool = False) -> int:
    """Do the work of a command; its exit code, or that of the error, which the user is told."""
    try:
        with context.closing:
            return work()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SignalError as error:
        with suppress(OSError):  # the terminal is gone
            context.err.print(f"everycore: ended: {error}", style="bold red", markup=False)
            for note in getattr(error, "__notes__", ()):
                context.err.print(note, markup=False, soft_wrap=True)
        return error.code
    except BrokenPipeError:  # the reader has enough
        return 0
    except Exception as error:
        if debug:
            traceback.print_exc(file=context.err.file)
        error = _as_everycore_error(error)
        context.tell(error)
        return error.code


def _as_everycore_error(error: Exception) -> EverycoreError:
    if isinstance(error, EverycoreError):
        return error
    if isinstance(error, OSError):  # a full disk, a file that may not be read
        return EverycoreError(
            f"{error.filename or 'the output'}: {error.strerror or error}",
            REMEDIES.get(error.errno or 0, "--debug shows where"),
        )
    text = f"internal error: {type(error).__name__}: {error}"
    return EverycoreError(text, "--debug shows where; please report it")


def completed_words(env: Mapping[str, str]) -> list[str]:
    """The words behind `everycore` that a shell asks to complete; none if no shell asks."""
    typed = env.get("_TYPER_COMPLETE_ARGS") or env.get("COMP_WORDS", "")
    return typed.split()[1:] if COMPLETE in env else []


def _run(arguments: Sequence[str], context: Context) -> int:
    words = [word for word in arguments if word != "--debug"]  # goes anywhere
    command = typer.main.get_command(make_app(words or completed_words(context.env)))
    try:
        code = command.main(args=words, prog_name="everycore", obj=context, standalone_mode=False)
    except SystemExit as end:  # of a shell's completion
        if isinstance(end.__context__, BrokenPipeError):  # typer calls it 1: a failed check
            raise end.__context__ from None
        return end.code if isinstance(end.code, int) else 0
    except typer.Abort:
        return INTERRUPTED
    except _REFUSED as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # nothing stands behind the command
            error.show()
            return int(error.exit_code)
        raise _usage_error(error, words) from error
    return code if isinstance(code, int) else 0


def _usage_error(error: Any, words: Sequence[str]) -> EverycoreError:
    """The error of a command line that typer refuses, in the form of all others."""
    named = next((word for word in words if not word.startswith("-")), "")
    if named == words[0] and named not in COMMANDS:
        return unknown_name("command", named, COMMANDS)
    parsed = getattr(error, "ctx", None)
    text = " ".join(error.format_message().split()).rstrip(".")
    for its, ours in _PLAIN.items():
        text = text.replace(its, ours)
    path = parsed.command_path if parsed else f"everycore {named}".rstrip()
    return EverycoreError(text[:1].lower() + text[1:], f"see `{path} -h`", error.exit_code)
