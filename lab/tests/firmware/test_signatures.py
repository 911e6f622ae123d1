# SPDX-License-Identifier: MIT
"""Signatures of EFI images: for this file, for another one, or not read."""

import json
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from firmware.pe_images import AARCH64, make_pe
from firmware.rom_images import bios, image, rom
from firmware.signed_images import DATA, PKCS7, certificate, der, own_digest, pkcs7, signed_pe
from world import Lab

from everycore.binary import pe
from everycore.environment.context import SystemRunner
from everycore.firmware import edit, oprom, rom_rules, signatures
from everycore.firmware.rom_rules import ADVICE, VIOLATION
from everycore.firmware.signatures import State

pytest.importorskip("pyasn1", reason="no pyasn1: extra 'firmware'")

NAMES = {"md5": "MD5", "sha1": "SHA-1", "sha384": "SHA-384", "sha512": "SHA-512"}
GOOD = certificate(pkcs7(own_digest()))
OTHER = certificate(pkcs7(bytes(32)))
ODD = certificate(b"nonsense", kind=1)


def state(*entries: bytes) -> State:
    return signatures.read(pe.read(signed_pe(*entries))).state


def rules(data: bytes) -> list[tuple[str, str]]:
    found = rom_rules.pe_findings(pe.read(data))
    return [
        (finding.rule.name, finding.rule.level)
        for finding in found
        if finding.rule.name.startswith("signature")
    ]


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha384", "sha512"])
def test_a_signature_is_for_an_image_whose_hash_it_names(algorithm: str) -> None:
    digest = own_digest(algorithm)
    data = signed_pe(certificate(pkcs7(digest, algorithm)))
    found = signatures.read(pe.read(data))
    assert found.state == State.MATCHES
    assert found.text == ("signed" if algorithm == "sha256" else f"signed by {NAMES[algorithm]}")
    assert found.facts()["signed"] is True
    assert rules(data) == []
    for at in (0x10, 0x230, 0x420, len(make_pe()) - 1):  # headers and sections
        changed = bytearray(data)
        changed[at] ^= 1
        found = signatures.read(pe.read(bytes(changed)))
        assert (found.state, found.text) == (State.DIFFERS, "signed for another file")
        assert found.facts()["signed"] is False
        assert rules(bytes(changed)) == [("signature-differs", VIOLATION)]


@pytest.mark.parametrize(
    ("entries", "expected", "broken"),
    [
        ((), State.NONE, []),
        ((GOOD, GOOD), State.MATCHES, []),
        ((OTHER, GOOD), State.MATCHES, [("signature-differs", ADVICE)]),
        ((GOOD, OTHER), State.MATCHES, [("signature-differs", ADVICE)]),
        ((OTHER, OTHER), State.DIFFERS, [("signature-differs", VIOLATION)] * 2),
        ((ODD,), State.UNREAD, [("signature-unread", ADVICE)]),
        ((ODD, GOOD), State.MATCHES, [("signature-unread", ADVICE)]),
        (
            (ODD, OTHER), State.DIFFERS,
            [("signature-unread", ADVICE), ("signature-differs", VIOLATION)],
        ),
        ((certificate(PKCS7 + pkcs7(own_digest()), 0xEF1),), State.MATCHES, []),
    ],
)  # fmt: skip
def test_one_signature_for_an_image_is_enough(
    entries: tuple[bytes, ...], expected: State, broken: list[tuple[str, str]]
) -> None:
    data = signed_pe(*entries)
    assert signatures.read(pe.read(data)).state == expected
    assert rules(data) == broken


WHOLE = pkcs7(own_digest())


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b"", 2, "damaged"),
        (b"nonsense", 2, "damaged"),
        (WHOLE[:40], 2, "damaged"),
        (WHOLE[:-1], 2, "damaged"),
        (pkcs7(own_digest(), outer=DATA), 2, "1.2.840.113549.1.7.1, not signed data"),
        (pkcs7(own_digest(), inner=DATA), 2, "not the hash of an image"),
        (pkcs7(own_digest(), "unknown"), 2, "unknown algorithm 1.2.3"),
        (b"\x30\x80" * 50_000, 2, "damaged"),
        (b"\xa0\x83\x00\xff\xff" * 20_000, 2, "damaged"),
        (bytes(2 << 20), 2, "a certificate of 0x200000 bytes"),
        (WHOLE, 0xEF0, "type 0x0ef0"),
        (b"short", 0xEF1, "a certificate of the type"),
        (bytes(16) + WHOLE, 0xEF1, "type 00000000-0000-0000-0000-000000000000"),
    ],
)
def test_a_signature_that_cannot_be_read_is_no_signature_of_the_image(
    body: bytes, kind: int, words: str
) -> None:
    begin = time.monotonic()
    found = signatures.read(pe.read(signed_pe(certificate(body, kind))))
    assert time.monotonic() - begin < 20
    assert (found.state, found.text) == (State.UNREAD, "signature not read")
    (signature,) = found.each
    assert words in signature.problem
    assert signature.matches is None
    assert "\n" not in signature.problem


def test_certificates_that_are_odd_do_not_keep_the_hash_from_being_read() -> None:
    for odd in (b"", der(0x30), der(0x13, b"\xff"), der(0x30, der(2, b"")) * 3):
        assert state(certificate(pkcs7(own_digest(), certificates=odd))) == State.MATCHES


def test_bytes_behind_a_signature_are_named_as_what_changes_the_hash() -> None:
    data = signed_pe(GOOD, trailing=bytes(24))
    assert rules(data) == [("signature-padding", VIOLATION), ("signature-differs", VIOLATION)]
    places = {
        finding.rule.name: finding.place.offset for finding in rom_rules.pe_findings(pe.read(data))
    }
    assert places["signature-padding"] == len(data) - 24
    assert places["signature-differs"] == len(make_pe())
    texts = [text for _, text in signatures.problems(pe.read(data))]
    assert texts == [
        "the signature is for another file: its hash differs; "
        "it is that of the driver without the bytes behind the signature"
    ]


def test_the_hash_is_not_said_to_differ_without_the_package_that_reads_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signatures._reader.cache_clear()
    monkeypatch.setitem(sys.modules, "pyasn1", None)
    monkeypatch.setitem(sys.modules, "pyasn1.codec.ber", None)
    found = signatures.read(pe.read(signed_pe(OTHER)))
    assert found.state == State.UNREAD
    assert "needs Python packages that are not installed" in found.each[0].problem


# ---- As a user types it


def make_rom(driver: bytes) -> bytes:
    made = edit.make_image(driver, edit.Ids(0x8086, 0x100E, 0x020000))
    return rom(bios(), made, image(machine=AARCH64), size=0x4000)


@pytest.fixture
def here(tmp_path: Path) -> Lab:
    for name, driver in (("good", signed_pe(GOOD)), ("bad", signed_pe(OTHER)),
                         ("odd", signed_pe(ODD))):  # fmt: skip
        (tmp_path / f"{name}.efi").write_bytes(driver)
        (tmp_path / f"{name}.rom").write_bytes(make_rom(driver))
    return Lab(SystemRunner(), tmp_path, {}, width=200)


@pytest.mark.parametrize(
    ("name", "text", "signed", "word"),
    [
        ("good", "signed", True, "matches"),
        ("bad", "signed for another file", False, "differs"),
        ("odd", "signature not read", False, "unread"),
    ],
)
def test_lists_and_hashes_say_for_which_file_a_signature_is(
    here: Lab, name: str, text: str, signed: bool, word: str
) -> None:
    assert f"image 1: {text}, SHA-256 " in here("rom", "list", f"{name}.rom").out
    assert "image 2: SHA-256 " in here("rom", "list", f"{name}.rom").out
    lines = [json.loads(x) for x in here("rom", "list", f"{name}.rom", "--json").out.splitlines()]
    driver = lines[2]["driver"]
    assert (driver["signed"], driver["signature"]) == (signed, word)
    matches = {"matches": True, "differs": False, "unread": None}[word]
    assert [signature["matches"] for signature in driver["signatures"]] == [matches]
    (first, second) = here("rom", "hash", f"{name}.rom").out.splitlines()
    assert f"  {text}  {name}.rom image 1" in first
    assert "sign" not in second
    (line,) = [json.loads(x) for x in here("rom", "hash", f"{name}.efi", "--json").out.splitlines()]
    assert (line["signed"], line["signature"]) == (signed, word)


def test_a_signature_for_another_file_is_a_finding_of_both_checks(here: Lab) -> None:
    for name, code, rule in (("good", 0, ""), ("bad", 1, "differs"), ("odd", 0, "unread")):
        done = here("rom", "check", f"{name}.rom", "--json")
        found = [json.loads(x)["rule"] for x in done.out.splitlines()]
        assert (done.code, "signature-" + rule in found) == (code, bool(rule))
        done = here("efi", "check", "--static", f"{name}.efi", "--json")
        lines = [json.loads(x) for x in done.out.splitlines()]
        assert lines[0]["signed"] is (name == "good")
        assert ("pe-signature-" + rule in [x.get("rule") for x in lines]) == bool(rule)
        assert done.code == code
    shown = here("rom", "check", "bad.rom", "--machine", "x86-64").out
    assert "works on x86-64: image 1 is a driver for x86-64; its signature is for another" in shown
    assert "Secure Boot" not in here("rom", "check", "good.rom", "--machine", "x86-64").out


# ---- Signatures of a real tool


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    """A driver that sbsign signed twice, with two keys."""
    for tool in ("sbsign", "openssl"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    data = tmp_path / "driver.efi"
    data.write_bytes(make_pe())
    for name in ("one", "two"):
        key, own = tmp_path / f"{name}.key", tmp_path / f"{name}.crt"
        words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"]
        run([*words, "-keyout", str(key), "-out", str(own), "-days", "2"])
        run(["sbsign", "--key", str(key), "--cert", str(own), "--output", str(data), str(data)])
    return data


def run(words: list[str]) -> None:
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_signatures_of_sbsign_are_for_the_file_until_a_byte_changes(signed: Path) -> None:
    data = signed.read_bytes()
    found = signatures.read(pe.read(data))
    assert [signature.matches for signature in found.each] == [True, True]
    changed = bytearray(data)
    changed[0x230] ^= 0x10
    found = signatures.read(pe.read(bytes(changed)))
    assert [signature.matches for signature in found.each] == [False, False]
    (first, second) = found.each
    own = pe.authenticode(pe.read(data))
    assert first.digest == second.digest == own
    packed = make_rom(data)  # as a card has it: the padding stands before the driver
    (driver,) = [oprom.driver(i, bytes) for i in oprom.read(packed).images if i.number == 1]
    assert driver.pe is not None
    assert signatures.read(driver.pe).state == State.MATCHES


def test_lief_reads_the_same_hashes_of_the_signatures(signed: Path) -> None:
    lief = pytest.importorskip("lief", reason="no lief: extra 'test'")
    found = lief.PE.parse(str(signed))
    expected = [bytes(signature.content_info.digest) for signature in found.signatures]
    assert [
        signature.digest for signature in signatures.read(pe.read(signed.read_bytes())).each
    ] == expected


def test_a_damaged_signature_never_raises(signed: Path) -> None:
    data = signed.read_bytes()
    begin = struct.unpack_from("<I", data, pe.read(data).directories[4].header_offset)[0]
    for at in range(begin + 8, min(begin + 400, len(data))):
        changed = bytearray(data)
        changed[at] ^= 0xFF
        assert signatures.read(pe.read(bytes(changed))).state in (State.MATCHES, State.DIFFERS)
