// SPDX-License-Identifier: MIT

/// Repeats one hash of Phobos as often as it is told, and prints it.
module fresh;

import std.conv, std.digest, std.digest.ripemd, std.digest.sha, std.stdio;

void main(string[] words)
{
    auto text = new ubyte[65536];
    foreach (n; 0 .. words[2].to!int)
    {
        if (words[1] == "sha512")
            text[0 .. 64] = sha512Of(text)[];
        else
            text[0 .. 20] = ripemd160Of(text)[];
    }
    writeln(toHexString(text[0 .. 16]));
}
