// SPDX-License-Identifier: MIT

//! Repeats one operation of Zig's library as often as it is told, and prints a part of the result.
const std = @import("std");
const crypto = std.crypto;

var text: [65536]u8 = @splat(0);

pub fn main(init: std.process.Init) !void {
    const words = try init.minimal.args.toSlice(init.arena.allocator());
    const name = words[1];
    var count = try std.fmt.parseInt(u32, words[2], 10);
    while (count > 0) : (count -= 1) {
        if (std.mem.eql(u8, name, "blake3")) {
            crypto.hash.Blake3.hash(&text, text[0..32], .{});
        } else if (std.mem.eql(u8, name, "sha256")) {
            crypto.hash.sha2.Sha256.hash(&text, text[0..32], .{});
        } else {
            const Scheme = crypto.sign.ecdsa.EcdsaP256Sha256;
            const pair = try Scheme.KeyPair.generateDeterministic(@splat(7));
            const signature = try pair.sign(text[0..32], null);
            @memcpy(text[0..64], &signature.toBytes());
        }
    }
    std.debug.print("{x}\n", .{text[0..16]});
}
