# SPDX-License-Identifier: MIT
"""Signatures of EFI images, made byte by byte, independently of the code under test."""

import hashlib
import struct
from typing import Any

from firmware.pe_images import make_pe

from everycore.binary import pe

OIDS = {
    "md5": "2a864886f70d0205",
    "sha1": "2b0e03021a",
    "sha256": "608648016503040201",
    "sha384": "608648016503040202",
    "sha512": "608648016503040203",
    "unknown": "2a0304",
}
SIGNED_DATA, INDIRECT, DATA = "2a864886f70d010702", "2b060104018237020104", "2a864886f70d010701"
PKCS7 = bytes.fromhex("9dd2af4adf68ee498aa9347d375665a7")


def der(tag: int, *contents: bytes) -> bytes:
    body = b"".join(contents)
    if len(body) < 0x80:
        return bytes([tag, len(body)]) + body
    size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + body


def oid(text: str) -> bytes:
    return der(6, bytes.fromhex(text))


def pkcs7(
    digest: bytes,
    algorithm: str = "sha256",
    outer: str = SIGNED_DATA,
    inner: str = INDIRECT,
    certificates: bytes = der(0x30, b"\x02\x01\x07"),
) -> bytes:
    """Return signed data with the hash of an image, by nobody."""
    kind = der(0x30, oid(OIDS[algorithm]), der(5))
    indirect = der(
        0x30, der(0x30, oid("2b06010401823702010f"), der(0x30)), der(0x30, kind, der(4, digest))
    )
    signed = der(
        0x30,
        der(2, b"\1"), der(0x31, kind), der(0x30, oid(inner), der(0xA0, indirect)),
        der(0xA0, certificates), der(0x31),
    )  # fmt: skip
    return der(0x30, oid(outer), der(0xA0, signed))


def certificate(body: bytes, kind: int = 2) -> bytes:
    """Return an entry of the certificate table, padded to a multiple of 8 bytes."""
    length = 8 + len(body)
    return (struct.pack("<IHH", length, 0x200, kind) + body).ljust(-(-length // 8) * 8, b"\0")


def own_digest(algorithm: str = "sha256", **plan: Any) -> bytes:
    """Return the hash of an image to which certificates are added."""
    image = pe.read(make_pe(certificate=certificate(b""), **plan))
    bare = hashlib.new(algorithm)
    for begin, end in pe.authenticode_ranges(image):
        bare.update(image.data[begin:end])
    return bare.digest()


def signed_pe(*entries: bytes, **plan: Any) -> bytes:
    return make_pe(certificate=b"".join(entries), **plan)
