// SPDX-License-Identifier: MIT

//! Repeats one operation of Zig's library as often as it is told, and prints a part of the result.
const std = @import("std");
const crypto = std.crypto;

var text: [16384]u8 = @splat(0);

pub fn main(init: std.process.Init) !void {
    const words = try init.minimal.args.toSlice(init.arena.allocator());
    const name = words[1];
    const key: [32]u8 = @splat(7);
    var tag: [16]u8 = undefined;
    var count = try std.fmt.parseInt(u32, words[2], 10);
    while (count > 0) : (count -= 1) {
        if (std.mem.eql(u8, name, "gcm")) {
            crypto.aead.aes_gcm.Aes256Gcm.encrypt(&text, &tag, &text, "", @splat(0), key);
        } else if (std.mem.eql(u8, name, "chacha20poly1305")) {
            crypto.aead.chacha_poly.ChaCha20Poly1305.encrypt(&text, &tag, &text, "", @splat(0), key);
        } else if (std.mem.eql(u8, name, "ascon")) {
            crypto.aead.ascon.AsconAead128.encrypt(&text, &tag, &text, "", @splat(0), @splat(1));
        } else if (std.mem.eql(u8, name, "mlkem")) {
            const pair = try crypto.kem.ml_kem.MLKem768.KeyPair.generateDeterministic(@splat(text[0]));
            const sealed = pair.public_key.encapsDeterministic(&key);
            const shared = try pair.secret_key.decaps(&sealed.ciphertext);
            text[0] ^= shared[0];
        } else {
            const pair = try crypto.sign.Ed25519.KeyPair.generateDeterministic(key);
            const signature = try pair.sign(text[0..32], null);
            @memcpy(text[0..64], &signature.toBytes());
        }
    }
    std.debug.print("{x}\n", .{text[0..16]});
}
