// SPDX-License-Identifier: MIT

// Repeats one operation of the JDK as often as it is told, and prints a checksum of the result.
import java.security.MessageDigest;
import java.util.zip.CRC32;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

public class Unseen {
    public static void main(String[] words) throws Exception {
        byte[] text = new byte[16384], out = new byte[16400];
        int count = Integer.parseInt(words[1]);
        Cipher gcm = Cipher.getInstance("AES/GCM/NoPadding");
        MessageDigest digest = MessageDigest.getInstance(words[0].startsWith("SHA") ? words[0] : "SHA-256");
        for (int n = 0; n < count; n++) {
            if (words[0].equals("gcm")) {
                byte[] nonce = {0, 0, 0, 0, 0, 0, 0, 0, (byte) n, (byte) (n >> 8), (byte) (n >> 16), (byte) (n >> 24)};
                gcm.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[32], "AES"), new GCMParameterSpec(128, nonce));
                gcm.doFinal(text, 0, text.length, out);
                text[n % 16384] = out[0];
            } else if (words[0].equals("loop")) {
                for (int i = 1; i < 1000000; i++) {
                    text[i % 16384] += (byte) (i * 7919L % (n + 13));
                }
            } else {
                text[n % 16384] ^= digest.digest(text)[0];
            }
        }
        CRC32 sum = new CRC32();
        sum.update(text);
        System.out.println(sum.getValue());
    }
}
