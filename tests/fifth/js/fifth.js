// SPDX-License-Identifier: MIT
// Repeats one operation of a package as often as it is told, and prints a part of the result: fifth.js NAME COUNT

const [name, count] = [process.argv[2], Number(process.argv[3])];
let text = Buffer.alloc(65536, 3);

async function main() {
    if (name === "noble-chacha") {
        const { chacha20 } = require("@noble/ciphers/chacha");
        let bytes = new Uint8Array(65536);
        for (let n = 0; n < count; n++) bytes = chacha20(new Uint8Array(32), new Uint8Array(12), bytes);
        text = Buffer.from(bytes);
    } else if (name === "bcryptjs") {
        const { hashSync } = require("bcryptjs");
        for (let n = 0; n < count; n++) 
            text = Buffer.from(hashSync(text.toString("hex", 0, 16), "$2a$10$abcdefghijklmnopqrstuu"));
    } else if (name === "forge") {
        const forge = require("node-forge");
        const cipher = forge.cipher.createCipher("AES-CBC", forge.util.createBuffer("k".repeat(32)));
        cipher.start({ iv: "i".repeat(16) });
        for (let n = 0; n < count; n++) {
            cipher.update(forge.util.createBuffer(text.toString("binary")));
            text = Buffer.from(cipher.output.getBytes(), "binary");
        }
    } else if (name === "wasm-blake2b") {
        const { createBLAKE2b } = require("hash-wasm");
        const hasher = await createBLAKE2b(256);
        for (let n = 0; n < count; n++) Buffer.from(hasher.init().update(text).digest("binary")).copy(text);
    } else if (name === "sodium") {
        const sodium = require("sodium-native");
        const [point, other] = [Buffer.alloc(32, 9), Buffer.alloc(32, 7)];
        for (let n = 0; n < count; n++) {
            sodium.crypto_scalarmult(point, other, point);
        }
        text = point;
    } else if (name === "rsa") {
        const crypto = require("crypto");
        const key = crypto.createPrivateKey(require("fs").readFileSync(process.argv[4]));
        for (let n = 0; n < count; n++) text = crypto.sign("sha256", text.subarray(0, 32), key);
    } else if (name === "ecdh") {
        const crypto = require("crypto");
        const key = crypto.createECDH("prime256v1");
        key.setPrivateKey(Buffer.alloc(32, 7));
        const point = key.getPublicKey();
        for (let n = 0; n < count; n++) text = key.computeSecret(point);
    }
    console.log(text.subarray(0, 16).toString("hex"));
}

main();
