// SPDX-License-Identifier: MIT

import java.util.zip.CRC32;
import org.bouncycastle.crypto.BlockCipher;
import org.bouncycastle.crypto.digests.Blake2bDigest;
import org.bouncycastle.crypto.engines.AESEngine;
import org.bouncycastle.crypto.engines.SerpentEngine;
import org.bouncycastle.crypto.params.KeyParameter;

/** Repeats one operation of Bouncy Castle as often as it is told, and prints a checksum of the result. */
public class Fresh {
    public static void main(String[] words) {
        byte[] text = new byte[65536];
        if (words[0].equals("blake2b")) {
            for (int n = Integer.parseInt(words[1]); n > 0; n--) {
                Blake2bDigest digest = new Blake2bDigest(512);
                digest.update(text, 0, text.length);
                digest.doFinal(text, 0);
            }
        } else {
            BlockCipher cipher = words[0].equals("aes") ? AESEngine.newInstance() : new SerpentEngine();
            cipher.init(true, new KeyParameter(new byte[32]));
            for (int n = Integer.parseInt(words[1]); n > 0; n--)
                for (int at = 0; at < text.length; at += 16)
                    cipher.processBlock(text, at, text, at);
        }
        CRC32 sum = new CRC32();
        sum.update(text);
        System.out.printf("%08x%n", sum.getValue());
    }
}
