// SPDX-License-Identifier: MIT

import java.security.MessageDigest;
import java.security.Provider;
import java.util.zip.CRC32;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import net.i2p.crypto.eddsa.EdDSAEngine;
import net.i2p.crypto.eddsa.EdDSAPrivateKey;
import net.i2p.crypto.eddsa.spec.EdDSANamedCurveTable;
import net.i2p.crypto.eddsa.spec.EdDSAPrivateKeySpec;
import org.conscrypt.Conscrypt;
import org.mindrot.jbcrypt.BCrypt;

/** Repeats one operation of a library as often as it is told, and prints a checksum of the result. */
public class Fourth {
    public static void main(String[] words) throws Exception {
        byte[] text = new byte[65536];
        int count = Integer.parseInt(words[1]);
        if (words[0].equals("conscrypt")) {
            Provider provider = Conscrypt.newProvider();
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", provider);
            for (int n = 0; n < count; n++) {
                byte[] nonce = {(byte) n, (byte) (n >> 8), (byte) (n >> 16), 0, 0, 0, 0, 0, 0, 0, 0, 0};
                cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[32], "AES"), new GCMParameterSpec(128, nonce));
                System.arraycopy(cipher.doFinal(text), 0, text, 0, text.length);
            }
        } else if (words[0].equals("eddsa")) {
            var curve = EdDSANamedCurveTable.getByName("Ed25519");
            EdDSAEngine engine = new EdDSAEngine(MessageDigest.getInstance(curve.getHashAlgorithm()));
            engine.initSign(new EdDSAPrivateKey(new EdDSAPrivateKeySpec(new byte[32], curve)));
            for (int n = 0; n < count; n++)
                text = engine.signOneShot(text);
        } else {
            for (int n = 0; n < count; n++)
                text = BCrypt.hashpw(new String(text, "ISO-8859-1").substring(0, 40), "$2a$10$abcdefghijklmnopqrstuu").getBytes();
        }
        CRC32 sum = new CRC32();
        sum.update(text);
        System.out.printf("%08x%n", sum.getValue());
    }
}
