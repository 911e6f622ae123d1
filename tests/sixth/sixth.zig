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
        if (std.mem.eql(u8, name, "gcm")) {
            var tag: [16]u8 = undefined;
            crypto.aead.aes_gcm.Aes256Gcm.encrypt(&text, &tag, &text, "", @splat(1), @splat(2));
        } else if (std.mem.eql(u8, name, "poly1305")) {
            crypto.onetimeauth.Poly1305.create(text[0..16], &text, &@as([32]u8, @splat(7)));
        } else if (std.mem.eql(u8, name, "sha1")) {
            crypto.hash.Sha1.hash(&text, text[0..20], .{});
        } else {
            const base: [32]u8 = if (text[0] == 0) crypto.dh.X25519.Curve.basePoint.toBytes() else text[0..32].*;
            const point = try crypto.dh.X25519.scalarmult(@splat(9), base);
            @memcpy(text[0..32], &point);
        }
    }
    std.debug.print("{x}\n", .{text[0..16]});
}
