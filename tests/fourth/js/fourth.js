// SPDX-License-Identifier: MIT
// Repeats one operation of a package as often as it is told, and prints a part of the result: fourth.js NAME COUNT

const [name, count] = [process.argv[2], Number(process.argv[3])];
let text = Buffer.alloc(65536, 3);
if (name === "keccak") {
    const keccak = require("keccak");
    for (let n = 0; n < count; n++) keccak("keccak256").update(text).digest().copy(text);
} else if (name === "argon2") {
    const { hashRawSync } = require("@node-rs/argon2");
    for (let n = 0; n < count; n++)
        hashRawSync(text.subarray(0, 16), { salt: text.subarray(0, 16), memoryCost: 65536, timeCost: 3, parallelism: 1 })
            .copy(text);
} else if (name === "tweetnacl") {
    const { scalarMult } = require("tweetnacl");
    let point = new Uint8Array(32).fill(9);
    for (let n = 0; n < count; n++) point = scalarMult(new Uint8Array(32).fill(7), point);
    text = Buffer.from(point);
} else if (name === "crypto-js") {
    const { AES, enc, lib, mode } = require("crypto-js");
    const word = enc.Utf8.parse("0123456789abcdef");
    let words = lib.WordArray.create(text);
    for (let n = 0; n < count; n++) words = AES.encrypt(words, word, { iv: word, mode: mode.CTR }).ciphertext;
    text = Buffer.from(words.toString(), "hex");
} else if (name === "sharp") {
    const sharp = require("sharp");
    const raw = { width: 2000, height: 1500, channels: 3 };
    const image = Buffer.alloc(9000000, "abcdefg");
    (async () => {
        for (let n = 0; n < count; n++)
            text = await sharp(image, { raw }).blur(9).resize(1000, 700).raw().toBuffer();
        console.log(text.subarray(0, 16).toString("hex"));
    })();
}
if (name !== "sharp") console.log(text.subarray(0, 16).toString("hex"));
