# SPDX-License-Identifier: MIT
"""everycore provider: give OpenSSL on this machine our AES, take it away, and see who uses it."""

import json as jsonlib
import os
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from everycore.commands.options import Json, context_of
from everycore.compile import catalog
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, cannot_write
from everycore.openssl import configuration, installations
from everycore.openssl.installations import Answer

CONF = "OPENSSL_CONF"
MODULE = "everycore.so"
NO_LIBCRYPTO = "no provider reaches it, unless it has an OpenSSL inside: --pid tells of a process"
BUILD = "build it: meson setup build -Dprovider=enabled -Dtests=disabled && meson install -C build"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Give this AES to OpenSSL 3.0 and newer, and see who uses it.",
)
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="The configuration. Default: everycore/openssl.cnf below your configuration folder.",
    ),
]


def _file(context: Context, out: Path | None) -> Path:
    home = Path(context.env.get("HOME", "/"))
    folder = Path(context.env.get("XDG_CONFIG_HOME") or home / ".config")
    return (out or folder / "everycore/openssl.cnf").absolute()


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise EverycoreError(f"cannot read {path}: {reason}") from error


def _refuse_foreign(path: Path) -> str | None:
    """Return the text of our configuration, None if there is none."""
    text = _text(path)
    if text is not None and not configuration.is_ours(text):
        raise EverycoreError(
            f"{path} is not a file of `everycore provider enable`; it stays as it is",
            "name another by --out",
        )
    return text


def _system_answer(context: Context) -> tuple[Path, Answer]:
    """The program openssl, and what its library says without a configuration of ours."""
    program = installations.executable("openssl", context.env)
    library = installations.libcrypto_of(context, program)
    if not library:
        raise EverycoreError(
            f"{program} loads no libcrypto: it is built without shared libraries",
            "install the openssl of your distribution",
        )
    return program, installations.ask(context, library, {**context.env, CONF: os.devnull})


def _base(context: Context, answer: Answer, target: Path) -> Path | None:
    """The configuration that is in use now, which ours is to include."""
    given = context.env.get(CONF, "")
    if given and Path(given).absolute() != target:
        path = Path(given).absolute()
        if not path.is_file():
            raise EverycoreError(f"{CONF} names {path}, which is not there", f"unset {CONF}")
        text = _text(path)
        if text is not None and configuration.is_ours(text):
            raise EverycoreError(
                f"{CONF} names {path}, which has the provider", f"unset {CONF}, or disable it first"
            )
        return path
    path = Path(answer.directory) / "openssl.cnf"
    return path if path.is_file() else None


def _included(base: Path) -> configuration.Base:
    def read(name: str) -> list[configuration.File]:
        path = base.parent / name
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.suffix in (".cnf", ".conf"))
        texts = [(str(file), _text(file)) for file in files]
        return [configuration.File(file, text) for file, text in texts if text is not None]

    return configuration.base_of(configuration.File(str(base), _text(base) or ""), read)


def _module(given: Path | None, answer: Answer) -> Path:
    """The named file, else the first that is there: where OpenSSL looks, or as Meson installs."""
    places = (
        [given] if given else [Path(answer.modules) / MODULE, *below_local(Path(answer.modules))]
    )
    for path in places:
        if path.is_file():
            return path.absolute()
    raise EverycoreError(
        f"no provider at {' or '.join(str(path.absolute()) for path in places)}",
        f"{BUILD}, or name the file by --module",
    )


def below_local(modules: Path) -> list[Path]:
    """Folders below Meson's default prefix: the same one, and others that Meson may choose."""
    if not modules.is_relative_to("/usr") or modules.is_relative_to("/usr/local"):
        return []
    places = [modules.relative_to("/usr"), Path("lib64", modules.name), Path("lib", modules.name)]
    return [Path("/usr/local") / place / MODULE for place in dict.fromkeys(places)]


@app.command()
def enable(
    command: typer.Context,
    module: Annotated[
        Path | None,
        typer.Option(
            "--module",
            metavar="FILE",
            help="everycore.so. Default: where OpenSSL looks, or below /usr/local.",
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Write a configuration that adds the provider.

    It adds it to the present one; what to do with it is printed.

    No other file is changed, and no program uses it until you say so.
    """
    context = context_of(command)
    target = _file(context, out)
    _refuse_foreign(target)
    program, answer = _system_answer(context)
    installations.refuse_old(answer)
    found = _module(module, answer)
    path = _base(context, answer, target)
    base = _included(path) if path else configuration.NO_BASE
    try:
        with atomic_write(target) as scratch:
            scratch.chmod(0o644)  # services that run as other users read it too
            trial = _Trial(context, program, answer, found, scratch, base)
            scratch.write_text(configuration.added_text(base, str(found)))
            remark = trial.refuse_useless()
    except OSError as error:
        raise cannot_write(target, error) from error
    context.print_raw(how_to_use(target, base.path))
    if remark:
        context.print_raw(remark)


@dataclass(frozen=True, slots=True)
class _Trial:
    """OpenSSL is silent about a module that cannot be loaded; so the configuration is tried."""

    context: Context
    program: Path
    answer: Answer
    module: Path
    scratch: Path
    base: configuration.Base

    def refuse_useless(self) -> str:
        """Return a remark on what other providers keep, or nothing."""
        self._refuse_module()
        providers = self._served_under(self.scratch)
        others = {
            name: provider
            for name, provider in providers.items()
            if provider not in (configuration.NAME, "default", "")  # default: not offered by us
        }
        if configuration.NAME in providers.values():
            return self._remark(others) + self._remark_on_taken(providers)
        winner = providers.get("AES-256-GCM") or "nobody"
        query, place = configuration.preference_of(self.base)
        found = configuration.hindrance(query, winner)
        wins = f"{self.answer.version} takes AES-256-GCM from '{winner}'"
        if not found:
            raise EverycoreError(
                f"with the provider, {wins}",
                "nothing is written; the present configuration decides otherwise",
            )
        raise EverycoreError(
            f"{place}: default_properties = {query}: with the provider, {wins}",
            f"nothing is written; {_remedy(found)}",
        )

    def _remark(self, others: Mapping[str, str]) -> str:
        """Return which algorithms stay with other providers, and by which line."""
        query, place = configuration.preference_of(self.base)
        if not others or not place:
            return ""
        kept = ", ".join(f"{name} is from '{provider}'" for name, provider in others.items())
        return f"\n{place}: default_properties = {query} stays, so {kept}"

    def _remark_on_taken(self, providers: Mapping[str, str]) -> str:
        """Return which algorithms another provider served until now, and how it keeps them."""
        if not self.base.path:
            return ""
        before = self._served_under(Path(self.base.path))
        taken = {
            name: before[name]
            for name, provider in providers.items()
            if provider == configuration.NAME and before[name] not in ("", "default", provider)
        }
        if not taken:
            return ""
        said = ", ".join(f"{name} from '{provider}'" for name, provider in taken.items())
        other = next(iter(taken.values()))
        return (
            f"\neverycore takes {said}; to keep it there, write "
            f"default_properties = ?provider={other} into {self.base.path}, and enable again"
        )

    def _served_under(self, path: Path) -> Mapping[str, str]:
        environment = {**self.context.env, CONF: str(path)}
        return installations.ask(self.context, self.answer.library, environment).providers

    def _refuse_module(self) -> None:
        version = installations.provider_version(self.context, self.program, self.scratch)
        if not version:
            self._refuse_not_loaded()
        wanted = tree_version(self.context)
        if version != wanted:
            raise EverycoreError(
                f"{self.module} is of everycore {version}, this command of {wanted}",
                f"nothing is written; {BUILD}",
            )

    def _refuse_not_loaded(self) -> NoReturn:
        """Tell a configuration that OpenSSL does not take from a module that it does not load."""
        text = self.scratch.read_text()
        self.scratch.write_text(configuration.added_text(configuration.NO_BASE, str(self.module)))
        loads_alone = installations.provider_version(self.context, self.program, self.scratch)
        self.scratch.write_text(text)
        if self.base.path and loads_alone:
            said = installations.complaint(self.context, self.program, self.scratch)
            raise EverycoreError(
                f"{self.answer.version} loads {self.module} by itself, and not with "
                f"{self.base.path}" + (f": {said}" if said else ""),
                "nothing is written; correct that file, or name another by OPENSSL_CONF",
            )
        raise EverycoreError(
            f"{self.answer.version} does not load {self.module}", f"nothing is written; {BUILD}"
        )


def _remedy(found: configuration.Clause) -> str:
    """Return what a user can do about a line that leaves no algorithm to us."""
    elsewhere = (
        "give the programs that may use everycore a configuration without it, and name that "
        f"by {CONF}"
    )
    if found.is_optional or found.value == "default":  # which has all of our algorithms
        return f"remove {found.text} from that line, or {elsewhere}"
    if found.name == "provider":
        return f"it demands {found.text}: write ?{found.text} to prefer it only, or {elsewhere}"
    return f"it demands {found.text}, which everycore has not: {elsewhere}"


def tree_version(context: Context) -> str:
    """Return the version of the C tree that this package carries."""
    tree = catalog.tree_of(context)
    text = (tree.root / "include/everycore/everycore.h").read_text()
    found = re.search(r'^#define EVC_VERSION "(.*)"', text, re.M)
    return found[1] if found else ""


def how_to_use(target: Path, base: str) -> str:
    """Return the lines that make a configuration active, each with what it is for."""
    setting = f"{CONF}={target}"
    lines = [
        f"{target}: includes {base or 'no other configuration'}",
        "",
        "shell:         export " + setting,
        f"one program:   {setting} curl https://example.org",
        f"ssh:           {setting} ssh -c aes256-gcm@openssh.com HOST",
        "nginx, sshd:   systemctl edit nginx, and write below [Service]:",
        f"                   Environment={setting}",
        "               then systemctl restart nginx",
        "",
        "A service must be able to read the file and the module: --out /etc/everycore/openssl.cnf",
        "`everycore provider status PROGRAM` shows who serves a program.",
    ]
    return "\n".join(lines)


@app.command()
def disable(command: typer.Context, out: Out = None) -> None:
    """Remove the configuration that `enable` wrote."""
    context = context_of(command)
    target = _file(context, out)
    if _refuse_foreign(target) is None:
        context.print_raw(f"{target} is not there; nothing is changed")
        return
    try:
        target.unlink()
    except OSError as error:
        raise EverycoreError(f"cannot remove {target}: {error.strerror}") from error
    context.print_raw(f"removed {target}")
    if context.env.get(CONF, "") and Path(context.env[CONF]).absolute() == target:
        context.print_raw(f"this shell still names it: unset {CONF}")
    context.print_raw(f"remove `{CONF}={target}` where you have set it, as in systemd units")


@app.command()
def status(
    command: typer.Context,
    programs: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROGRAM...", help="Names or paths. Default: openssl."),
    ] = None,
    pid: Annotated[
        list[int] | None,
        typer.Option("--pid", metavar="PID", min=1, help="A running process; repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Show which provider serves the algorithms of a program.

    And how that was found out.
    """
    context = context_of(command)
    rows = [_status_of_process(number) for number in pid or ()]
    rows += [_status_of(context, program) for program in programs or ([] if pid else ["openssl"])]
    for row in rows:
        context.print_raw(jsonlib.dumps(row) if json else _shown(row, context.out.width))


def _status_of(context: Context, name: str) -> dict[str, object]:
    path = installations.executable(name, context.env)
    library = installations.libcrypto_of(context, path)
    row: dict[str, object] = {"type": "provider", "program": str(path), "libcrypto": library}
    if not library:
        return {**row, "found": "ldd names no libcrypto", "remarks": [NO_LIBCRYPTO]}
    answer = installations.ask(context, library, context.env)
    return {
        **row,
        "openssl": answer.version,
        "providers": dict(answer.providers),
        "found": f"ldd names the library; it was loaded under {_conf(context.env)} and asked",
        "remarks": _remarks(context.env, answer),
    }


def _conf(environment: Mapping[str, str]) -> str:
    value = environment.get(CONF)
    return f"{CONF}={value}" if value else f"the system's configuration ({CONF} is not set)"


def _remarks(environment: Mapping[str, str], answer: Answer) -> list[str]:
    """Reasons for which the default provider serves although a configuration names ours."""
    if installations.version_of(answer) < installations.OLDEST:
        return ["this OpenSSL is older than 3.0 and has no providers"]
    value = environment.get(CONF)
    if configuration.NAME in answer.providers.values() or not value:
        return []
    return [_reason(Path(value))]


def _reason(path: Path) -> str:
    """The reason for which a configuration does not activate the provider."""
    if not path.is_file():
        return f"{path} is not there: OpenSSL uses its defaults"
    module = _included(path).sections.get("everycore_module", {}).get("module")
    if not module:
        return f"{path} does not name the provider"
    what = "was not loaded" if Path(module).is_file() else "is not there"
    return f"{module} {what}: OpenSSL falls back to the default provider"


def _no_program(pid: int, exists: bool) -> EverycoreError:
    """The error of a process without a program, as those that ended and the kernel's own are."""
    hint = "`ps -e` lists the processes that run"
    if exists:
        what = "it has ended, or is a thread of the kernel"
        return EverycoreError(f"process {pid} runs no program: {what}", hint)
    return EverycoreError(f"there is no process {pid}", hint)


def _who_may_look(is_root: bool) -> str:
    """The hint for who was not allowed to look into a process."""
    if not is_root:
        return "ask as its user, or as root"
    return (
        "root of a container may not look into processes outside of it, and a security module may "
        "forbid it: ask on the host, or start the program by yourself: provider status PROGRAM"
    )


def _status_of_process(pid: int) -> dict[str, object]:
    """A process that runs: its environment and what it has mapped, from /proc."""
    folder = Path(f"/proc/{pid}")
    try:
        maps = (folder / "maps").read_text(errors="replace")
        environ = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
        program = str((folder / "exe").readlink())
    except (FileNotFoundError, ProcessLookupError):
        raise _no_program(pid, folder.exists()) from None
    except OSError as error:
        raise EverycoreError(
            f"cannot look into process {pid}: {error.strerror}", _who_may_look(os.geteuid() == 0)
        ) from error
    files = {line.split(maxsplit=5)[5] for line in maps.splitlines() if len(line.split()) > 5}
    library = next((file for file in sorted(files) if "libcrypto.so" in file), None)
    module = next((file for file in sorted(files) if file.endswith(f"/{MODULE}")), None)
    started = dict(variable.partition("=")[::2] for variable in environ)
    is_overwritten = CONF not in started and any(
        variable and "=" not in variable for variable in environ
    )
    how = (
        "what it was started under is not known: its title is written over its environment"
        if is_overwritten  # as nginx does
        else f"it was started under {_conf(started)}"
    )
    remarks = [f"it has loaded {module}" if module else f"it has not loaded {MODULE}"]
    return {
        "type": "provider",
        "program": program,
        "pid": pid,
        "libcrypto": library,
        "module": module,
        "found": f"its memory map; {how}",
        "remarks": remarks,
    }


def _shown(row: Mapping[str, object], width: int) -> str:
    """The row as text; a path that is wider than the terminal stays whole."""
    lines = [str(row["program"]) + (f" (process {row['pid']})" if "pid" in row else "")]
    lines += _named("libcrypto", row["libcrypto"] or "none", width)
    if "openssl" in row:
        lines += _named("version", row["openssl"], width)
    lines += _named("found by", row["found"], width)
    providers = row.get("providers")
    if isinstance(providers, dict):
        for provider in dict.fromkeys(providers.values()):
            names = [name for name, serving in providers.items() if serving == provider]
            lines += _named(provider or "nobody", " ".join(names), width)
    remarks = row.get("remarks")
    if isinstance(remarks, list):
        for remark in remarks:
            lines += _named("remark", remark, width)
    return "\n".join(lines)


def _named(name: str, value: object, width: int) -> list[str]:
    """Lines of the terminal's width: a name, and beside it the words of a value."""
    return textwrap.wrap(
        str(value),
        width,
        initial_indent=f"  {name:<11} ",
        subsequent_indent=" " * 14,
        break_long_words=False,
        break_on_hyphens=False,
    )
