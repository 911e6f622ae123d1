# SPDX-License-Identifier: MIT
"""Compression of drivers in option ROMs, in a process of its own with limits.

UEFI Specification 2.10, chapter 19, defines the EFI algorithm, which firmware decompresses. EDK2
has a second one with longer matches, Tiano, in the same frame; no firmware takes it from a ROM.
"""

import base64
import signal
import sys
from pathlib import Path

from everycore.binary import pe
from everycore.binary.malformed import MalformedError
from everycore.environment.context import Context
from everycore.environment.extras import is_installed, missing_packages
from everycore.firmware.oprom import MOST_BYTES, MOST_DRIVER_BYTES, compressed_sizes

CHILD = Path(__file__).with_name("child.py")
SECONDS = 60  # the child ends itself after 10 of CPU time; a busy machine may take longer
_DAMAGED = "the stream is damaged: take another dump"
_LEAVE = "leave the driver uncompressed"


def decompress(context: Context, stream: bytes) -> bytes:
    """Decompress a driver; a stream that is not the EFI algorithm's is refused."""
    original = compressed_sizes(stream)[1]
    try:
        found = decompress_raw(context, stream)
        if pe.is_pe(found) and len(found) == original:
            return found
        rule = f"decompressed to {len(found):#x} bytes that are no PE image of {original:#x}"
    except MalformedError as error:
        rule = error.rule
    try:
        tiano = _run(context, "tiano-decompress", stream)
    except MalformedError:
        tiano = b""
    if pe.is_pe(tiano) and len(tiano) == original:
        rule = "compressed by the Tiano algorithm, which firmware does not take from option ROMs"
        raise MalformedError(0, rule, "compress its driver again: everycore rom replace")
    raise MalformedError(0, rule, _DAMAGED)


def decompress_raw(context: Context, stream: bytes) -> bytes:
    """Decompress a stream of the EFI algorithm, whatever it holds."""
    return _run(context, "efi-decompress", stream)


def compress(context: Context, data: bytes) -> bytes:
    """Compress a driver, and prove that it decompresses to the same bytes."""
    if len(data) > MOST_DRIVER_BYTES:
        rule = f"a driver of {len(data):#x} bytes; a ROM has at most {MOST_BYTES:#x}"
        raise MalformedError(0, rule, "name a smaller driver")
    stream = _run(context, "efi-compress", data)
    if decompress_raw(context, stream) != data:
        rule = "the codec compressed it to a stream that gives other bytes"
        raise MalformedError(0, rule, _LEAVE)
    return stream


def _run(context: Context, work: str, data: bytes) -> bytes:
    if not is_installed("uefi_firmware"):
        raise missing_packages("reading and writing compressed option ROMs", "firmware")
    remedy = _LEAVE if work.endswith("-compress") else _DAMAGED
    argv = [sys.executable, "-P", str(CHILD), work, str(MOST_DRIVER_BYTES)]
    try:
        done = context.runner.run(argv, stdin=data, seconds=SECONDS)
    except TimeoutError:
        rule = f"the codec took longer than {SECONDS} s"
        raise MalformedError(0, rule, remedy) from None
    if done.code:
        raise MalformedError(0, _reason(done.code, done.stderr), remedy)
    return base64.b64decode(done.stdout)


def _reason(code: int, errors: str) -> str:
    """Return what the end of the codec's process means."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "the codec took more CPU time than it may"
    if code < 0:
        return f"the codec ended by signal {-code}"
    if "MemoryError" in errors or "bad_alloc" in errors:
        return "the codec took more memory than it may"
    return "the codec refuses it"
