// SPDX-License-Identifier: MIT
// Repeats one operation of a package as often as it is told, and prints a part of the result: seventh.js NAME COUNT

const [name, count] = [process.argv[2], Number(process.argv[3])];
let text = Buffer.alloc(65536, 3);

async function main() {
    if (name === "scrypt") {
        const { scryptSync } = require("crypto");
        for (let n = 0; n < count; n++) text = scryptSync(text.subarray(0, 16), text.subarray(0, 16), 64);
    } else if (name === "elliptic") {
        const { ec } = require("elliptic");
        const key = new ec("secp256k1").keyFromPrivate(Buffer.alloc(32, 7));
        for (let n = 0; n < count; n++) {
            const signature = key.sign(text.subarray(0, 32));
            if (!key.verify(text.subarray(0, 32), signature)) process.exit(1);
            text = signature.r.toArrayLike(Buffer, "be", 32);
        }
    } else if (name === "hash.js") {
        const hash = require("hash.js");
        for (let n = 0; n < count; n++) Buffer.from(hash.sha256().update(text.subarray(0, 4096)).digest()).copy(text);
    } else if (name === "aes-js") {
        const { ModeOfOperation, Counter } = require("aes-js");
        const cipher = new ModeOfOperation.ctr(Buffer.alloc(32, 9), new Counter(5));
        for (let n = 0; n < count; n++) text = cipher.encrypt(text);
        text = Buffer.from(text);
    } else if (name === "terser") {
        const { minify } = require("terser");
        const source = require("fs").readFileSync(require.resolve("elliptic/lib/elliptic/curve/short.js"), "utf8");
        for (let n = 0; n < count; n++) text = Buffer.from((await minify(source)).code);
    } else process.exit(2);
    console.log(text.toString("hex", 0, 16));
}

main();
