# SPDX-License-Identifier: MIT
"""The answer in plain words: shares of time, libraries, callers, causes and remedies."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from everycore.environment.toml_tables import expect, read_toml
from everycore.explain import masks
from everycore.explain.contained import instructions_in, lacking
from everycore.explain.libraries import Identity, identify
from everycore.explain.recognise import Named, Recognition
from everycore.explain.regions import GENERATORS, FileFacts, Profile, Region

CAUSES = Path(__file__).with_name("causes.toml")
EFFECTS = Path(__file__).with_name("effects.toml")
MOST_ROWS = 6
FEW_SAMPLES = 100
EMULATORS = {"qemu-aarch64": "aarch64", "qemu-x86_64": "x86_64"}  # whose guests can be looked into
_MUCH_EMULATED = 10.0  # per cent
_SMALLEST = 1.0  # per cent: rows with less are summed up
_SHAPE: dict[str, Any] = {
    "primitive": str, "implementation": str, "library": str, "file": str, "caller": str,
    "through": str, "set": tuple[str, ...], "cpu": tuple[str, ...], "lacks": str,
    "cpu_lacks": tuple[str, ...], "says": str, "remedy": str, "source": str,
    "put": tuple[str, ...], "append": tuple[str, ...], "provider": bool, "least_share": int,
}  # fmt: skip
_EFFECT_SHAPE: dict[str, Any] = {
    "primitive": str, "implementation": str, "library": str, "caller": str, "through": str,
    "cpu": tuple[str, ...], "hides": tuple[str, ...], "contains": str,
}  # fmt: skip
_AS_IN_CAUSE = ("source", "put", "append", "lacks", "provider")  # members of a remedy
_PLAIN_NAME = re.compile(r"^(main|__libc_start_main\w*|_start|start_thread|runtime\..*|clone3?)$")


@dataclass(frozen=True, slots=True)
class Remedy:
    """A probable cause, and what would cure it."""

    says: str
    remedy: str
    unset: tuple[str, ...] = ()
    source: str = ""
    put: tuple[str, ...] = ()  # variables to set, as NAME=VALUE
    append: tuple[str, ...] = ()  # an option, and what is added to its value, where CMD has it
    library: str = ""  # the file that lacks instructions
    lacks: str = ""
    provider: bool = False  # OpenSSL's provider of this project may be tried


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One line of the answer."""

    share: float  # per cent of the samples of user code
    computes: str
    implementation: str
    library: str
    called: str
    is_crypto: bool
    because: str = ""
    remedy: Remedy | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole answer."""

    rows: tuple[ProfileLine, ...]
    samples: int
    kernel: float  # per cent of all samples
    crypto: float  # per cent of the samples of user code
    notes: tuple[str, ...]
    unread: tuple[str, ...] = ()  # processes whose variables may be a cause, and are not known


def shares(named: Iterable[Named]) -> dict[str, float]:
    """Return per cent of user samples by "primitive: implementation".

    Code that computes two primitives in one loop counts for both.
    """
    every = list(named)
    total = sum(named_region.region.samples for named_region in every)
    counted: Counter[str] = Counter()
    for named_region in every:
        for label in {found.label for found in named_region.found}:
            counted[label] += named_region.region.samples
    return {label: 100.0 * count / total for label, count in counted.items()} if total else {}


@lru_cache(maxsize=1)
def _causes() -> tuple[dict[str, Any], ...]:
    rows = read_toml(CAUSES)["cause"]
    return tuple(expect(CAUSES.name, row, _SHAPE, ("primitive", "says", "remedy")) for row in rows)


@lru_cache(maxsize=1)
def _effects() -> tuple[dict[str, Any], ...]:
    rows = read_toml(EFFECTS)["effect"]
    return tuple(expect(EFFECTS.name, row, _EFFECT_SHAPE, ("primitive", "hides")) for row in rows)


def explain(profile: Profile, named: Sequence[Named], flags: Sequence[str]) -> Explanation:
    """Say what a program spent its time with, and what makes it slow."""
    groups: dict[tuple[str, str, str], list[Named]] = defaultdict(list)
    for named_region in named:
        primitives = " + ".join(dict.fromkeys(f.primitive for f in named_region.found))
        implementations = " + ".join(dict.fromkeys(f.implementation for f in named_region.found))
        key = (primitives, implementations, _place_of(named_region))
        groups[key].append(named_region)
    total = max(1, profile.user)
    rows = [
        _row(key, own, 100.0 * sum(n.region.samples for n in own) / total, profile, flags)
        for key, own in groups.items()
    ]
    crypto = [row for row in rows if row.is_crypto]
    rows.sort(key=lambda row: -row.share)
    unread = _unread(groups.values(), profile, flags)
    return Explanation(
        _shortened(rows),
        profile.total,
        100.0 * profile.kernel / max(1, profile.total),
        sum(row.share for row in crypto),
        (*_notes(profile), *(f"{text}, so its variables are not looked at" for text in unread)),
        tuple(unread),
    )


def facts_of(profile: Profile) -> dict[str, FileFacts]:
    """Return what explanations need of the files of a profile, to be stored with it."""
    if profile.files:
        return profile.files
    paths = {region.module.path for region in profile.regions if region.code and region.module.path}
    found = {}
    for path in sorted(paths):
        identity = identify(path)
        found[path] = FileFacts(identity.name, identity.version, instructions_in(path))
    return found


def _identity_of(profile: Profile, path: str) -> Identity:
    """Return what a file is: as it was stored with the samples, else as it is here."""
    if known := profile.files.get(path):
        return Identity(known.library, known.version)
    return identify(path)


def _lacks(profile: Profile, path: str, kind: str) -> bool:
    if known := profile.files.get(path):
        return known.instructions.get(kind) is False
    return lacking(path, kind)


def _place_of(named_region: Named) -> str:
    if named_region.region.is_generated:
        return f"generated code of {named_region.region.process}"
    return named_region.region.module.path


def _row(
    key: tuple[str, str, str],
    own: Sequence[Named],
    share: float,
    profile: Profile,
    flags: Sequence[str],
) -> ProfileLine:
    primitives, implementations, place = key
    hottest = max(own, key=lambda named_region: named_region.region.samples)
    generated = hottest.region.is_generated
    identity = Identity() if generated else _identity_of(profile, place)
    kinds = {found.kind for found in hottest.found}
    is_crypto = bool(kinds - {"checksum", "overhead"})
    where = place if generated else Path(place).name
    if identity.name and identity.name not in where:
        where = f"{where} ({identity})"
    if not primitives:
        inside = "a cryptographic library" if hottest.is_crypto_file else "unknown code"
        emulated = generated and any(hottest.region.process.startswith(g) for g in GENERATORS)
        primitives = "generated code" if generated else f"other code of {inside}"
        if not generated and not hottest.is_crypto_file:
            primitives = "other code"
        implementations = "of a guest or a language" if emulated else hottest.region.function.name
    because = hottest.found[0].because if hottest.found else ""
    called = " < ".join(_callers(hottest)[:3])
    remedy = _remedy(own, identity, profile, flags, share) if is_crypto or kinds else None
    return ProfileLine(
        share, primitives, implementations, where, called, is_crypto, because, remedy
    )


def _callers(named_region: Named) -> list[str]:
    """Return names of callers that are worth reading."""
    names = [item.name for item in named_region.region.callers() if item.name]
    return [name for name in names if not _PLAIN_NAME.match(name)]


def _texts(named_region: Named, found: Recognition, identity: Identity) -> dict[str, str]:
    """Return the texts that the patterns of causes and effects are searched in."""
    return {
        "primitive": found.primitive,
        "implementation": found.implementation,
        "library": identity.name,
        "file": named_region.region.module.name,
        "caller": " ".join(_callers(named_region)),
        "through": " ".join(item.module for item in named_region.region.callers()),
    }


def _fits(row: Mapping[str, Any], texts: Mapping[str, str]) -> bool:
    return all(re.search(row[key], text) for key, text in texts.items() if key in row)


def _explaining(
    named_region: Named, texts: Mapping[str, str], profile: Profile, flags: Sequence[str]
) -> set[str]:
    """Return the features of the CPU that would explain what ran, if they were hidden from it.

    Without flags nothing is known of the CPU, and it may have all.
    """
    found: set[str] = set()
    for effect in _effects():
        if not _fits(effect, texts) or (flags and not set(effect.get("cpu", ())) <= set(flags)):
            continue
        if "contains" in effect and _lacks(
            profile, named_region.region.module.path, effect["contains"]
        ):
            continue
        found |= set(effect["hides"])
    return found & set(flags) if flags else found


def _hiding(named_region: Named, names: Iterable[str], features: set[str]) -> str:
    """Return the variable that hides one of some features from what ran; "" if there is none."""
    environment = named_region.region.environment or {}
    for name in names:
        if name in environment:
            hidden = masks.hidden(name, environment[name], named_region.region.machine)
            if hidden and hidden & features:
                return name
    return ""


def _remedy(
    own: Sequence[Named], identity: Identity, profile: Profile, flags: Sequence[str], share: float
) -> Remedy | None:
    hottest = max(own, key=lambda named_region: named_region.region.samples)
    # Some processes of a short program may not have been looked at.
    known = [each for each in own if each.region.environment is not None]
    looked = max(known, key=lambda named_region: named_region.region.samples, default=hottest)
    for found in hottest.found:
        texts = _texts(hottest, found, identity)
        for cause in _causes():
            if not _fits(cause, texts):
                continue
            variable = ""
            if "set" in cause:
                features = _explaining(hottest, texts, profile, flags)
                variable = _hiding(looked, cause["set"], features)
                if not variable:
                    continue
            if share < cause.get("least_share", 0):
                continue
            if not set(cause.get("cpu", ())) <= set(flags):
                continue
            if "cpu_lacks" in cause and (not flags or set(cause["cpu_lacks"]) & set(flags)):
                continue  # without flags nothing is known of the CPU
            if "lacks" in cause and not _lacks(profile, hottest.region.module.path, cause["lacks"]):
                continue
            path = hottest.region.module.path if "lacks" in cause else ""
            return Remedy(
                says=cause["says"].replace("{variable}", variable),
                remedy=cause["remedy"].replace("{variable}", variable),
                unset=(variable,) if variable else (),
                library=path,
                **{name: cause[name] for name in _AS_IN_CAUSE if name in cause},
            )
    return None


def _unread(groups: Iterable[Sequence[Named]], profile: Profile, flags: Sequence[str]) -> list[str]:
    """Say whose environment could not be read where a variable may be the cause of what ran."""
    found: dict[str, None] = {}
    for own in groups:
        if any(named_region.region.environment is not None for named_region in own):
            continue
        hottest = max(own, key=lambda named_region: named_region.region.samples)
        identity = (
            Identity() if hottest.region.is_generated else _identity_of(profile, _place_of(hottest))
        )
        if any(
            "set" in cause and _fits(cause, texts) and _explaining(hottest, texts, profile, flags)
            for each in hottest.found
            for texts in (_texts(hottest, each, identity),)
            for cause in _causes()
        ):
            why = f" ({hottest.region.unread})" if hottest.region.unread else ""
            found[f"the environment of {hottest.region.process} could not be read{why}"] = None
    return list(found)


def _shortened(rows: Sequence[ProfileLine]) -> tuple[ProfileLine, ...]:
    """Keep at most six rows: cryptography first by its share, the rest summed up."""
    large = [row for row in rows if row.share >= _SMALLEST]
    crypto = [row for row in large if row.is_crypto or row.remedy]
    others = [row for row in large if row not in crypto]
    kept = sorted((crypto + others)[: MOST_ROWS - 1], key=lambda row: -row.share)
    rest = sum(row.share for row in rows) - sum(row.share for row in kept)
    if rest >= 0.5:
        kept.append(ProfileLine(rest, "everything else", "", "", "", False))
    return tuple(kept)


def _is_of_a_guest(region: Region) -> bool:
    return region.is_generated and region.process in EMULATORS


def _notes(profile: Profile) -> tuple[str, ...]:
    notes = []
    if profile.user < FEW_SAMPLES:
        notes.append(
            f"only {profile.user} samples of user code: too few for shares to be exact;"
            " let it work longer, or give --hz 1999"
        )
    emulated = sum(region.samples for region in profile.regions if _is_of_a_guest(region))
    if 100.0 * emulated > _MUCH_EMULATED * profile.user:
        notes.append("generated code of an emulator is the guest's own: --guest names what it is")
    if profile.lost:
        notes.append(f"{profile.lost} samples were lost: the machine was too busy")
    if profile.why:
        notes.append(f"sampled by {profile.method}, because: {profile.why}")
    return tuple(notes)
