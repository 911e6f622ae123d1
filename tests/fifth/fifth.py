# SPDX-License-Identifier: MIT
"""Repeat one operation of a Python package, and print a checksum of the result: fifth.py NAME COUNT"""

import sys
import zlib

name, count = sys.argv[1], int(sys.argv[2])
text = bytes(65536)
if name == "cryptography-chacha":
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    tool = ChaCha20Poly1305(bytes(32))
    for _ in range(count):
        text = tool.encrypt(bytes(12), text, None)[:65536]
elif name == "pycryptodome-rsa":
    from Crypto.Hash import SHA256
    from Crypto.PublicKey import RSA
    from Crypto.Signature import pkcs1_15

    with open(sys.argv[3], "rb") as file:
        signer = pkcs1_15.new(RSA.import_key(file.read()))
    for _ in range(count):
        text = signer.sign(SHA256.new(text[:32]))
elif name == "pycryptodome-ocb":
    from Crypto.Cipher import AES

    for _ in range(count):
        tool = AES.new(bytes(16), AES.MODE_OCB, nonce=bytes(15))
        text = tool.encrypt_and_digest(text)[0]
elif name == "argon2":
    from argon2.low_level import Type, hash_secret_raw

    for _ in range(count):
        text = hash_secret_raw(text[:16], text[:16], 3, 65536, 1, 32, Type.ID)
elif name == "chia":
    from chia_rs import AugSchemeMPL

    key = AugSchemeMPL.key_gen(bytes(32))
    signature = AugSchemeMPL.sign(key, text[:32])
    for _ in range(count):
        assert AugSchemeMPL.verify(key.get_g1(), text[:32], signature)
elif name == "hashlib-sha3":
    import hashlib

    for _ in range(count):
        text = hashlib.sha3_512(text).digest() + text[64:]
elif name == "base64":
    import pybase64

    for _ in range(count):
        text = pybase64.b64encode(text)[:65536]
elif name == "orjson":
    import orjson

    rows = [{"name": str(n * 7919), "size": n, "share": n / 7} for n in range(2000)]
    for _ in range(count):
        text = orjson.dumps(rows)
        rows = orjson.loads(text)
elif name == "twister":
    import numpy

    source = numpy.random.Generator(numpy.random.MT19937(5))
    for _ in range(count):
        text = source.bytes(65536)
elif name == "scipy":
    import numpy
    import scipy.signal

    one = numpy.arange(200000) % 1009
    for _ in range(count):
        one = numpy.rint(scipy.signal.fftconvolve(one, one[::-1], mode="same")) % 1009
    text = one.tobytes()
print(f"{zlib.crc32(text):08x}")
