# SPDX-License-Identifier: MIT
"""Repeat one operation of a Python package, and print a checksum of the result: eighth.py NAME COUNT"""

import sys
import zlib

name, count = sys.argv[1], int(sys.argv[2])
text = bytes(65536)
if name == "office":
    from msoffcrypto.method.ecma376_agile import ECMA376Agile

    text = ECMA376Agile.makekey_from_password(
        "word", bytes(16), "SHA512", bytes(32), count, 256)
elif name == "fastecdsa":
    from fastecdsa import curve, ecdsa

    for _ in range(count):
        r, s = ecdsa.sign(text, 12345678901234567890, curve=curve.P256)
        text = r.to_bytes(32, "big")
elif name == "tokenizers":
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tool = Tokenizer(models.BPE())
    tool.pre_tokenizer = pre_tokenizers.Whitespace()
    words = [f"{n * 7919 % 50021:x} and {n * 104729 % 70001:x}" for n in range(count)]
    tool.train_from_iterator(words, trainers.BpeTrainer(vocab_size=3000, show_progress=False))
    text = str(tool.get_vocab_size()).encode()
print(zlib.crc32(bytes(text)))
