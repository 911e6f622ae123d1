# SPDX-License-Identifier: MIT
"""Names the primitive and the implementation of each region, and says by which evidence."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from everycore.explain.evidence import Evidence, gather, holds, joined_evidence
from everycore.explain.recognition_rules import VAGUE, Implementation, Rules, load_rules
from everycore.explain.regions import Profile, Region

# Libraries whose code is cryptography, by the names of their files.
CRYPTO_FILE = re.compile(
    r"lib(crypto|ssl|nettle|hogweed|gcrypt|gnutls|sodium|mbedcrypto|mbedtls|wolfssl|freebl\w*|nss3|"
    r"softokn3|botan|cryptopp|crypto\+\+|tomcrypt|bearssl|gmp|mcrypt|b2|blake3|argon2|oqs|"
    r"monocypher|tfm|crypt|crypto_engine|s2n|aws-?lc|boringssl|ring)[-.\d]|"
    r"(_ssl|_hashlib|_sha\d?|_blake2|_md5|_rust|_cffi_backend)\b.*\.so|everycore"
)
CRYPTO_NAME = re.compile(
    r"(^|[_.:/(])(crypto|EVP|RSA|ECDSA|ECDH|EC|DH|BN|AES|SHA\d*|MD5|HMAC|ED25519|X25519|CRYPTO|gcry|"
    r"mpi|mbedtls|wc|sodium|nettle|bigmod|fips140|ring|kyber|mlkem|ml_kem|dilithium|mldsa|sntrup761|"
    r"chacha20|poly1305|blake2|blake3|argon2|scrypt|keccak|sha3|curve25519|ge25519|fe25519|mpz|mpn|"
    r"gmpn|long_pow|rfc\d+|p256|nistz256|br|secp256\w*|ecp|powm|modexp|digest|hash|cipher|crypt)"
    r"(?=[_.:\d(/A-Z]|$)",
    re.I,
)


_VECTORS = ("SSE", "AVX", "AVX2", "AVX-512", "NEON")
_FEWEST_VECTORS = 0.2  # of a function's samples
_LARGEST_GLUE = 2  # code around a primitive takes at most so many times its samples
_GLUE = "code around it"
_NAME_ALONE = re.compile(r"compiled code|code around it")
_MOST_JOINED = 8  # functions
_MOST_OF_A_FILE = 0.5
_FAR = 6  # callers up to one whose name says something
_NO_CRYPTO = ("checksum", "overhead")
_BIG_NUMBERS = "big numbers (RSA, DH)"
_NO_CURVES = (_BIG_NUMBERS, "elliptic curves")
_NEAREST = 5  # callers up to one that calls a curve's arithmetic, too
_NEARLY_ALL = 0.8  # of the samples in generated code that has the name of a curve
_MOST_CALLS = 0.6  # of a function's samples
# A function whose name tells one primitive of such a class does not compute another one.
_CLASSES = {"cipher": "cipher", "hash": "hash", "public": "field", "mac": "field"}


@dataclass(frozen=True, slots=True)
class Recognition:
    """One name of a region, and the evidence for it."""

    primitive: str
    kind: str
    implementation: str
    because: str  # "instructions and tables", "its caller", "its name", ...
    says: str = ""

    @property
    def label(self) -> str:
        return f"{self.primitive}: {self.implementation}" if self.primitive else self.implementation


@dataclass
class Named:
    """A region with its names: several where primitives are computed in one loop."""

    region: Region
    evidence: Evidence
    found: tuple[Recognition, ...] = ()
    is_crypto_file: bool = False
    is_particular: bool = False  # its own code was recognised, by more than arithmetic
    is_crypto_module: bool = False  # or most of its samples are cryptography


def recognise(profile: Profile, rules: Rules | None = None) -> list[Named]:
    """Name all regions of a profile.

    Rules of arithmetic that many primitives have come last: after the rest of its function, and
    after code that calls each other, has been named by more particular ones.
    """
    rules = rules or load_rules()
    named = [Named(region, gather(region, rules)) for region in profile.regions]
    tables = _tables_of_functions(named)
    for named_region in named:
        named_region.is_crypto_file = bool(CRYPTO_FILE.match(named_region.region.module.name))
        named_region.evidence.is_crypto = named_region.is_crypto_file or any(
            CRYPTO_NAME.search(name) for name in named_region.evidence.names
        )
        own = _not_contradicted(named_region.region.function.name, rules)
        named_region.found = _by_rules(
            named_region.evidence, own, _of_callers(named_region.region, tables)
        )
        named_region.is_particular = bool(named_region.found)
    _one_form(named)
    _within_functions(named, _LARGEST_GLUE)
    _of_joined_functions(named, rules)
    _tell_of_modules(named)
    for named_region in named:
        if not named_region.found:
            named_region.found = _by_rules(
                named_region.evidence, rules.general, _of_callers(named_region.region, tables)
            )
    _within_functions(named)
    _of_curves(named)
    _of_generated_curves(named)
    _from_callers(named)
    _from_siblings(named)
    _from_names_of_callers(named, rules)
    _from_other_parts(named)
    return named


def _not_contradicted(name: str, rules: Rules) -> Sequence[Implementation]:
    """Rules without those of primitives that a function's own name excludes.

    Names of generators and modes do not: a signature's function may hold a hash.
    """
    told = [
        rule
        for rule in (rules.of_names if name else ())
        if rule.rank < VAGUE and not rule.is_family and rule.is_name(name)
    ]
    if not told:
        return rules.particular
    classes = {_CLASSES.get(rule.kind, "") for rule in told} - {""}
    words = {word for rule in told for word in rule.primitive.split(" or ")}
    return [
        rule
        for rule in rules.particular
        if rule.primitive == "GHASH"
        or _CLASSES.get(rule.kind) not in classes
        or words & set(rule.primitive.split(" or "))
    ]


def _of_curves(named: Sequence[Named]) -> None:
    """Name arithmetic of big numbers by the one curve whose functions are called beside it."""
    near: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for named_region in named:
        for found in named_region.found[:1]:
            if found.kind == "public" and found.primitive not in _NO_CURVES:
                near[found.primitive].add(named_region.region.key)
                for _, chain in named_region.region.chains:
                    near[found.primitive] |= {(c.module, c.start) for c in chain[:_NEAREST]}
    for named_region in named:
        if not named_region.found or named_region.found[0].primitive != _BIG_NUMBERS:
            continue
        total = sum(count for count, _ in named_region.region.chains)
        held: Counter[str] = Counter()
        for count, chain in named_region.region.chains:
            own = {(c.module, c.start) for c in chain[:_NEAREST]} | {named_region.region.key}
            held.update({name: count for name, keys in near.items() if keys & own})
        if not held:
            continue
        (best, most), *others = held.most_common(2)
        if most >= _MOST_CALLS * total and not others:
            text = named_region.found[0].implementation
            scalar = text if text.startswith("scalar") else f"scalar, {text}"
            named_region.found = (Recognition(best, "public", scalar, "its callers"),)


def _of_generated_curves(named: Sequence[Named]) -> None:
    """Name generated arithmetic of big numbers by the one curve that the process computes.

    Nothing is known of the callers of generated code.
    """
    curves: dict[str, Counter[str]] = defaultdict(Counter)
    own = [
        named_region
        for named_region in named
        if named_region.region.is_generated and named_region.found
    ]
    for named_region in own:
        found = named_region.found[0]
        if found.kind == "public" and found.primitive not in _NO_CURVES:
            curves[named_region.region.process][found.primitive] += named_region.region.samples
    for named_region in own:
        counted = curves[named_region.region.process]
        if named_region.found[0].primitive == _BIG_NUMBERS and counted:
            (best, most), *_ = counted.most_common(1)
            if most >= _NEARLY_ALL * counted.total():
                text = named_region.found[0].implementation
                named_region.found = (Recognition(best, "public", text, "the curve beside it"),)


def _tell_of_modules(named: Sequence[Named]) -> None:
    """Tell code of primitives beside it, and whether its file computes cryptography at all."""
    samples: Counter[str] = Counter()
    crypto: Counter[str] = Counter()
    primitives: dict[str, set[str]] = defaultdict(set)
    for named_region in named:
        path = named_region.region.module.path
        samples[path] += named_region.region.samples
        if any(found.kind not in _NO_CRYPTO for found in named_region.found):
            crypto[path] += named_region.region.samples
            primitives[path] |= {found.primitive for found in named_region.found}
    for named_region in named:
        path = named_region.region.module.path
        named_region.evidence.beside = frozenset(primitives[path])
        named_region.is_crypto_module = named_region.is_crypto_file or (
            bool(path) and crypto[path] >= _MOST_OF_A_FILE * samples[path]
        )


def _tables_of_functions(named: Iterable[Named]) -> dict[tuple[str, int], Counter[str]]:
    found: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for named_region in named:
        found[named_region.region.key].update(named_region.evidence.function.tables)
        found[named_region.region.key].update(named_region.evidence.live)
    return found


def _of_callers(region: Region, tables: dict[tuple[str, int], Counter[str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for caller in region.callers()[:2]:
        found.update(tables.get((caller.module, caller.start), Counter()))
    return found


def _by_rules(
    evidence: Evidence, rules: Iterable[Implementation], callers: Counter[str]
) -> tuple[Recognition, ...]:
    found: list[Recognition] = []
    for rule in rules:
        if not evidence.region.code and not rule.is_of_names:
            continue
        if found and not (rule.together and rule.primitive not in {f.primitive for f in found}):
            continue
        if _fits(rule, evidence, callers):
            primitive = rule.said_in(evidence.region.function.name) or rule.primitive
            text = _name(rule, evidence)
            found.append(Recognition(primitive, rule.kind, text, "its code", rule.says))
            if not rule.together:
                break
    return tuple(found)


def _fits(rule: Implementation, evidence: Evidence, callers: Counter[str]) -> bool:
    if rule.beside and not any(rule.beside.search(neighbour) for neighbour in evidence.beside):
        return False
    if rule.needs_crypto and not evidence.is_crypto:
        return False
    if not all(holds(need, evidence, callers) for need in rule.needs):
        return False
    if rule.any and not any(holds(condition, evidence, callers) for condition in rule.any):
        return False
    return not any(holds(condition, evidence, callers) for condition in rule.without)


def _name(rule: Implementation, evidence: Evidence) -> str:
    """Fill in what a rule leaves open: the registers, or the width of an operation's vectors."""
    text = rule.name
    if rule.is_of_names and rule.kind == "public" and evidence.multiplies():
        form = evidence.form(rule.vector_share)  # the name tells the primitive, the code the rest
        text = "scalar, {multiplication}" if form == "scalar" else "{form}"
    text = text.replace("{form}", evidence.form(rule.vector_share))
    text = text.replace("{rounds}", evidence.rounds(rule.vector_share))
    text = text.replace("{multiplication}", evidence.multiplication())
    text = text.replace(", ,", ",").removesuffix(", ") or "scalar"

    def width(match: re.Match[str]) -> str:
        return str(evidence.width(match[1]) or 128)

    return re.sub(r"\{width ([^}]*)\}", width, text)


def _within_functions(named: Sequence[Named], most: float = 0.0) -> None:
    """Give unnamed parts of a function the name of its hottest named part.

    `most`: they have at most so many times its samples.
    """
    best: dict[tuple[str, int], Named] = {}
    unnamed: Counter[tuple[str, int]] = Counter()
    for named_region in named:
        if not named_region.found:
            unnamed[named_region.region.key] += named_region.region.samples
        elif named_region.region.function.name + named_region.region.function.origin:
            held = best.setdefault(named_region.region.key, named_region)
            if named_region.region.samples > held.region.samples:
                best[named_region.region.key] = named_region
    for named_region in named:
        if named_region.found or not (other := best.get(named_region.region.key)):
            continue
        if most and unnamed[named_region.region.key] > most * other.region.samples:
            continue
        named_region.found = tuple(
            replace(f, because="the rest of its function") for f in other.found
        )


def _of_joined_functions(named: Sequence[Named], rules: Rules) -> None:
    """Name functions that call each other by what they have together.

    A round whose steps were not inlined has its rotations in one and its constants in another.
    """
    unnamed = [
        named_region
        for named_region in named
        if not named_region.found and named_region.region.code
    ]
    hot: dict[tuple[str, int], list[Named]] = defaultdict(list)
    for named_region in unnamed:
        name = named_region.region.function.name
        has_own = any(rule.is_name(name) for rule in rules.of_names) if name else False
        if (
            named_region.region.function.size
            and not named_region.region.is_generated
            and not has_own
        ):
            hot[named_region.region.key].append(named_region)
    groups: dict[tuple[str, int], list[tuple[str, int]]] = {key: [key] for key in hot}
    for key, parts in hot.items():
        for caller in parts[0].region.callers()[:1]:
            other = (caller.module, caller.start)
            if other in hot and groups[other] is not groups[key]:
                joined = [*groups[other], *groups[key]]
                groups |= dict.fromkeys(joined, joined)
    for keys in {id(group): group for group in groups.values()}.values():
        if not 1 < len(keys) <= _MOST_JOINED:
            continue
        parts = [named_region for key in keys for named_region in hot[key]]
        evidence = joined_evidence([part.evidence for part in parts])
        for found in _by_rules(evidence, rules.particular, Counter())[:1]:
            for part in parts:
                part.found = (replace(found, because="functions that call each other"),)


def _one_form(named: Sequence[Named]) -> None:
    """Give all parts of a function the registers of its vector part.

    A hash with vectors in its schedule has rounds that are scalar, which is told of both.
    """
    samples: dict[tuple[tuple[str, int], str], Counter[str]] = defaultdict(Counter)
    for named_region in named:
        for found in named_region.found:
            samples[named_region.region.key, found.primitive][found.implementation] += (
                named_region.region.samples
            )
    for named_region in named:
        changed = []
        for found in named_region.found:
            counted = samples[named_region.region.key, found.primitive]
            vectors = Counter[str]()
            for name, count in counted.items():
                if (form := name.partition(",")[0]) in _VECTORS:
                    vectors[form] += count
            best = max(vectors, key=lambda name: vectors[name], default="")
            is_vector = bool(best) and vectors[best] >= _FEWEST_VECTORS * counted.total()
            if found.implementation == "scalar" and is_vector:
                mixed = f"{best}, scalar rounds"
                found = replace(found, implementation=mixed)  # noqa: PLW2901
            changed.append(found)
        named_region.found = tuple(changed)


def _from_callers(named: Sequence[Named]) -> None:
    """Name code that only named code calls, or that calls it: the glue of a primitive."""
    by_function: dict[tuple[str, int], Named] = {}
    for named_region in named:
        if named_region.found and named_region.region.key not in by_function:
            by_function[named_region.region.key] = named_region
    called: dict[tuple[str, int], Named] = {}
    for named_region in named:
        if named_region.found:
            for caller in named_region.region.callers()[:1]:
                called.setdefault((caller.module, caller.start), named_region)
    for named_region in named:
        if named_region.found or named_region.region.is_generated:
            continue
        near = [by_function.get((c.module, c.start)) for c in named_region.region.callers()[:2]]
        other = next((n for n in near if n), None) or called.get(named_region.region.key)
        if other is None or other.region.module.path != named_region.region.module.path:
            continue
        is_large = other.region.samples * _LARGEST_GLUE >= named_region.region.samples
        if other.found[0].kind == "public" and other.is_particular:
            is_large |= named_region.evidence.multiplies()
        if is_large and other.found[0].kind not in _NO_CRYPTO:
            first = other.found[0]
            named_region.found = (_glue(first, "its neighbour"),)


def _glue(of: Recognition, because: str) -> Recognition:
    """Name code around a primitive; its implementation stands before, where it is known."""
    text = of.implementation
    if text.startswith("compiled code"):
        text = _GLUE
    elif not text.endswith(_GLUE):
        text = f"{text}, {_GLUE}"
    return Recognition(of.primitive, of.kind, text, because, of.says)


def _from_names_of_callers(named: Sequence[Named], rules: Rules) -> None:
    """Name functions without names by the nearest function in their chain that tells a primitive.

    Chains end at a file's border, so that what everyone calls is not named after one of them.
    """
    for named_region in named:
        if (
            named_region.found
            or named_region.region.function.name
            or not named_region.region.module.path
        ):
            continue
        path = named_region.region.module.path
        names = [
            caller.name for caller in named_region.region.callers()[:_FAR] if caller.module == path
        ]
        for name in filter(None, names):
            if rule := next((r for r in rules.of_names if r.is_name(name)), None):
                primitive = rule.said_in(name) or rule.primitive
                text = _name(rule, named_region.evidence)
                named_region.found = (
                    Recognition(primitive, rule.kind, text, "a caller's name", rule.says),
                )
                break


def _from_siblings(named: Sequence[Named]) -> None:
    """Name what is left in a cryptographic library by the call of its interface that it serves."""
    served: dict[tuple[str, str], Counter[Recognition]] = defaultdict(Counter)
    for named_region in named:
        if (
            named_region.is_crypto_module
            and named_region.found
            and (call := _interface(named_region))
        ):
            served[call][named_region.found[0]] += named_region.region.samples
    for named_region in named:
        if (
            named_region.found
            or not named_region.is_crypto_module
            or not (call := _interface(named_region))
        ):
            continue
        if counted := served.get(call):
            most, samples = counted.most_common(1)[0]
            if samples * _LARGEST_GLUE >= named_region.region.samples:
                named_region.found = (_glue(most, "the same call"),)


def _from_other_parts(named: Sequence[Named]) -> None:
    """Tell code that only its name betrays as part of the implementation that is beside it."""
    held: dict[tuple[str, str], Counter[Recognition]] = defaultdict(Counter)
    for named_region in named:
        for found in named_region.found[:1]:
            if not _NAME_ALONE.match(found.implementation):
                held[named_region.region.module.path, found.primitive][found] += (
                    named_region.region.samples
                )
    for named_region in named:
        for found in named_region.found[:1]:
            if not _NAME_ALONE.match(found.implementation):
                continue
            counted = held.get((named_region.region.module.path, found.primitive))
            if counted and counted.total() * _LARGEST_GLUE >= named_region.region.samples:
                named_region.found = (_glue(counted.most_common(1)[0][0], found.because),)


def _interface(named_region: Named) -> tuple[str, str] | None:
    """Return the library and the first function with a name in the chain of callers.

    If none has a name, it is the nearest one.
    """
    path = named_region.region.module.path
    chain = [caller for caller in named_region.region.callers() if caller.module == path]
    name = next((caller.name for caller in chain if caller.name), "")
    return (path, name or hex(chain[0].start)) if chain else None
