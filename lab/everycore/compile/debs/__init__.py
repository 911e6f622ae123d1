# SPDX-License-Identifier: MIT
"""Debian packages and sources for whoever may not install any: no root, no dpkg, nothing run.

A request names suites, an architecture and packages; the answer is a folder with these packages and
all that they depend on, unpacked. Trust comes from the keys of Debian that this system has: they
sign the Release of a suite, which holds the sha256 of its index, which holds that of every file.

    request = Request(("sid",), "amd64", ("libssl-dev", "libc6-dev"))
    lock = debs.pinned(context, request, tree.root / "catalog/peers/sid-amd64.lock", update=False)
    root = debs.unpacked(context, lock)  # complete, or not there

`pinned` reads the lock file, or asks the archive and writes it: names, versions, paths and sha256,
to be committed. What a lock names is fetched and unpacked once, whoever asks. Sources come in the
same way: Request(..., sources=("qemu",)), then debs.unpacked_source(context, lock, "qemu").
Packages that hold sources as a tarball (linux-source-7.2): debs.unpacked_tarball.

The mirror is the one that the system's apt is configured for, by apt's proxy, or EVERYCORE_MIRROR
(a URL or a folder); the keys are those of debian-archive-keyring, or EVERYCORE_KEYRING (a file).

index, closure and lock are pure; mirror, files, archive, tarball and unpack touch the world.
"""

from everycore.compile.debs.archive import (
    Archive,
    NoSuiteError,
    open_archive,
    pinned,
    read_lock,
    write_lock,
)
from everycore.compile.debs.files import WrongContentsError, discard, is_cached
from everycore.compile.debs.lock import File, Lock, Pinned, Request
from everycore.compile.debs.unpack import (
    architecture_of,
    fetched,
    unpack_package,
    unpacked,
    unpacked_source,
    unpacked_tarball,
)

__all__ = [
    "Archive",
    "File",
    "Lock",
    "NoSuiteError",
    "Pinned",
    "Request",
    "WrongContentsError",
    "architecture_of",
    "discard",
    "fetched",
    "is_cached",
    "open_archive",
    "pinned",
    "read_lock",
    "unpack_package",
    "unpacked",
    "unpacked_source",
    "unpacked_tarball",
    "write_lock",
]
