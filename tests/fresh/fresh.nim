# SPDX-License-Identifier: MIT
## Repeats one hash of Nim's library as often as it is told, and prints it.
import std/[os, strutils, sha1, md5]

var text = repeat('\0', 65536)
for n in 1 .. parseInt(paramStr(2)):
  if paramStr(1) == "sha1":
    text[0 .. 19] = cast[array[20, char]](Sha1Digest(secureHash(text))).join
  else:
    text[0 .. 15] = cast[array[16, char]](toMD5(text)).join
echo toHex(text[0 .. 15])
