// SPDX-License-Identifier: MIT
// Repeats one operation as often as it is told, and prints a checksum of the result: Sixth NAME COUNT

import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.zip.CRC32;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.spec.ChaCha20ParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.crypto.AsymmetricCipherKeyPair;
import org.bouncycastle.crypto.digests.Blake2bDigest;
import org.bouncycastle.pqc.crypto.ntruprime.SNTRUPrimeKEMExtractor;
import org.bouncycastle.pqc.crypto.ntruprime.SNTRUPrimeKEMGenerator;
import org.bouncycastle.pqc.crypto.ntruprime.SNTRUPrimeKeyGenerationParameters;
import org.bouncycastle.pqc.crypto.ntruprime.SNTRUPrimeKeyPairGenerator;
import org.bouncycastle.pqc.crypto.ntruprime.SNTRUPrimeParameters;
import org.bouncycastle.pqc.crypto.ntruprime.SNTRUPrimePrivateKeyParameters;

public class Sixth {
    public static void main(String[] words) throws Exception {
        int count = Integer.parseInt(words[1]);
        byte[] text = new byte[65536];
        switch (words[0]) {
            case "sha1":
                for (int n = 0; n < count; n++)
                    System.arraycopy(MessageDigest.getInstance("SHA-1").digest(text), 0, text, 0, 20);
                break;
            case "chacha": {
                Cipher cipher = Cipher.getInstance("ChaCha20");
                for (int n = 0; n < count; n++) {
                    byte[] nonce = {1, 2, 3, 4, 5, 6, 7, 8, (byte) n, (byte) (n >> 8), (byte) (n >> 16), 9};
                    cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[32], "ChaCha20"),
                            new ChaCha20ParameterSpec(nonce, 1));
                    cipher.doFinal(text, 0, text.length, text, 0);
                }
                break;
            }
            case "p256": {
                KeyPairGenerator maker = KeyPairGenerator.getInstance("EC");
                maker.initialize(new ECGenParameterSpec("secp256r1"));
                KeyPair pair = maker.generateKeyPair();
                for (int n = 0; n < count; n++) {
                    KeyAgreement agreement = KeyAgreement.getInstance("ECDH");
                    agreement.init(pair.getPrivate());
                    agreement.doPhase(pair.getPublic(), true);
                    text[n % 99] = agreement.generateSecret()[0];
                }
                break;
            }
            case "bc-blake2b":
                for (int n = 0; n < count; n++) {
                    Blake2bDigest digest = new Blake2bDigest(512);
                    digest.update(text, 0, text.length);
                    digest.doFinal(text, 0);
                }
                break;
            case "bc-sntrup": {
                SNTRUPrimeKeyPairGenerator maker = new SNTRUPrimeKeyPairGenerator();
                maker.init(new SNTRUPrimeKeyGenerationParameters(new SecureRandom(), SNTRUPrimeParameters.sntrup761));
                AsymmetricCipherKeyPair pair = maker.generateKeyPair();
                SNTRUPrimeKEMGenerator sender = new SNTRUPrimeKEMGenerator(new SecureRandom());
                SNTRUPrimeKEMExtractor receiver =
                        new SNTRUPrimeKEMExtractor((SNTRUPrimePrivateKeyParameters) pair.getPrivate());
                for (int n = 0; n < count; n++)
                    text[n % 99] = receiver.extractSecret(sender.generateEncapsulated(pair.getPublic()).getEncapsulation())[0];
                break;
            }
            case "sort":
                for (int n = 0; n < count; n++) {
                    ArrayList<String> lines = new ArrayList<>();
                    for (int m = 0; m < 200000; m++) lines.add("line " + (m * 7919L + n) % 1000003);
                    Collections.sort(lines);
                    text[n % 99] = (byte) lines.get(7).length();
                }
                break;
            default:
                System.exit(2);
        }
        CRC32 sum = new CRC32();
        sum.update(text, 0, 3);
        System.out.println(text.length);
    }
}
