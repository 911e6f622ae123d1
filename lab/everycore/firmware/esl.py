# SPDX-License-Identifier: MIT
"""EFI signature lists of SHA-256 hashes, which the Secure Boot variable db holds.

UEFI Specification 2.10, 2022, section 32.4.1. A hash in db lets firmware load exactly that image.
"""

import struct
import uuid
from collections.abc import Sequence
from shlex import quote

from everycore.binary.malformed import MalformedError

SHA256 = uuid.UUID("c1c41626-504c-4092-aca9-41f936934328")  # EFI_CERT_SHA256_GUID
HASH_BYTES = 32
_ENTRY_BYTES = 16 + HASH_BYTES
_HEADER_BYTES = 16 + 12


def signature_list(hashes: Sequence[bytes], owner: uuid.UUID) -> bytes:
    """Return a list with each hash once, in the order given."""
    unique = list(dict.fromkeys(hashes))
    body = b"".join(owner.bytes_le + one for one in unique)
    sizes = struct.pack("<III", _HEADER_BYTES + len(body), 0, _ENTRY_BYTES)
    return SHA256.bytes_le + sizes + body


def hashes_of(data: bytes) -> list[bytes]:
    """Return the SHA-256 hashes of concatenated signature lists; other kinds are skipped."""
    found: list[bytes] = []
    at = 0
    while at < len(data):
        if at + _HEADER_BYTES > len(data):
            raise MalformedError(at, "a signature list is cut short")
        size, header, entry = struct.unpack_from("<III", data, at + 16)
        if size < _HEADER_BYTES or at + size > len(data):
            raise MalformedError(at + 16, f"a signature list of {size:#x} bytes")
        if uuid.UUID(bytes_le=data[at : at + 16]) == SHA256:
            if entry != _ENTRY_BYTES or header or (size - _HEADER_BYTES) % entry:
                raise MalformedError(at + 20, "a signature list whose sizes are not of SHA-256")
            for place in range(at + _HEADER_BYTES, at + size, entry):
                found.append(data[place + 16 : place + entry])
        at += size
    return found


def commands(esl: str, owner: uuid.UUID, hashes: Sequence[str]) -> list[str]:
    """Return the commands of existing tools that sign a list and append it to db."""
    auth = quote(esl.removesuffix(".esl") + ".auth")
    lines = [
        "# sign it with your KEK and append it to db (Debian's efitools), on the machine itself:",
        f"sign-efi-sig-list -a -g {owner} -k KEK.key -c KEK.crt db {quote(esl)} {auth}",
        f"efi-updatevar -a -f {auth} db",
        "# or in the variables of a virtual machine (Python package virt-firmware):",
    ]
    adds = " ".join(f"--add-db-hash {owner} {one}" for one in dict.fromkeys(hashes))
    return [*lines, f"virt-fw-vars --inplace VARS.fd {adds}"]
