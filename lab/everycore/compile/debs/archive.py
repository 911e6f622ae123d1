# SPDX-License-Identifier: MIT
"""An archive that can be trusted: Release by its signature, an index by Release, files by it."""

import lzma
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC
from functools import cached_property
from pathlib import Path

from everycore.compile.debs.closure import closure
from everycore.compile.debs.files import download
from everycore.compile.debs.index import Index, fields_of, relations, version_key
from everycore.compile.debs.lock import File, Lock, Pinned, Request, from_text, to_text
from everycore.compile.debs.mirror import SETTING_HINT, Mirror, apt_settings, find_mirrors
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, cannot_write

KEYRING_SETTING = "EVERYCORE_KEYRING"
KEYRINGS = Path("/usr/share/keyrings")
COMPONENT = "main"
CHECK_DATE = "Acquire::Check-Valid-Until"  # apt's own switch


class NoSuiteError(EverycoreError):
    """The archive answered, and has no such suite, or no packages of the architecture in it."""


@dataclass(frozen=True)
class Suite:
    """A suite of a mirror, after its signature was verified."""

    context: Context
    name: str
    mirror: Mirror
    date: str
    sums: dict[str, File]  # by path below dists/SUITE

    def index(self, path: str) -> Index:
        """An index, fetched and compared with Release."""
        file = self.sums.get(path)
        if file is None:
            raise NoSuiteError(f"the suite {self.name} of {self.mirror.url} has no {path}")
        return Index(
            lzma.decompress(download(self.context, [self.mirror], file).read_bytes()).decode()
        )


@dataclass(frozen=True)
class Archive:
    """The suites of a request, in its order."""

    suites: tuple[Suite, ...]
    architecture: str

    @cached_property
    def binaries(self) -> list[Index]:
        path = f"{COMPONENT}/binary-{self.architecture}/Packages.xz"
        return [suite.index(path) for suite in self.suites]

    @cached_property
    def sources(self) -> list[Index]:
        return [suite.index(f"{COMPONENT}/source/Sources.xz") for suite in self.suites]

    def lock(self, request: Request) -> Lock:
        """The exact packages and sources that a request gets now."""
        roots, absent = list(request.packages), []
        for package in request.optional:
            try:
                closure(self.binaries, [*roots, package], request.exclude)
            except EverycoreError as error:
                absent.append((package, error.message))
            else:
                roots.append(package)
        packages = closure(self.binaries, roots, request.exclude) if roots else []
        return Lock(
            request,
            "; ".join(f"{suite.name} {suite.date}" for suite in self.suites),
            tuple(Pinned(p.name, p.version, (p.file,)) for p in packages),
            tuple(self._source(name) for name in request.sources),
            tuple(absent),
        )

    def _source(self, wanted: str) -> Pinned:
        ((relation,),) = relations(wanted)
        every = [source for index in self.sources for source in index.sources(relation.name)]
        found = [source for source in every if relation.accepts(source.version)]
        if not found:
            raise EverycoreError(f"the archive has no source package {wanted}")
        return max(found, key=lambda source: version_key(source.version))


def open_archive(context: Context, suites: Sequence[str], architecture: str) -> Archive:
    """The first mirror that has it, for each suite."""
    mirrors = find_mirrors(context)
    return Archive(tuple(_suite(context, mirrors, name) for name in suites), architecture)


def _suite(context: Context, mirrors: Sequence[Mirror], name: str) -> Suite:
    for mirror in mirrors:
        if (signed := mirror.read(f"dists/{name}/InRelease")) is not None:
            release = fields_of(_verified(context, signed, f"{name} of {mirror.url}"))
            _check_name(name, release)
            _check_date(context, name, release.get("Valid-Until", ""))
            sums = {file.path: file for file in _sums(release.get("SHA256", ""))}
            return Suite(
                context,
                name,
                mirror,
                release.get("Date", ""),
                {p: File(f"dists/{name}/{p}", f.sha256, f.size) for p, f in sums.items()},
            )
    urls = ", ".join(mirror.url for mirror in mirrors)
    raise NoSuiteError(f"no suite '{name}' on {urls}", SETTING_HINT)


def _sums(text: str) -> Iterable[File]:
    for line in text.splitlines():
        if line.strip():
            sha256, size, path = line.split()
            yield File(path, sha256, int(size))


def _verified(context: Context, signed: bytes, what: str) -> str:
    """The text under the signatures: at least one of a known key, none that is wrong."""
    keyrings = _keyrings(context)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "InRelease"), Path(folder, "Release")
        source.write_bytes(signed)
        options = [word for keyring in keyrings for word in ("--keyring", str(keyring))]
        argv = ["gpgv", "--status-fd", "1", *options, "--output", str(target), str(source)]
        try:
            output = context.runner.run(argv)
        except EverycoreError as error:
            raise EverycoreError(error.message, "Debian: apt-get install gpgv") from error
        states = [
            line.split()[1:] for line in output.stdout.splitlines() if line.startswith("[GNUPG:] ")
        ]
        _judge(states, what, keyrings)
        return target.read_text(encoding="utf-8")


def _judge(states: Sequence[Sequence[str]], what: str, keyrings: Collection[Path]) -> None:
    kinds = {state[0] for state in states if state}
    if kinds & {"BADSIG", "REVKEYSIG"} or not kinds & {"VALIDSIG", "NO_PUBKEY", "EXPKEYSIG"}:
        raise EverycoreError(
            f"the signature of {what} is wrong or missing",
            "the mirror, or someone on the way to it, changed it: do not use what it has",
        )
    if "VALIDSIG" not in kinds or "GOODSIG" not in kinds:
        keys = ", ".join(s[1] for s in states if s and s[0] in ("NO_PUBKEY", "EXPKEYSIG"))
        raise EverycoreError(
            f"{what} is signed by keys that {', '.join(map(str, keyrings))} lacks: {keys}",
            f"install a newer debian-archive-keyring, or name one: {KEYRING_SETTING}=FILE",
        )


def _keyrings(context: Context) -> list[Path]:
    if setting := context.env.get(KEYRING_SETTING, ""):
        if not Path(setting).is_file():
            raise EverycoreError(f"{KEYRING_SETTING}={setting} is no file")
        return [Path(setting).resolve()]
    names = ("debian-archive-keyring.pgp", "debian-archive-keyring.gpg")  # since Debian 13; before
    found = [KEYRINGS / name for name in names if (KEYRINGS / name).is_file()]
    if not found:
        raise EverycoreError(
            "the keys of Debian's archive are not installed here",
            f"Debian: apt-get install debian-archive-keyring; or name them: {KEYRING_SETTING}=FILE",
        )
    return found


def _check_name(suite: str, release: Mapping[str, str]) -> None:
    """Another suite's Release is as well signed, and may be years older."""
    names = [release.get(key, "") for key in ("Suite", "Codename")]
    if suite not in names:
        raise EverycoreError(
            f"the mirror has {' '.join(filter(None, names)) or 'no name'} in the place of {suite}",
            f"use another one: {SETTING_HINT}",
        )


def _check_date(context: Context, suite: str, valid_until: str) -> None:
    """An old Release, signed once, may hide what was repaired since: apt refuses it, too."""
    from email.utils import parsedate_to_datetime

    if not valid_until:
        return
    until = parsedate_to_datetime(valid_until.replace("UTC", "+0000")).astimezone(UTC)
    if until >= context.now() or apt_settings(context, [CHECK_DATE]).get(CHECK_DATE) == "false":
        return
    raise EverycoreError(
        f"the mirror's {suite} was valid until {valid_until}: it is no longer updated",
        f"use another one ({SETTING_HINT}); apt's {CHECK_DATE} false allows it",
    )


def pinned(context: Context, request: Request, path: Path, update: bool) -> Lock:
    """The lock of a file; with `update`, or if there is no file, what the archive has now.

    Optional packages that were not asked for when the lock was made are absent.
    """
    if update or not path.is_file():
        lock = open_archive(context, request.suites, request.architecture).lock(request)
        write_lock(path, lock)
        return lock
    lock = read_lock(path)
    if difference := _difference(lock.request, request):
        raise EverycoreError(
            f"{path} is the answer to another request: {difference}", "--update writes it anew"
        )
    unasked = set(request.optional).difference(lock.request.optional)
    later = tuple((name, "not in the lock: --update asks for it") for name in sorted(unasked))
    return replace(lock, absent=(*lock.absent, *later))


def _difference(have: Request, want: Request) -> str:
    for item in fields(Request):
        old, new = getattr(have, item.name), getattr(want, item.name)
        if old != new and item.name != "optional":
            return f"its {item.name} are {_words(old)}, not {_words(new)}"
    return ""


def _words(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value) or "none"


def read_lock(path: Path) -> Lock:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EverycoreError(f"cannot read {path}: {error}") from error
    return from_text(text, str(path))


def write_lock(path: Path, lock: Lock) -> None:
    scratch = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(to_text(lock), encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
