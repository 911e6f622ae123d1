# SPDX-License-Identifier: MIT
"""NIST's response files, as lines for `harness vectors`. Pure except for finding the package.

The Python package `cryptography-vectors` carries the CAVP files for AES in ECB, CBC, XTS, CCM and
GCM, for key wrap and for SHA-2, the examples of SP 800-38B for CMAC and those of RFC 3686 for CTR.
Of Monte Carlo files it has those of SHA-2.
"""

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "cryptography_vectors"

_ON_SHA2 = ("hmac-", "hkdf-", "pbkdf2-", "sha")
_CHAINS = 10  # of the 100 of a Monte Carlo file, for each of which a kernel hashes 1,000 times
_SECTION = re.compile(r"^\[(.*)\]$")
_ASSIGNMENT = re.compile(r"^\s*(\w+)\s*=\s*(.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a response file.

    Its values by lower-case name, and the section that it stands in.
    """

    count: str
    decrypt: bool
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class VectorFile:
    """Published answers in somebody's format, and how to make lines for the harness of its text."""

    name: str
    path: Path
    to_lines: Callable[[str], Iterator[str]]


def find_files() -> list[VectorFile] | None:
    """Every file that the harness can be fed with; None if the package is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    root = Path(spec.submodule_search_locations[0])
    aes = root / "ciphers" / "AES"
    found: list[VectorFile] = []
    for pattern, to_lines in (
        ("ECB/*.rsp", _block_lines("ecb")),
        ("CBC/*.rsp", _block_lines("cbc")),
        ("CTR/*.txt", _ctr_lines),
        ("XTS/*/*.rsp", _xts_lines),
        ("CCM/*.rsp", _ccm_lines),
        ("GCM/*.rsp", _gcm_lines),
    ):
        for path in sorted(aes.glob(pattern)):
            found.append(VectorFile(path.relative_to(aes).as_posix(), path, each(to_lines)))
    for path in sorted((root / "CMAC").glob("*aes*.txt")):
        found.append(VectorFile(f"CMAC/{path.name}", path, each(_cmac_lines)))
    for path in sorted((root / "keywrap" / "kwtestvectors").glob("KW*_A[DE]_???.txt")):
        found.append(VectorFile(f"KW/{path.name}", path, _wrap_lines(path.stem)))
    for path in sorted((root / "hashes" / "SHA2").glob("*.rsp")):
        name = path.stem[:6].lower()
        if path.stem.startswith("SHA512_"):
            name = path.stem[:10].lower().replace("_", "-")
        if name != "sha512-224":  # not one of ours
            of_text = _chain_lines if "Monte" in path.stem else _digest_lines
            found.append(VectorFile(f"SHA2/{path.name}", path, of_text(name)))
    return found


def lines(file: VectorFile) -> Iterator[str]:
    """The harness's input for one file."""
    yield from file.to_lines(file.path.read_text(encoding="utf-8", errors="replace"))


def each(to_lines: Callable[[Case], list[str]]) -> Callable[[str], Iterator[str]]:
    """All lines of a response file, from those of one case."""

    def of_text(text: str) -> Iterator[str]:
        for case in parse(text):
            yield from to_lines(case)

    return of_text


def parse(text: str) -> Iterator[Case]:
    """The tests of a response file.

    Values before a COUNT, and those of a section's head such as `[Alen = 0, Plen = 0]`, hold for
    all that follow.
    """
    shared: dict[str, str] = {}
    own: dict[str, str] = {}
    count = ""
    decrypt = False
    for raw in text.splitlines():
        text_line = raw.strip()
        if not text_line or text_line.startswith("#"):
            continue
        section = _SECTION.match(text_line)
        assignment = None if section else _ASSIGNMENT.match(text_line)
        name = assignment.group(1).lower() if assignment else ""
        starts_shared = count and name in ("key", "nonce") and name in shared and name not in own
        if count and (section or name == "count" or (starts_shared and _is_complete(own))):
            yield Case(count, decrypt, {**shared, **own})
            count, own = "", {}
        if section:
            head = section.group(1)
            if head.upper() in ("ENCRYPT", "DECRYPT"):
                decrypt = head.upper() == "DECRYPT"
            for part in head.split(","):
                if pair := _ASSIGNMENT.match(part):
                    shared[pair.group(1).lower()] = pair.group(2)
        elif assignment and name == "count":
            count = assignment.group(2)
        elif assignment and count:
            own[name] = assignment.group(2)
        elif assignment:
            shared[name] = assignment.group(2)
    if count:
        yield Case(count, decrypt, {**shared, **own})


def _is_complete(own: Mapping[str, str]) -> bool:
    return any(name in own for name in ("ct", "ciphertext", "output", "payload"))


def line(mode: str, case_id: str, kernel: str = "*", **values: str) -> str:
    """One line, for every kernel that runs."""
    shown = " ".join(f"{name.rstrip('_')}={value.lower()}" for name, value in values.items())
    if mode in ("gcm-seal", "gcm-open"):
        primitive = "gcm"
    elif mode == "x25519":
        primitive = mode
    else:
        primitive = "sha2" if mode.startswith(_ON_SHA2) else "aes"
    return f"{primitive} {mode} {kernel} {shown} id={case_id}"


def _direction(case: Case) -> str:
    return "dec" if case.decrypt else "enc"


def _block_lines(mode: str) -> Callable[[Case], list[str]]:
    def to_lines(case: Case) -> list[str]:
        v = case.values
        iv = {"iv": v["iv"]} if "iv" in v else {}
        source, result = v["plaintext"], v["ciphertext"]
        if case.decrypt:
            source, result = result, source
        full = f"{mode}-{_direction(case)}"
        return [line(full, f"{full}/{case.count}", key=v["key"], **iv, in_=source, out=result)]

    return to_lines


def _ctr_lines(case: Case) -> list[str]:
    v = case.values
    return [
        line(
            "ctr", f"ctr/{case.count}", key=v["key"], iv=v["iv"], in_=v["plaintext"],
            out=v["ciphertext"],
        )
    ]  # fmt: skip


def _xts_lines(case: Case) -> list[str]:
    """Data units of whole bytes only.

    The sequence number is a little-endian tweak (IEEE 1619, 5.1).
    """
    v = case.values
    if int(v["dataunitlen"]) % 8:
        return []
    tweak = v["i"] if "i" in v else int(v["dataunitseqnumber"]).to_bytes(16, "little").hex()
    half = len(v["key"]) // 2
    source, result = (v["ct"], v["pt"]) if case.decrypt else (v["pt"], v["ct"])
    mode = f"xts-{_direction(case)}"
    return [
        line(
            mode, f"{mode}/{case.count}", key=v["key"][:half], key2=v["key"][half:], iv=tweak,
            in_=source, out=result,
        )
    ]  # fmt: skip


def _cmac_lines(case: Case) -> list[str]:
    v = case.values
    return [
        line("cmac", f"cmac/{case.count}", key=v["key"], in_=v.get("message", ""), out=v["output"])
    ]


def _ccm_lines(case: Case) -> list[str]:
    """CT is ciphertext and tag; a length of 0 is written with a placeholder of one byte.

    A test of the decryption files says whether the tag is right.
    """
    v = case.values
    payload_bytes, aad_bytes, tag_bytes = int(v["plen"]), int(v["alen"]), int(v["tlen"])
    sealed = v["ct"]
    data, tag = sealed[: len(sealed) - 2 * tag_bytes], sealed[len(sealed) - 2 * tag_bytes :]
    payload = v.get("payload", "")[: 2 * payload_bytes]
    common = {"key": v["key"], "nonce": v["nonce"], "aad": v["adata"][: 2 * aad_bytes], "tag": tag}
    where = f"{v['alen']}-{v['plen']}-{len(v['nonce']) // 2}-{v['tlen']}/{case.count}"
    if v.get("result", "Pass").startswith("Fail"):
        return [line("ccm-open", f"ccm-open/{where}", **common, in_=data, out="fail")]
    return [
        line("ccm-seal", f"ccm-seal/{where}", **common, in_=payload, out=data),
        line("ccm-open", f"ccm-open/{where}", **common, in_=data, out=payload),
    ]


def _gcm_lines(case: Case) -> list[str]:
    """A test of the decryption files without a plaintext has a wrong tag."""
    v = case.values
    common = {"key": v["key"], "nonce": v["iv"], "aad": v["aad"], "tag": v["tag"]}
    sizes = (len(v["key"]) * 4, *(len(v[name]) // 2 for name in ("iv", "ct", "aad", "tag")))
    where = "-".join(map(str, sizes)) + f"/{case.count}"
    if "pt" not in v:
        return [line("gcm-open", f"gcm-open/{where}", **common, in_=v["ct"], out="fail")]
    return [
        line("gcm-seal", f"gcm-seal/{where}", **common, in_=v["pt"], out=v["ct"]),
        line("gcm-open", f"gcm-open/{where}", **common, in_=v["ct"], out=v["pt"]),
    ]


def _wrap_lines(stem: str) -> Callable[[str], Iterator[str]]:
    """Key wrap by a file's name: KW or KWP, AE (wrap) or AD (unwrap), bits. A test of unwrapping
    without a plaintext is to be refused.
    """
    kind, direction, bits = stem.lower().split("_")
    mode = f"{kind}-{'wrap' if direction == 'ae' else 'unwrap'}"

    def of_text(text: str) -> Iterator[str]:
        for number, case in enumerate(parse(text)):
            v = case.values
            source, result = v.get("p", "fail"), v["c"]
            if direction == "ad":
                source, result = result, source
            yield line(mode, f"{mode}-{bits}/{number}", key=v["k"], in_=source, out=result)

    return of_text


def _digest_lines(hash_: str) -> Callable[[str], Iterator[str]]:
    """Messages of whole bytes; one of no bytes is written with a placeholder."""

    def of_text(text: str) -> Iterator[str]:
        for bits, message, digest in re.findall(
            r"^Len = (\d+)\s+Msg = (\w+)\s+MD = (\w+)", text, re.MULTILINE
        ):
            yield line(hash_, f"{hash_}/{bits}", in_=message[: int(bits) // 4], out=digest)

    return of_text


def _chain_lines(hash_: str) -> Callable[[str], Iterator[str]]:
    """Monte Carlo: the result of a chain is the seed of the next one."""

    def of_text(text: str) -> Iterator[str]:
        seed = re.findall(r"^Seed = (\w+)", text, re.MULTILINE)[0]
        results = re.findall(r"^MD = (\w+)", text, re.MULTILINE)
        for number, result in enumerate(results[:_CHAINS]):
            yield line(f"{hash_}-mct", f"{hash_}-mct/{number}", in_=seed, out=result)
            seed = result

    return of_text
