# SPDX-License-Identifier: MIT
"""Write a sound and a picture for the programs that encode such: inputs.py FOLDER"""

import array
import math
import pathlib
import sys
import wave

folder = pathlib.Path(sys.argv[1])
with wave.open(str(folder / "sound.wav"), "wb") as sound:
    sound.setnchannels(2)
    sound.setsampwidth(2)
    sound.setframerate(48000)
    sound.writeframes(array.array("h", (
        int(9000 * math.sin(n * n / 9e6) + 5000 * math.sin(n / 37) + n * 7919 % 1999) for n in range(960000))).tobytes() * 8)
pixels = bytes((x * y >> shift) + (x * 7919 % 31) & 255 for y in range(700) for x in range(900) for shift in (3, 5, 7))
(folder / "picture.ppm").write_bytes(b"P6\n900 700\n255\n" + pixels)
