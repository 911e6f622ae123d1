// SPDX-License-Identifier: MIT
// Repeats one operation of a package as often as it is told, and prints a part of the result: sixth.js NAME COUNT

const [name, count] = [process.argv[2], Number(process.argv[3])];
let text = Buffer.alloc(65536, 3);

async function main() {
    if (name === "noble-kem") {
        const { ml_kem768 } = require("@noble/post-quantum/ml-kem");
        const pair = ml_kem768.keygen(new Uint8Array(64).fill(5));
        for (let n = 0; n < count; n++) {
            const sent = ml_kem768.encapsulate(pair.publicKey, new Uint8Array(32).fill(n));
            text = Buffer.from(ml_kem768.decapsulate(sent.cipherText, pair.secretKey));
        }
    } else if (name === "js-md5") {
        const { md5 } = require("js-md5");
        for (let n = 0; n < count; n++) Buffer.from(md5.array(text)).copy(text);
    } else if (name === "js-sha3") {
        const { sha3_256 } = require("js-sha3");
        for (let n = 0; n < count; n++) Buffer.from(sha3_256.array(text)).copy(text);
    } else if (name === "sodium-wasm") {
        const sodium = require("libsodium-wrappers");
        await sodium.ready;
        let point = new Uint8Array(32).fill(9);
        for (let n = 0; n < count; n++) point = sodium.crypto_scalarmult(new Uint8Array(32).fill(7), point);
        text = Buffer.from(point);
    } else if (name === "sjcl") {
        const sjcl = require("sjcl");
        const cipher = new sjcl.cipher.aes([1, 2, 3, 4, 5, 6, 7, 8]);
        let block = [1, 2, 3, 4];
        for (let n = 0; n < count; n++) block = cipher.encrypt(block);
        text = Buffer.from(Int32Array.from(block).buffer);
    } else if (name === "scrypt") {
        const { scryptSync } = require("crypto");
        for (let n = 0; n < count; n++)
            text = scryptSync("word", text.subarray(0, 16), 32, { N: 65536, r: 8, p: 1, maxmem: 1 << 28 });
    } else if (name === "fft") {
        const FFT = require("fft.js");
        const transform = new FFT(16384);
        const [numbers, result] = [transform.createComplexArray().fill(0.5), transform.createComplexArray()];
        for (let n = 0; n < count; n++) {
            numbers[n % 16384] += n;
            transform.transform(result, numbers);
        }
        text = Buffer.from(Float64Array.from(result.slice(0, 4)).buffer);
    } else if (name === "pako") {
        const pako = require("pako");
        const lines = Buffer.from(Array.from({ length: 9000 }, (_, n) => `${n * 7919 % 10007} a line\n`).join(""));
        for (let n = 0; n < count; n++) {
            lines[n] ^= 1;
            text = Buffer.from(pako.deflate(lines));
        }
    } else if (name === "sort") {
        for (let n = 0; n < count; n++) {
            const rows = Array.from({ length: 200000 }, (_, m) => ({ key: (m * 7919 + n) % 1000003, word: `w${m}` }));
            rows.sort((a, b) => a.key - b.key);
            text = Buffer.from(rows[3].word.repeat(9));
        }
    } else process.exit(2);
    console.log(text.subarray(0, 16).toString("hex"));
}

main();
