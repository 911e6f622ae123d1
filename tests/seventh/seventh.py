# SPDX-License-Identifier: MIT
"""Repeat one operation of a Python package, and print a checksum of the result: seventh.py NAME COUNT"""

import sys
import zlib

name, count = sys.argv[1], int(sys.argv[2])
text = bytes(65536)
if name == "django":
    from django.conf import settings
    from django.contrib.auth.hashers import make_password

    settings.configure()
    for _ in range(count):
        text = make_password(text.hex()[:16], salt="0123456789abcdef", hasher="pbkdf2_sha256").encode()
elif name == "xts":
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    text *= 16
    for n in range(count):
        tool = Cipher(algorithms.AES(bytes(range(64))), modes.XTS(n.to_bytes(16, "little"))).encryptor()
        text = tool.update(text)
elif name == "rsa":
    from Crypto.Hash import SHA256
    from Crypto.PublicKey import RSA
    from Crypto.Signature import pkcs1_15

    p = (1 << 1024) - 105
    q = (1 << 1023) + 1155
    key = RSA.construct((p * q, 65537, pow(65537, -1, (p - 1) * (q - 1))), consistency_check=False)
    for _ in range(count):
        text = pkcs1_15.new(key).sign(SHA256.new(text))
elif name == "blake2b":
    import hashlib

    for _ in range(count):
        text = hashlib.blake2b(text).digest() + text[64:]
elif name == "pandas":
    import numpy
    import pandas

    numbers = numpy.arange(400000) * 7919 % 1000003
    for _ in range(count):
        table = pandas.DataFrame({"key": numbers % 977, "value": numbers})
        text = str(table.groupby("key").value.mean().sort_values().head(20)).encode()
elif name == "jinja":
    from jinja2 import Environment

    page = Environment(autoescape=True).from_string(
        "{% for n in many %}<li>{{ n }} & {{ 'yes' if n % 3 else 'no' }} {{ word|title }}</li>{% endfor %}")
    for _ in range(count):
        text = page.render(many=range(2000), word="a < b").encode()
else:
    sys.exit(2)
print(f"{zlib.crc32(text):08x}")
