# SPDX-License-Identifier: MIT
"""EFI signature lists of SHA-256 hashes, which the Secure Boot variable db holds.

UEFI Specification 2.10, 2022, section 32.4.1. A hash in db lets firmware load exactly that image.
"""

import struct
import uuid
from collections.abc import Sequence
from shlex import quote

SHA256 = uuid.UUID("c1c41626-504c-4092-aca9-41f936934328")  # EFI_CERT_SHA256_GUID
HASH_BYTES = 32
_ENTRY_BYTES = 16 + HASH_BYTES
_HEADER_BYTES = 16 + 12


def signature_list(hashes: Sequence[bytes], owner: uuid.UUID) -> bytes:
    """Return a list with each hash once, in the order given."""
    unique = list(dict.fromkeys(hashes))
    body = b"".join(owner.bytes_le + digest for digest in unique)
    sizes = struct.pack("<III", _HEADER_BYTES + len(body), 0, _ENTRY_BYTES)
    return SHA256.bytes_le + sizes + body


def commands(esl: str, owner: uuid.UUID, hashes: Sequence[str]) -> list[str]:
    """Return the commands of existing tools that sign a list and append it to db."""
    auth = quote(esl.removesuffix(".esl") + ".auth")
    lines = [
        "# sign it with your KEK and append it to db (Debian's efitools), on the machine itself:",
        f"sign-efi-sig-list -a -g {owner} -k KEK.key -c KEK.crt db {quote(esl)} {auth}",
        f"efi-updatevar -a -f {auth} db",
        "# or in the variables of a virtual machine (Python package virt-firmware):",
    ]
    adds = " ".join(f"--add-db-hash {owner} {digest}" for digest in dict.fromkeys(hashes))
    return [*lines, f"virt-fw-vars --inplace VARS.fd {adds}"]
