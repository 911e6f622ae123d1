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
    named = [Named(one, gather(one, rules)) for one in profile.regions]
    tables = _tables_of_functions(named)
    for one in named:
        one.is_crypto_file = bool(CRYPTO_FILE.match(one.region.module.name))
        one.evidence.is_crypto = one.is_crypto_file or any(
            CRYPTO_NAME.search(name) for name in one.evidence.names
        )
        own = _not_contradicted(one.region.function.name, rules)
        one.found = _by_rules(one.evidence, own, _of_callers(one.region, tables))
        one.is_particular = bool(one.found)
    _one_form(named)
    _within_functions(named, _LARGEST_GLUE)
    _of_joined_functions(named, rules)
    _tell_of_modules(named)
    for one in named:
        if not one.found:
            one.found = _by_rules(one.evidence, rules.general, _of_callers(one.region, tables))
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
        one
        for one in (rules.of_names if name else ())
        if one.rank < VAGUE and not one.is_family and one.is_name(name)
    ]
    if not told:
        return rules.particular
    classes = {_CLASSES.get(one.kind, "") for one in told} - {""}
    words = {word for one in told for word in one.primitive.split(" or ")}
    return [
        one
        for one in rules.particular
        if one.primitive == "GHASH"
        or _CLASSES.get(one.kind) not in classes
        or words & set(one.primitive.split(" or "))
    ]


def _of_curves(named: Sequence[Named]) -> None:
    """Name arithmetic of big numbers by the one curve whose functions are called beside it."""
    near: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for one in named:
        for found in one.found[:1]:
            if found.kind == "public" and found.primitive not in _NO_CURVES:
                near[found.primitive].add(one.region.key)
                for _, chain in one.region.chains:
                    near[found.primitive] |= {(c.module, c.start) for c in chain[:_NEAREST]}
    for one in named:
        if not one.found or one.found[0].primitive != _BIG_NUMBERS:
            continue
        total = sum(count for count, _ in one.region.chains)
        held: Counter[str] = Counter()
        for count, chain in one.region.chains:
            own = {(c.module, c.start) for c in chain[:_NEAREST]} | {one.region.key}
            held.update({name: count for name, keys in near.items() if keys & own})
        if not held:
            continue
        (best, most), *others = held.most_common(2)
        if most >= _MOST_CALLS * total and not others:
            text = one.found[0].implementation
            scalar = text if text.startswith("scalar") else f"scalar, {text}"
            one.found = (Recognition(best, "public", scalar, "its callers"),)


def _of_generated_curves(named: Sequence[Named]) -> None:
    """Name generated arithmetic of big numbers by the one curve that the process computes.

    Nothing is known of the callers of generated code.
    """
    curves: dict[str, Counter[str]] = defaultdict(Counter)
    own = [one for one in named if one.region.is_generated and one.found]
    for one in own:
        found = one.found[0]
        if found.kind == "public" and found.primitive not in _NO_CURVES:
            curves[one.region.process][found.primitive] += one.region.samples
    for one in own:
        counted = curves[one.region.process]
        if one.found[0].primitive == _BIG_NUMBERS and counted:
            (best, most), *_ = counted.most_common(1)
            if most >= _NEARLY_ALL * counted.total():
                text = one.found[0].implementation
                one.found = (Recognition(best, "public", text, "the curve beside it"),)


def _tell_of_modules(named: Sequence[Named]) -> None:
    """Tell code of primitives beside it, and whether its file computes cryptography at all."""
    samples: Counter[str] = Counter()
    crypto: Counter[str] = Counter()
    primitives: dict[str, set[str]] = defaultdict(set)
    for one in named:
        path = one.region.module.path
        samples[path] += one.region.samples
        if any(found.kind not in _NO_CRYPTO for found in one.found):
            crypto[path] += one.region.samples
            primitives[path] |= {found.primitive for found in one.found}
    for one in named:
        path = one.region.module.path
        one.evidence.beside = frozenset(primitives[path])
        one.is_crypto_module = one.is_crypto_file or (
            bool(path) and crypto[path] >= _MOST_OF_A_FILE * samples[path]
        )


def _tables_of_functions(named: Iterable[Named]) -> dict[tuple[str, int], Counter[str]]:
    found: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for one in named:
        found[one.region.key].update(one.evidence.function.tables)
        found[one.region.key].update(one.evidence.live)
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
    if rule.beside and not any(rule.beside.search(one) for one in evidence.beside):
        return False
    if rule.needs_crypto and not evidence.is_crypto:
        return False
    if not all(holds(one, evidence, callers) for one in rule.needs):
        return False
    if rule.any and not any(holds(one, evidence, callers) for one in rule.any):
        return False
    return not any(holds(one, evidence, callers) for one in rule.without)


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
    for one in named:
        if not one.found:
            unnamed[one.region.key] += one.region.samples
        elif one.region.function.name + one.region.function.origin:
            held = best.setdefault(one.region.key, one)
            if one.region.samples > held.region.samples:
                best[one.region.key] = one
    for one in named:
        if one.found or not (other := best.get(one.region.key)):
            continue
        if most and unnamed[one.region.key] > most * other.region.samples:
            continue
        one.found = tuple(replace(f, because="the rest of its function") for f in other.found)


def _of_joined_functions(named: Sequence[Named], rules: Rules) -> None:
    """Name functions that call each other by what they have together.

    A round whose steps were not inlined has its rotations in one and its constants in another.
    """
    unnamed = [one for one in named if not one.found and one.region.code]
    hot: dict[tuple[str, int], list[Named]] = defaultdict(list)
    for one in unnamed:
        name = one.region.function.name
        has_own = any(rule.is_name(name) for rule in rules.of_names) if name else False
        if one.region.function.size and not one.region.is_generated and not has_own:
            hot[one.region.key].append(one)
    groups: dict[tuple[str, int], list[tuple[str, int]]] = {key: [key] for key in hot}
    for key, parts in hot.items():
        for caller in parts[0].region.callers()[:1]:
            other = (caller.module, caller.start)
            if other in hot and groups[other] is not groups[key]:
                joined = [*groups[other], *groups[key]]
                groups |= dict.fromkeys(joined, joined)
    for keys in {id(one): one for one in groups.values()}.values():
        if not 1 < len(keys) <= _MOST_JOINED:
            continue
        parts = [one for key in keys for one in hot[key]]
        evidence = joined_evidence([one.evidence for one in parts])
        for found in _by_rules(evidence, rules.particular, Counter())[:1]:
            for one in parts:
                one.found = (replace(found, because="functions that call each other"),)


def _one_form(named: Sequence[Named]) -> None:
    """Give all parts of a function the registers of its vector part.

    A hash with vectors in its schedule has rounds that are scalar, which is told of both.
    """
    samples: dict[tuple[tuple[str, int], str], Counter[str]] = defaultdict(Counter)
    for one in named:
        for found in one.found:
            samples[one.region.key, found.primitive][found.implementation] += one.region.samples
    for one in named:
        changed = []
        for found in one.found:
            counted = samples[one.region.key, found.primitive]
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
        one.found = tuple(changed)


def _from_callers(named: Sequence[Named]) -> None:
    """Name code that only named code calls, or that calls it: the glue of a primitive."""
    by_function: dict[tuple[str, int], Named] = {}
    for one in named:
        if one.found and one.region.key not in by_function:
            by_function[one.region.key] = one
    called: dict[tuple[str, int], Named] = {}
    for one in named:
        if one.found:
            for caller in one.region.callers()[:1]:
                called.setdefault((caller.module, caller.start), one)
    for one in named:
        if one.found or one.region.is_generated:
            continue
        near = [by_function.get((c.module, c.start)) for c in one.region.callers()[:2]]
        other = next((n for n in near if n), None) or called.get(one.region.key)
        if other is None or other.region.module.path != one.region.module.path:
            continue
        is_large = other.region.samples * _LARGEST_GLUE >= one.region.samples
        if other.found[0].kind == "public" and other.is_particular:
            is_large |= one.evidence.multiplies()
        if is_large and other.found[0].kind not in _NO_CRYPTO:
            first = other.found[0]
            one.found = (_glue(first, "its neighbour"),)


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
    for one in named:
        if one.found or one.region.function.name or not one.region.module.path:
            continue
        path = one.region.module.path
        names = [caller.name for caller in one.region.callers()[:_FAR] if caller.module == path]
        for name in filter(None, names):
            if rule := next((r for r in rules.of_names if r.is_name(name)), None):
                primitive = rule.said_in(name) or rule.primitive
                text = _name(rule, one.evidence)
                one.found = (Recognition(primitive, rule.kind, text, "a caller's name", rule.says),)
                break


def _from_siblings(named: Sequence[Named]) -> None:
    """Name what is left in a cryptographic library by the call of its interface that it serves."""
    served: dict[tuple[str, str], Counter[Recognition]] = defaultdict(Counter)
    for one in named:
        if one.is_crypto_module and one.found and (call := _interface(one)):
            served[call][one.found[0]] += one.region.samples
    for one in named:
        if one.found or not one.is_crypto_module or not (call := _interface(one)):
            continue
        if counted := served.get(call):
            most, samples = counted.most_common(1)[0]
            if samples * _LARGEST_GLUE >= one.region.samples:
                one.found = (_glue(most, "the same call"),)


def _from_other_parts(named: Sequence[Named]) -> None:
    """Tell code that only its name betrays as part of the implementation that is beside it."""
    held: dict[tuple[str, str], Counter[Recognition]] = defaultdict(Counter)
    for one in named:
        for found in one.found[:1]:
            if not _NAME_ALONE.match(found.implementation):
                held[one.region.module.path, found.primitive][found] += one.region.samples
    for one in named:
        for found in one.found[:1]:
            if not _NAME_ALONE.match(found.implementation):
                continue
            counted = held.get((one.region.module.path, found.primitive))
            if counted and counted.total() * _LARGEST_GLUE >= one.region.samples:
                one.found = (_glue(counted.most_common(1)[0][0], found.because),)


def _interface(one: Named) -> tuple[str, str] | None:
    """Return the library and the first function with a name in the chain of callers.

    If none has a name, it is the nearest one.
    """
    path = one.region.module.path
    chain = [caller for caller in one.region.callers() if caller.module == path]
    name = next((caller.name for caller in chain if caller.name), "")
    return (path, name or hex(chain[0].start)) if chain else None
