# SPDX-License-Identifier: MIT
"""New keys and parameters: the harness finds the numbers, which become PEM here."""

import base64
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, cannot_write
from everycore.environment.extras import missing_packages
from everycore.environment.outputs import is_standard_output
from everycore.model.protocol import Number, Search
from everycore.run.session import open_session

LEAST_BITS, MOST_BITS, STEP = 1024, 8192, 16
EXTRA = "keys"
LINE_EVERY_SECONDS = 5.0

Numbers = Mapping[str, int]
ToPem = Callable[[Numbers], bytes]


def check_bits(bits: int) -> None:
    if not LEAST_BITS <= bits <= MOST_BITS or bits % STEP:
        raise EverycoreError(
            f"{bits} bits are not possible",
            f"name a number from {LEAST_BITS} to {MOST_BITS} that is a multiple of {STEP}",
        )


def generate(context: Context, name: str, bits: int, out: Path | None, to_pem: ToPem) -> None:
    """Have the harness find numbers, and write what `to_pem` makes of them.

    A file gets its name when it is complete, with mode 0600; one that is there is not replaced.
    """
    check_bits(bits)
    with _new_file(out) as publish:
        pem = to_pem(_find(context, name, bits))
        if publish:
            publish(pem)
        else:
            context.out.file.write(pem.decode())
            context.out.file.flush()


def private_key_pem(numbers: Numbers) -> bytes:
    """PKCS #8 without encryption."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    public = rsa.RSAPublicNumbers(65537, numbers["n"])
    p, q, d, dp, dq, qinv = (numbers[name] for name in ("p", "q", "d", "dp", "dq", "qinv"))
    key = rsa.RSAPrivateNumbers(p, q, d, dp, dq, qinv, public).private_key()
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def parameters_pem(numbers: Numbers) -> bytes:
    """PKCS #3, with the generator 2.

    The package cryptography is to lose what makes this, so it is made here: ITU-T X.690, RFC 7468.
    """
    content = _der(0x30, _der_number(numbers["p"]) + _der_number(2))
    text = base64.b64encode(content).decode()
    lines = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    return f"-----BEGIN DH PARAMETERS-----\n{lines}\n-----END DH PARAMETERS-----\n".encode()


def _der_number(number: int) -> bytes:
    return _der(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def _der(tag: int, content: bytes) -> bytes:
    """An element whose length has the shortest form."""
    n = len(content)
    if n < 0x80:
        return bytes([tag, n]) + content
    length = n.to_bytes((n.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def check_packages() -> None:
    """Refuse before the search for a key what would fail behind it."""
    if find_spec("cryptography") is None:
        raise missing_packages("genrsa", EXTRA)


# ---- The search ----------------------------------------------------------------------------------


def _find(context: Context, name: str, bits: int) -> Numbers:
    session = open_session(context)
    numbers: dict[str, int] = {}
    with _search_line(context, f"{name} {bits}") as show:
        for line in session.records(name, str(bits)):
            if isinstance(line, Search):
                show(line.tests, line.expected)
            elif isinstance(line, Number):
                numbers[line.name] = int(line.value, 16)
    if not numbers:
        raise EverycoreError(
            "the harness found no numbers", "--debug shows where; please report it"
        )
    return numbers


@contextmanager
def _search_line(context: Context, title: str) -> Iterator[Callable[[int, float], None]]:
    """Yields a function that tells how far a search is.

    On a terminal: one line, which is gone in the end. Elsewhere a line every five seconds.
    """
    begin = last = monotonic()
    console, is_terminal = context.err, context.err.is_terminal

    def show(tests: int, expected: float) -> None:
        nonlocal last
        now = monotonic()
        if not is_terminal and now - last < LINE_EVERY_SECONDS:
            return
        last = now
        text = search_text(title, tests, expected, now - begin)
        if is_terminal:
            console.file.write(f"\r\x1b[K{text}")
            console.file.flush()
        else:
            console.print(text, markup=False, soft_wrap=True)

    try:
        yield show
    finally:
        if is_terminal and last > begin:
            console.file.write("\r\x1b[K")
            console.file.flush()


def search_text(title: str, tests: int, expected: float, seconds: float) -> str:
    """A line of progress. A search has no memory: however long it took, the rest is the same."""
    left = expected * seconds / tests if tests else 0.0
    rest = f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} min"
    return (
        f"{title}: {tests} candidates tested, {expected:.0f} on average; "
        f"about {rest} more on average"
    )


# ---- The file ------------------------------------------------------------------------------------


@contextmanager
def _new_file(path: Path | None) -> Iterator[Callable[[bytes], None] | None]:
    """Yields a function that writes the whole file; None: there is none but standard output."""
    if path is None or is_standard_output(path):
        yield None
        return
    if path.exists() or path.is_symlink():
        raise _exists(path)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    except OSError as error:
        raise cannot_write(f"into {path.parent}", error, "name another place with --out") from error
    scratch = Path(name)

    def publish(content: bytes) -> None:
        with os.fdopen(os.dup(handle), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _give_name(scratch, path, content)

    try:
        yield publish
    finally:
        try:
            os.close(handle)
        finally:  # also after Ctrl-C: it is a second name of the key
            scratch.unlink(missing_ok=True)


def _give_name(scratch: Path, path: Path, content: bytes) -> None:
    """Never over another file that came in between."""
    try:
        os.link(scratch, path)
        return
    except FileExistsError:
        raise _exists(path) from None
    except OSError:  # a file system without hard links
        pass
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise _exists(path) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _exists(path: Path) -> EverycoreError:
    return EverycoreError(f"{path} exists and is not replaced", "name a new file with --out")
