// SPDX-License-Identifier: MIT
// Repeats one operation as often as it is told, and prints a checksum of the result: Fifth NAME COUNT

import com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider;
import java.math.BigInteger;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.util.HashMap;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.crypto.engines.ChaCha7539Engine;
import org.bouncycastle.crypto.engines.TwofishEngine;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.crypto.params.ParametersWithIV;
import org.bouncycastle.math.ec.rfc7748.X25519;

public class Fifth {
    public static void main(String[] words) throws Exception {
        int count = Integer.parseInt(words[1]);
        byte[] text = new byte[65536];
        switch (words[0]) {
            case "rsa": {
                KeyPairGenerator maker = KeyPairGenerator.getInstance("RSA");
                maker.initialize(2048);
                KeyPair pair = maker.generateKeyPair();
                Signature signer = Signature.getInstance("SHA256withRSA");
                signer.initSign(pair.getPrivate());
                for (int n = 0; n < count; n++) {
                    signer.update(text, 0, 32);
                    signer.sign();
                }
                break;
            }
            case "sha512":
                for (int n = 0; n < count; n++)
                    System.arraycopy(MessageDigest.getInstance("SHA-512").digest(text), 0, text, 0, 64);
                break;
            case "md5":
                for (int n = 0; n < count; n++)
                    System.arraycopy(MessageDigest.getInstance("MD5").digest(text), 0, text, 0, 16);
                break;
            case "bc-chacha": {
                ChaCha7539Engine engine = new ChaCha7539Engine();
                engine.init(true, new ParametersWithIV(new KeyParameter(new byte[32]), new byte[12]));
                for (int n = 0; n < count; n++) engine.processBytes(text, 0, text.length, text, 0);
                break;
            }
            case "bc-twofish": {
                TwofishEngine engine = new TwofishEngine();
                engine.init(true, new KeyParameter(new byte[32]));
                for (int n = 0; n < count; n++)
                    for (int at = 0; at < text.length; at += 16) engine.processBlock(text, at, text, at);
                break;
            }
            case "bc-x25519": {
                text[0] = 9;
                byte[] secret = new byte[32];
                secret[3] = 7;
                for (int n = 0; n < count; n++) X25519.calculateAgreement(secret, 0, text, 0, text, 0);
                break;
            }
            case "corretto-gcm": {
                Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", AmazonCorrettoCryptoProvider.INSTANCE);
                byte[] sealed = new byte[text.length + 16];
                for (int n = 0; n < count; n++) {
                    byte[] nonce = BigInteger.valueOf(n + (1L << 40)).toByteArray();
                    byte[] padded = new byte[12];
                    System.arraycopy(nonce, 0, padded, 0, nonce.length);
                    cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[32], "AES"),
                                new GCMParameterSpec(128, padded));
                    cipher.doFinal(text, 0, text.length, sealed, 0);
                    System.arraycopy(sealed, 0, text, 0, text.length);
                }
                break;
            }
            case "corretto-p384": {
                KeyPairGenerator maker = KeyPairGenerator.getInstance("EC", AmazonCorrettoCryptoProvider.INSTANCE);
                maker.initialize(new ECGenParameterSpec("secp384r1"));
                Signature signer = Signature.getInstance("SHA384withECDSA", AmazonCorrettoCryptoProvider.INSTANCE);
                signer.initSign(maker.generateKeyPair().getPrivate());
                for (int n = 0; n < count; n++) {
                    signer.update(text, 0, 32);
                    signer.sign();
                }
                break;
            }
            case "words": {
                Pattern pattern = Pattern.compile("([a-z]+)(\\d+)x?(7|9)+");
                HashMap<String, Integer> seen = new HashMap<>();
                for (int n = 0; n < count; n++) {
                    String word = "word" + (n * 7919 % 10007) + "x79";
                    if (pattern.matcher(word).matches()) seen.merge(word, n, Integer::sum);
                }
                text[0] = (byte) seen.size();
                break;
            }
        }
        CRC32 sum = new CRC32();
        sum.update(text);
        System.out.printf("%08x%n", sum.getValue());
    }
}
