# SPDX-License-Identifier: MIT
"""Repeat one operation of a Python package, and print a checksum of the result: fresh.py NAME COUNT"""

import sys
import zlib

name, count = sys.argv[1], int(sys.argv[2])
text = bytes(65536)
if name.startswith("tink"):
    from tink import aead, new_keyset_handle, signature

    aead.register()
    signature.register()
    if name == "tink-gcm":
        tool = new_keyset_handle(aead.aead_key_templates.AES256_GCM).primitive(aead.Aead)
        for _ in range(count):
            assert len(tool.encrypt(text, b"")) > len(text)
    else:
        template = {"tink-p256": "ECDSA_P256", "tink-ed25519": "ED25519",
                    "tink-rsa": "RSA_SSA_PKCS1_3072_SHA256_F4"}[name]
        handle = new_keyset_handle(getattr(signature.signature_key_templates, template))
        tool = handle.primitive(signature.PublicKeySign)
        for _ in range(count):
            assert tool.sign(text[:32])
elif name == "awscrt-rsa":
    from awscrt.crypto import RSA, RSASignatureAlgorithm

    with open(sys.argv[3], "rb") as stream:
        key = RSA.new_private_key_from_pem_data(stream.read())
    for _ in range(count):
        text = key.sign(RSASignatureAlgorithm.PKCS1_5_SHA256, text[:32])
elif name == "awscrt-sha256":
    from awscrt.crypto import Hash

    for _ in range(count):
        tool = Hash.sha256_new()
        tool.update(text)
        text = tool.digest() + text[32:]
elif name == "awscrt-crc64":
    from awscrt.checksums import crc64nvme

    for _ in range(count):
        text = crc64nvme(text).to_bytes(8, "big") + text[8:]
elif name == "monocypher-argon2":
    import monocypher

    for _ in range(count):
        text = monocypher.argon2i_32(65536, 3, text[:16], bytes(16))
elif name == "monocypher-x25519":
    import monocypher

    text = bytes([9]) + bytes(31)
    for _ in range(count):
        text = monocypher.x25519(bytes([7]) * 32, text)
elif name == "monocypher-lock":
    import monocypher

    for _ in range(count):
        text = monocypher.lock(bytes(32), bytes(24), text)[1]
elif name == "skein":
    import skein

    for _ in range(count):
        text = skein.skein512(text).digest() + text[64:]
elif name == "mldsa":
    from pqcrypto.sign import ml_dsa_65

    secret = ml_dsa_65.keygen()[1]
    for _ in range(count):
        assert ml_dsa_65.sign(secret, text[:32])
elif name == "gmpy2":
    import gmpy2

    number, modulus = gmpy2.mpz(3) ** 1200, gmpy2.mpz(2) ** 2203 - 1
    for _ in range(count):
        number = gmpy2.powmod(number, modulus - 2, modulus)
    text = str(number).encode()
elif name == "philox":
    import numpy

    source = numpy.random.Generator(numpy.random.Philox(1))
    for _ in range(count):
        text = source.integers(0, 1 << 63, 100000).tobytes()
print(f"{zlib.crc32(text):08x}")
