// SPDX-License-Identifier: MIT
// Repeats one operation as often as it is told, and prints a checksum of the result: Seventh NAME COUNT

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.util.zip.CRC32;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.crypto.generators.Argon2BytesGenerator;
import org.bouncycastle.crypto.params.Argon2Parameters;
import org.springframework.security.crypto.bcrypt.BCrypt;

public class Seventh {
    public static void main(String[] words) throws Exception {
        int count = Integer.parseInt(words[1]);
        byte[] text = new byte[65536];
        switch (words[0]) {
            case "cbc": {
                Cipher cipher = Cipher.getInstance("AES/CBC/NoPadding");
                for (int n = 0; n < count; n++) {
                    cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[32], "AES"), new IvParameterSpec(new byte[16]));
                    cipher.doFinal(text, 0, text.length, text, 0);
                }
                break;
            }
            case "p256": {
                KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
                generator.initialize(new ECGenParameterSpec("secp256r1"));
                KeyPair pair = generator.generateKeyPair();
                Signature tool = Signature.getInstance("SHA256withECDSA");
                for (int n = 0; n < count; n++) {
                    tool.initSign(pair.getPrivate());
                    tool.update(text, 0, 64);
                    byte[] signature = tool.sign();
                    tool.initVerify(pair.getPublic());
                    tool.update(text, 0, 64);
                    text[n % 64] ^= tool.verify(signature) ? 1 : 2;
                }
                break;
            }
            case "spring-bcrypt":
                for (int n = 0; n < count; n++)
                    text[n] = (byte) BCrypt.hashpw("word" + n, "$2a$10$abcdefghijklmnopqrstuu").charAt(40);
                break;
            case "bc-argon2":
                for (int n = 0; n < count; n++) {
                    Argon2BytesGenerator generator = new Argon2BytesGenerator();
                    generator.init(new Argon2Parameters.Builder(Argon2Parameters.ARGON2_id).withSalt(new byte[16])
                            .withParallelism(1).withMemoryAsKB(16384).withIterations(2).build());
                    generator.generateBytes(new byte[] {1, 2, (byte) n}, text, 0, 32);
                }
                break;
            case "jackson": {
                StringBuilder lines = new StringBuilder("[");
                for (int n = 0; n < 2000; n++)
                    lines.append("{\"id\": " + n + ", \"name\": \"person " + n + "\", \"tags\": [\"a\", null, 1.5]},");
                String source = lines.append("0]").toString();
                ObjectMapper mapper = new ObjectMapper();
                for (int n = 0; n < count; n++) {
                    JsonNode tree = mapper.readTree(source);
                    text[n % 64] ^= (byte) mapper.writeValueAsString(tree).length();
                }
                break;
            }
            default:
                System.exit(2);
        }
        CRC32 sum = new CRC32();
        sum.update(text);
        System.out.println(Long.toHexString(sum.getValue()));
    }
}
