// SPDX-License-Identifier: MIT

using System;
using System.Security.Cryptography;

/// <summary>Repeats one operation of Mono's own library as often as it is told, and prints a part of the result.</summary>
static class Fourth
{
    static void Main(string[] words)
    {
        byte[] text = new byte[65536];
        if (words[0] == "sha256") {
            using (var hash = new SHA256Managed())
                for (int n = int.Parse(words[1]); n > 0; n--)
                    hash.ComputeHash(text).CopyTo(text, 0);
        } else {
            using (var cipher = new RijndaelManaged { Key = new byte[32], IV = new byte[16] })
            using (var mill = cipher.CreateEncryptor())
                for (int n = int.Parse(words[1]); n > 0; n--)
                    mill.TransformBlock(text, 0, text.Length, text, 0);
        }
        Console.WriteLine(BitConverter.ToString(text, 0, 8));
    }
}
