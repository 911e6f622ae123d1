# SPDX-License-Identifier: MIT
"""Wycheproof's vectors through the package cryptography: wycheproof.py FILE...

Prints how many tests of each file succeeded, failed, and cannot be asked for through the package,
and whether everycore.so is in this process, as JSON.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from cryptography.hazmat.primitives.cmac import CMAC

Test = dict[str, Any]


def field(test: Test, name: str) -> bytes:
    return bytes.fromhex(test[name])


def gcm(test: Test) -> bool:
    cipher = AESGCM(field(test, "key"))
    sealed = field(test, "ct") + field(test, "tag")
    text = cipher.decrypt(field(test, "iv"), sealed, field(test, "aad"))
    return (
        text == field(test, "msg")
        and cipher.encrypt(field(test, "iv"), text, field(test, "aad")) == sealed
    )


def gcm_in_pieces(test: Test) -> bool:
    key, iv, tag, sealed = (field(test, name) for name in ("key", "iv", "tag", "ct"))
    opening = Cipher(algorithms.AES(key), modes.GCM(iv, tag)).decryptor()
    opening.authenticate_additional_data(field(test, "aad"))
    text = (
        b"".join(opening.update(sealed[i : i + 7]) for i in range(0, len(sealed), 7))
        + opening.finalize()
    )
    sealing = Cipher(algorithms.AES(key), modes.GCM(iv)).encryptor()
    sealing.authenticate_additional_data(field(test, "aad"))
    again = (
        b"".join(sealing.update(text[i : i + 11]) for i in range(0, len(text), 11))
        + sealing.finalize()
    )
    return text == field(test, "msg") and again == sealed and sealing.tag[: len(tag)] == tag


def ccm(test: Test) -> bool:
    cipher = AESCCM(field(test, "key"), tag_length=len(field(test, "tag")))
    sealed = field(test, "ct") + field(test, "tag")
    text = cipher.decrypt(field(test, "iv"), sealed, field(test, "aad"))
    return (
        text == field(test, "msg")
        and cipher.encrypt(field(test, "iv"), text, field(test, "aad")) == sealed
    )


def cmac(test: Test) -> bool:
    mac = CMAC(algorithms.AES(field(test, "key")))
    mac.update(field(test, "msg"))
    tag = mac.finalize()[: len(field(test, "tag"))]
    if tag != field(test, "tag"):
        raise InvalidSignature
    return True


def cbc(test: Test) -> bool:
    cipher = Cipher(algorithms.AES(field(test, "key")), modes.CBC(field(test, "iv")))
    opening, unpadder = cipher.decryptor(), padding.PKCS7(128).unpadder()
    text = (
        unpadder.update(opening.update(field(test, "ct")) + opening.finalize())
        + unpadder.finalize()
    )
    padder, sealing = padding.PKCS7(128).padder(), cipher.encryptor()
    padded = padder.update(text) + padder.finalize()
    return text == field(test, "msg") and sealing.update(padded) + sealing.finalize() == field(
        test, "ct"
    )


def xts(test: Test) -> bool:
    tweak = field(test, "iv").ljust(16, b"\0")
    cipher = Cipher(algorithms.AES(field(test, "key")), modes.XTS(tweak))
    opening, sealing = cipher.decryptor(), cipher.encryptor()
    text = opening.update(field(test, "ct")) + opening.finalize()
    return text == field(test, "msg") and sealing.update(text) + sealing.finalize() == field(
        test, "ct"
    )


OF: dict[str, list[Callable[[Test], bool]]] = {
    "aes_gcm_test": [gcm, gcm_in_pieces],
    "aes_ccm_test": [ccm],
    "aes_cmac_test": [cmac],
    "aes_cbc_pkcs5_test": [cbc],
    "aes_xts_test": [xts],
}


def outcome(ask: Callable[[Test], bool], test: Test) -> str:
    try:
        accepted = ask(test)
    except (InvalidTag, InvalidSignature):
        accepted = False
    except (ValueError, UnsupportedAlgorithm):  # also a padding that is wrong
        if test["result"] == "valid":
            return "not in the package"
        accepted = False
    right = accepted == (test["result"] == "valid") or test["result"] == "acceptable"
    return "right" if right else "WRONG"


def main() -> None:
    found: dict[str, Any] = {}
    for path in map(Path, sys.argv[1:]):
        for ask in OF.get(path.stem, ()):
            groups = json.loads(path.read_text())["testGroups"]
            counts = Counter(outcome(ask, test) for group in groups for test in group["tests"])
            found[f"{path.stem} {ask.__name__}"] = dict(sorted(counts.items()))
    loaded = "everycore.so" in Path("/proc/self/maps").read_text()
    if any("WRONG" in counts for counts in found.values()):
        raise SystemExit(json.dumps(found))
    print(json.dumps({**found, "provider": "everycore" if loaded else "default"}))


if __name__ == "__main__":
    main()
