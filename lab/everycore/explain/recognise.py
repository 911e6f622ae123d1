# SPDX-License-Identifier: MIT
"""Names the primitive and the implementation of each region, and says by which evidence."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from everycore.explain.evidence import Evidence, gather, holds
from everycore.explain.recognition_rules import Implementation, Rules, load_rules
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


@dataclass(frozen=True, slots=True)
class Found:
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
    found: tuple[Found, ...] = ()
    is_crypto_file: bool = False


def recognise(profile: Profile, rules: Rules | None = None) -> list[Named]:
    """Name all regions of a profile."""
    rules = rules or load_rules()
    named = [Named(one, gather(one, rules)) for one in profile.regions]
    tables = _tables_of_functions(named)
    for one in named:
        one.is_crypto_file = bool(CRYPTO_FILE.match(one.region.module.name))
        one.evidence.is_crypto = one.is_crypto_file or any(
            CRYPTO_NAME.search(name) for name in one.evidence.names
        )
        one.found = _by_rules(one, rules, _of_callers(one.region, tables))
    _one_form(named)
    _within_functions(named)
    _from_callers(named)
    _from_siblings(named)
    return named


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


def _by_rules(one: Named, rules: Rules, callers: Counter[str]) -> tuple[Found, ...]:
    if not one.region.code:
        return ()
    found: list[Found] = []
    for rule in rules.implementations:
        if found and not (rule.together and rule.primitive not in {f.primitive for f in found}):
            continue
        if _fits(rule, one.evidence, callers):
            found.append(
                Found(rule.primitive, rule.kind, _name(rule, one.evidence), "its code", rule.says)
            )
            if not rule.together:
                break
    return tuple(found)


def _fits(rule: Implementation, evidence: Evidence, callers: Counter[str]) -> bool:
    if rule.needs_crypto and not evidence.is_crypto:
        return False
    if not all(holds(one, evidence, callers) for one in rule.needs):
        return False
    if rule.alternatives and not any(holds(one, evidence, callers) for one in rule.alternatives):
        return False
    return not any(holds(one, evidence, callers) for one in rule.without)


def _name(rule: Implementation, evidence: Evidence) -> str:
    """Fill in what a rule leaves open: the registers, or the width of an operation's vectors."""
    text = rule.name.replace("{form}", evidence.form(rule.vector_share))

    def width(match: re.Match[str]) -> str:
        return str(evidence.width(match[1]) or 128)

    return re.sub(r"\{width ([^}]*)\}", width, text)


def _within_functions(named: Sequence[Named]) -> None:
    """Give unnamed parts of a function the name of its hottest named part."""
    best: dict[tuple[str, int], Named] = {}
    for one in named:
        if one.found and one.region.function.name + one.region.function.origin:
            held = best.setdefault(one.region.key, one)
            if one.region.samples > held.region.samples:
                best[one.region.key] = one
    for one in named:
        if not one.found and (other := best.get(one.region.key)):
            one.found = tuple(
                Found(f.primitive, f.kind, f.implementation, "the rest of its function", f.says)
                for f in other.found
            )


def _one_form(named: Sequence[Named]) -> None:
    """Give all parts of a function the registers of its vector part.

    A hash with vectors in its schedule has rounds that are scalar.
    """
    samples: dict[tuple[tuple[str, int], str], Counter[str]] = defaultdict(Counter)
    for one in named:
        for found in one.found:
            samples[one.region.key, found.primitive][found.implementation] += one.region.samples
    for one in named:
        changed = []
        for found in one.found:
            counted = samples[one.region.key, found.primitive]
            vectors = {name: counted[name] for name in _VECTORS if counted[name]}
            best = max(vectors, key=lambda name: vectors[name], default="")
            is_vector = bool(best) and vectors[best] >= _FEWEST_VECTORS * counted.total()
            if found.implementation == "scalar" and is_vector:
                found = replace(found, implementation=best)  # noqa: PLW2901
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
        if is_large and other.found[0].kind not in ("checksum", "overhead"):
            first = other.found[0]
            one.found = (
                Found(first.primitive, first.kind, "code around it", "its neighbour", first.says),
            )


def _from_siblings(named: Sequence[Named]) -> None:
    """Name what is left in a cryptographic library by the call of its interface that it serves."""
    served: dict[tuple[str, str], Counter[Found]] = defaultdict(Counter)
    for one in named:
        if one.is_crypto_file and one.found and (call := _interface(one)):
            served[call][one.found[0]] += one.region.samples
    for one in named:
        if one.found or not one.is_crypto_file or not (call := _interface(one)):
            continue
        if counted := served.get(call):
            most, samples = counted.most_common(1)[0]
            if samples * _LARGEST_GLUE >= one.region.samples:
                name = "code around it"
                one.found = (Found(most.primitive, most.kind, name, "the same call", most.says),)


def _interface(one: Named) -> tuple[str, str] | None:
    """Return the library and the first function with a name in the chain of callers."""
    path = one.region.module.path
    chain = (caller for caller in one.region.callers() if caller.module == path)
    name = next((caller.name for caller in chain if caller.name), "")
    return (path, name) if name else None
