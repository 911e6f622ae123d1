# SPDX-License-Identifier: MIT
"""Repeat one operation of a Python package, and print a checksum of the result: unseen.py NAME COUNT"""

import hashlib
import sys
import zlib

name, count = sys.argv[1], int(sys.argv[2])
text = bytes(65536)
if name == "pycryptodome-gcm":
    from Crypto.Cipher import AES

    for n in range(count):
        text = AES.new(bytes(32), AES.MODE_GCM, nonce=n.to_bytes(12, "big")).encrypt_and_digest(text)[0]
elif name == "pycryptodome-chacha20":
    from Crypto.Cipher import ChaCha20

    for n in range(count):
        text = ChaCha20.new(key=bytes(32), nonce=n.to_bytes(12, "big")).encrypt(text)
elif name == "pycryptodome-sha3":
    from Crypto.Hash import SHA3_256

    for _ in range(count):
        text = SHA3_256.new(text).digest() + text[32:]
elif name == "pynacl":
    import nacl.bindings

    for n in range(count):
        text = nacl.bindings.crypto_secretbox(text, n.to_bytes(24, "big"), bytes(32))[:65536]
elif name == "blake3":
    import blake3

    for _ in range(count):
        text = blake3.blake3(text).digest() + text[32:]
elif name == "hashlib-scrypt":
    for _ in range(count):
        text = hashlib.scrypt(text[:64], salt=b"salt", n=16384, r=8, p=1)
elif name == "hashlib-blake2s":
    for _ in range(count):
        text = hashlib.blake2s(text).digest() + text[32:]
elif name == "ecdsa":
    import ecdsa

    key = ecdsa.SigningKey.from_secret_exponent(7919, ecdsa.NIST256p, hashlib.sha256)
    for _ in range(count):
        text = key.sign_deterministic(text[:64], hashfunc=hashlib.sha256)
elif name == "pyaes":
    import pyaes

    cipher = pyaes.AESModeOfOperationCTR(bytes(32))
    for _ in range(count):
        text = cipher.encrypt(text[:4096])
print(zlib.crc32(text))
