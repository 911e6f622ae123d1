# SPDX-License-Identifier: MIT
"""Repeat one operation of a Python package, and print a checksum of the result: fourth.py NAME COUNT"""

import sys
import zlib

name, count = sys.argv[1], int(sys.argv[2])
text = bytes(65536)
if name == "cryptography-gcm":
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    tool = AESGCM(bytes(32))
    for _ in range(count):
        text = tool.encrypt(bytes(12), text, None)[:65536]
elif name == "cryptography-x448":
    from cryptography.hazmat.primitives.asymmetric.x448 import X448PrivateKey

    key = X448PrivateKey.from_private_bytes(bytes([8]) * 56)
    other = X448PrivateKey.from_private_bytes(bytes([12]) * 56).public_key()
    for _ in range(count):
        text = key.exchange(other)
elif name == "tgcrypto":
    import tgcrypto

    for _ in range(count):
        text = tgcrypto.ige256_encrypt(text, bytes(32), bytes(32))
elif name == "bcrypt":
    import bcrypt

    for _ in range(count):
        text = bcrypt.hashpw(text[:32].replace(b"\0", b"0"), b"$2b$10$abcdefghijklmnopqrstuu")
elif name == "arc4":
    from arc4 import ARC4

    tool = ARC4(b"a key of 16 byte")
    for _ in range(count):
        text = tool.encrypt(text)
elif name == "siphash24":
    import siphash24

    for _ in range(count):
        text = siphash24.siphash24(text, key=bytes(16)).digest() + text[8:]
elif name == "sha3":
    import sha3

    for _ in range(count):
        text = sha3.keccak_256(text).digest() + text[32:]
elif name == "xxhash":
    import xxhash

    text = bytes(1 << 20)
    for n in range(count):
        digest = xxhash.xxh3_128(text, seed=n).digest()
    text = digest
elif name == "mmh3":
    import mmh3

    number = 0
    for _ in range(count):
        number = mmh3.hash(text, number & 0x7FFFFFFF)
    text = b"%d" % number
elif name == "parasail":
    import parasail

    letters = bytes(65 + n * n % 23 for n in range(2000)).decode()
    for _ in range(count):
        text = b"%d" % parasail.sw_striped_16(letters, letters[::-1], 11, 1, parasail.blosum62).score
elif name == "duckdb":
    import duckdb

    query = "select sum(n * 7919 % 1000003), count(distinct n % 7777) from range(4000000) as t(n)"
    for _ in range(count):
        text = repr(duckdb.sql(query).fetchall()).encode()
elif name == "numpy":
    import numpy

    matrix = numpy.fromfunction(lambda a, b: (a * 31 + b * 17) % 101, (600, 600))
    for _ in range(count):
        matrix = numpy.fft.irfft2(numpy.fft.rfft2(matrix @ matrix / 1e5))[:, :600]
        matrix = numpy.round(matrix % 100)
    text = b"%d" % matrix.size
elif name == "flint":
    import flint

    for n in range(count):
        text = str(flint.fmpz_poly([1, 2, 3, n]) ** 600).encode()
print(f"{zlib.crc32(text):08x}")
