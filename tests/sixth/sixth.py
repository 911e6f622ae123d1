# SPDX-License-Identifier: MIT
"""Repeat one operation of a Python package, and print a checksum of the result: sixth.py NAME COUNT"""

import sys
import zlib

name, count = sys.argv[1], int(sys.argv[2])
text = bytes(65536)
if name == "nacl-sign":
    from nacl.signing import SigningKey

    key = SigningKey(bytes(32))
    for _ in range(count):
        text = bytes(key.verify_key.verify(key.sign(text[:32])))
elif name == "sntrup":
    from pqcrypto.kem import sntrup_761

    public, secret = sntrup_761.keygen()
    for _ in range(count):
        cipher, shared = sntrup_761.encaps(public)
        assert sntrup_761.decaps(secret, cipher) == shared
elif name == "ml-kem":
    from pqcrypto.kem import ml_kem_768

    for _ in range(count):
        public, secret = ml_kem_768.keygen()
        cipher, shared = ml_kem_768.encaps(public)
        assert ml_kem_768.decaps(secret, cipher) == shared
elif name == "scrypt":
    import scrypt

    for _ in range(count):
        text = scrypt.hash(text[:16], text[:16], N=16384, r=8, p=1)
elif name == "mbedtls":
    from mbedtls import cipher

    tool = cipher.AES.new(bytes(32), cipher.MODE_CBC, bytes(16))
    for _ in range(count):
        text = tool.encrypt(text)[:65536]
elif name == "3des":
    from Cryptodome.Cipher import DES3

    tool = DES3.new(bytes(range(24)), DES3.MODE_CBC, bytes(8))
    for _ in range(count):
        text = tool.encrypt(text)
elif name == "blake2b":
    from Cryptodome.Hash import BLAKE2b

    for _ in range(count):
        text = BLAKE2b.new(data=text, digest_bits=512).digest() + text[64:]
elif name == "hashlib-sha1":
    import _sha1

    for _ in range(count):
        text = _sha1.sha1(text).digest() + text[20:]
elif name == "crc32c":
    import google_crc32c

    for _ in range(count):
        text = google_crc32c.value(text).to_bytes(4, "big") + text[4:]
elif name == "rsa":
    import rsa

    public, secret = rsa.newkeys(512)
    secret = rsa.PrivateKey((1 << 2048) - 1942289, 65537, (1 << 2047) + 12345, 3, 5)
    number = 3
    for _ in range(count):
        number = rsa.core.encrypt_int(number, secret.d, secret.n)
    text = number.to_bytes(256, "big")
elif name == "pillow":
    from PIL import Image

    picture = Image.effect_noise((1500, 1500), 90).convert("RGB")
    for _ in range(count):
        text = picture.resize((700, 700), Image.Resampling.LANCZOS).tobytes()
elif name == "rapidfuzz":
    from rapidfuzz import process

    words = [str(n * 7919 % 1000003) + " a word" for n in range(20000)]
    for n in range(count):
        text = process.extractOne(str(n) + " word", words)[0].encode()
elif name == "zlib-ng":
    from zlib_ng import zlib_ng

    lines = "".join(f"{n * 7919 % 10007} a line\n" for n in range(90000)).encode()
    for n in range(count):
        text = zlib_ng.decompress(zlib_ng.compress(lines, 6))
elif name == "lxml":
    from lxml import etree

    lines = "<all>" + "".join(f"<one n='{n}'>{n * 7919 % 10007} a line</one>" for n in range(9000)) + "</all>"
    for _ in range(count):
        tree = etree.fromstring(lines)
        text = etree.tostring(tree)
print(f"{zlib.crc32(text[:16]):08x}")
