# SPDX-License-Identifier: MIT
"""Whether the signatures of an EFI image are for this image.

A signature names the hash of the image that was signed. Nothing is said of who signed, and whether
firmware trusts that: only the hash is compared, as firmware does before it looks at certificates.

Sources: Microsoft, "Windows Authenticode Portable Executable Signature Format", version 1.0, 2008
(SpcIndirectDataContent); RFC 2315 (SignedData); UEFI Specification 2.10, 2022, section 32.2.4.
"""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from everycore.binary import pe
from everycore.environment import extras
from everycore.environment.errors import MissingPackagesError

PKCS_SIGNED_DATA, EFI_GUID = 0x0002, 0x0EF1  # kinds of certificates
PKCS7 = uuid.UUID("4aafd29d-68df-49ee-8aa9-347d375665a7")  # EFI_CERT_TYPE_PKCS7_GUID
HEADER_BYTES = 8  # of a certificate
SIGNED_DATA, INDIRECT_DATA = "1.2.840.113549.1.7.2", "1.3.6.1.4.1.311.2.1.4"
ALGORITHMS = {
    "1.2.840.113549.2.5": "md5",
    "1.3.14.3.2.26": "sha1",
    "2.16.840.1.101.3.4.2.1": "sha256",
    "2.16.840.1.101.3.4.2.2": "sha384",
    "2.16.840.1.101.3.4.2.3": "sha512",
}
MOST_BYTES = 1 << 20  # of a certificate: those of vendors have some 10 KiB
PURPOSE, EXTRA = "reading a signature", "firmware"


class State(StrEnum):
    """One word for what is known of an image's signatures."""

    NONE = "none"
    MATCHES = "matches"  # one of them is for this image
    DIFFERS = "differs"  # those that were read are for another one
    UNREAD = "unread"


TEXTS = {
    State.NONE: "",
    State.MATCHES: "signed",
    State.DIFFERS: "signed for another file",
    State.UNREAD: "signature not read",
}


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of an image; problem: why it was not read."""

    offset: int  # of the certificate, in the image
    algorithm: str = ""
    digest: bytes = b""  # of the image that was signed
    own: bytes = b""  # of this image, by the same algorithm
    problem: str = ""

    @property
    def matches(self) -> bool | None:
        return None if self.problem else self.digest == self.own

    def line(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "offset": self.offset,
            "matches": self.matches,
            "algorithm": self.algorithm or None,
            "digest": self.digest.hex() or None,
            "own_digest": self.own.hex() or None,
            "not_read": self.problem or None,
        }


@dataclass(frozen=True, slots=True)
class Signatures:
    """All signatures of an image."""

    each: tuple[Signature, ...] = field(default=())

    @property
    def state(self) -> State:
        known = {signature.matches for signature in self.each}
        if True in known:  # firmware takes any of them
            return State.MATCHES
        if False in known:
            return State.DIFFERS
        return State.UNREAD if known else State.NONE

    @property
    def is_for_this(self) -> bool:
        return self.state == State.MATCHES

    @property
    def text(self) -> str:
        """The words of lists; empty: the image is not signed."""
        found = next((signature for signature in self.each if signature.matches), None)
        if found is None or found.algorithm == "sha256":
            return TEXTS[self.state]
        return f"{TEXTS[self.state]} by {found.algorithm.upper().replace('SHA', 'SHA-')}"

    def facts(self) -> dict[str, object]:
        """As JSON has them."""
        return {
            "signed": self.is_for_this,
            "signature": str(self.state),
            "signatures": [signature.line() for signature in self.each],
        }


def read(image: pe.Image) -> Signatures:
    """Read the signatures of an image, and compare their hashes with its own."""
    return Signatures(
        tuple(_signature(image, certificate) for certificate in pe.certificates(image))
    )


def is_for_shorter(image: pe.Image, signature: Signature) -> bool:
    """Whether a signature is for the image without the bytes behind its certificates."""
    table = image.directory(pe.DIRECTORY_CERTIFICATES)
    if table is None or signature.matches is not False:
        return False
    shorter = image.data[: table.address + table.size_bytes]
    if len(shorter) == len(image.data):
        return False
    return pe.authenticode(pe.read(shorter), signature.algorithm) == signature.digest


def _signature(image: pe.Image, certificate: pe.Certificate) -> Signature:
    at, length = certificate.offset, certificate.length_bytes
    body = image.data[at + HEADER_BYTES : at + length]
    if certificate.kind == EFI_GUID:
        owner, body = uuid.UUID(bytes_le=body[:16].ljust(16, b"\0")), body[16:]
        if owner != PKCS7:
            return Signature(at, problem=f"a certificate of the type {owner}")
    elif certificate.kind != PKCS_SIGNED_DATA:
        return Signature(at, problem=f"a certificate of the type {certificate.kind:#06x}")
    if len(body) > MOST_BYTES:
        return Signature(at, problem=f"a certificate of {len(body):#x} bytes")
    try:
        algorithm, digest = _reader()(body)
    except MissingPackagesError as error:
        return Signature(at, problem=f"{error.message}: {error.hint}")
    except _UnreadError as error:
        return Signature(at, problem=str(error))
    return Signature(at, algorithm, digest, pe.authenticode(image, algorithm))


class _UnreadError(Exception):
    """A certificate that is not as Authenticode has it."""


@lru_cache(maxsize=1)
def _reader() -> Callable[[bytes], tuple[str, bytes]]:
    """Return the function that reads a PKCS #7 signature: the algorithm and the hash that it names.

    Its types of ASN.1 are made with the package pyasn1; fields that nobody reads are of any type.
    """
    try:
        from pyasn1.codec.ber import decoder
        from pyasn1.error import PyAsn1Error
        from pyasn1.type import namedtype, tag, univ
    except ImportError:
        raise extras.missing_packages(PURPOSE, EXTRA) from None

    def decode(data: bytes, kind: Any) -> Any:
        try:
            return decoder.decode(data, asn1Spec=kind)[0]
        except (PyAsn1Error, RecursionError, ValueError, IndexError, OverflowError) as error:
            reason = str(error).split("\n", 1)[0][:80] or type(error).__name__
            raise _UnreadError(f"it is damaged, or no PKCS #7: {reason}") from None

    def sequence(*fields: tuple[str, Any], optional: tuple[str, ...] = ()) -> Any:
        names = [
            (namedtype.OptionalNamedType if name in optional else namedtype.NamedType)(name, kind)
            for name, kind in fields
        ]
        return univ.Sequence(componentType=namedtype.NamedTypes(*names))

    def context(number: int) -> Any:
        return tag.Tag(tag.tagClassContext, tag.tagFormatConstructed, number)

    anything, name = univ.Any(), univ.ObjectIdentifier()
    some = univ.SetOf(componentType=univ.Any())
    content = sequence(
        ("contentType", name), ("content", univ.Any().subtype(explicitTag=context(0)))
    )
    algorithm = sequence(("algorithm", name), ("parameters", anything), optional=("parameters",))
    signed = sequence(
        ("version", univ.Integer()),
        ("digestAlgorithms", some),
        ("contentInfo", content),
        ("certificates", some.subtype(implicitTag=context(0))),
        ("crls", some.subtype(implicitTag=context(1))),
        ("signerInfos", some),
        optional=("certificates", "crls"),
    )
    indirect = sequence(
        ("data", sequence(("type", name), ("value", anything), optional=("value",))),
        (
            "messageDigest",
            sequence(("digestAlgorithm", algorithm), ("digest", univ.OctetString())),
        ),
    )

    def signed_digest(data: bytes) -> tuple[str, bytes]:
        outer = decode(data, content)
        if str(outer["contentType"]) != SIGNED_DATA:
            raise _UnreadError(f"its content is {outer['contentType']}, not signed data")
        inner = decode(bytes(outer["content"]), signed)["contentInfo"]
        if str(inner["contentType"]) != INDIRECT_DATA:
            raise _UnreadError(f"it signs {inner['contentType']}, not the hash of an image")
        info = decode(bytes(inner["content"]), indirect)["messageDigest"]
        kind = str(info["digestAlgorithm"]["algorithm"])
        if kind not in ALGORITHMS:
            raise _UnreadError(f"its hash is of the unknown algorithm {kind}")
        return ALGORITHMS[kind], bytes(info["digest"])

    return signed_digest


def problems(image: pe.Image) -> Iterator[tuple[Signature, str]]:
    """Yield the signatures that are for another image, or were not read, each with its reason."""
    found = read(image)
    for signature in found.each:
        if signature.problem:
            yield signature, f"a signature was not read: {signature.problem}"
        elif not signature.matches:
            text = "the signature is for another file: its hash differs"
            if is_for_shorter(image, signature):
                text += "; it is that of the driver without the bytes behind the signature"
            elif found.is_for_this:
                text += "; another signature is for this one"
            yield signature, text
