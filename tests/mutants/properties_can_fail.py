#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A property that could not fail would prove nothing: break a kernel and see which fails.

A kernel of AES and one of GCM, with all operations, are added to a copy of the tree. Each break
changes a few words of them, or of the code that all kernels share; `harness check` must then fail
the property named.

properties_can_fail.py          breaks of portable code, and of what this CPU has
properties_can_fail.py --a64    breaks of the assembly for A64, with a cross compiler and under an emulator
properties_can_fail.py --abi-elsewhere    registers and modes of POWER, IBM Z and PA-RISC, in the same way
"""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from few_kernels import keep_kernels, portable

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL, COMPOSE, WIPE = "src/aes/c_whole.c", "src/aes/aes.c", "src/common/wipe.c"
FUSED, GCM = "src/gcm/c_whole.c", "src/gcm/gcm.c"
LINES = "KERNEL(aes, c_whole, ANY, VARTIME, PARALLEL)\nKERNEL(gcm, c_whole, ANY, VARTIME, ANY)\n"
KERNELS = "c_whole,c_ref,c_halves,c_bitslice64,c_fixslice32+c_ctmul32,c_limb64"
FLAGS = ["-O1", "-Iinclude", "-Isrc", "-Iharness"]

ENCRYPT = "    evc_aes_c_ref.encrypt(key, in, out, n_blocks);\n"
DECRYPT = "    evc_aes_c_ref.decrypt(key, in, out, n_blocks);\n"
SET_KEY = "    evc_aes_c_ref.set_key(vkey, user_key);\n"
STAY = """key->own = (uintptr_t)vkey;
}

#define IN_PLACE (((const struct key *)key)->own == (uintptr_t)key)
#define evc_aes_c_ref (*(IN_PLACE ? &evc_aes_c_ref : &nothing))
static void do_nothing(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    (void)key, (void)in, (void)out, (void)n_blocks;
}
static const struct evc_aes nothing = {.encrypt = do_nothing, .decrypt = do_nothing};"""
LENGTH = "every_length_equals_reference"
PLACE = "in_place_equals_disjoint"
ALIGNMENT = "every_alignment_equals_reference"
INSIDE = "accesses_stay_inside_the_buffers"
PAGE_ENDS = "page_ends_change_no_result"
SPLIT = "split_calls_equal_one_call"
OWN = "own_operations_equal_composed_ones"
INVERSE = "decryption_inverts_encryption"
COUNTER = "counter_wraps_modulo_2_32"
MANY = "many_messages_equal_one_by_one"
ONLY = "encrypt_only_keys_encrypt_alike"
UNCHANGED = "keys_change_only_when_set"
REBIND = "rebinding_keeps_the_key"
ABI = "calls_keep_the_abi"
LONG_CALLS = "long_calls_equal_short_ones"

# Each break: a title; the file, the words and what they become; the property that must notice.
BREAKS = [
    (
        "a batch counter of 8 bits",
        KERNEL,
        ENCRYPT,
        ENCRYPT.replace("n_blocks)", "(uint8_t)(n_blocks / BATCH) * (size_t)BATCH + n_blocks % BATCH)"),
        LONG_CALLS,
    ),
    (
        "a key that must not be 16 modulo 64",
        KERNEL,
        ENCRYPT,
        ENCRYPT + "    if (n_blocks && ((uintptr_t)key & 63) == 16)\n        out[0] ^= 1;\n",
        "known_answers",
    ),
    (
        "the line's timing class",
        KERNEL,
        "ANY, VARTIME",
        "ANY, CT",
        "descriptor_agrees_with_its_line",
    ),
    (
        "a batch of 0 blocks",
        KERNEL,
        "PARALLEL, BATCH",
        "PARALLEL, 0",
        "descriptor_agrees_with_its_line",
    ),
    (
        "one key size",
        KERNEL,
        SET_KEY,
        SET_KEY
        + "    if (key->fips197.head.rounds == 12)\n        key->fips197.enc[12][0] ^= 1;\n",
        "known_answers",
    ),
    (
        "the ninth block of nine",
        KERNEL,
        ENCRYPT,
        ENCRYPT + "    if (n_blocks == 9)\n        out[128] ^= 1;\n",
        LENGTH,
    ),
    (
        "no blocks at all",
        KERNEL,
        ENCRYPT,
        ENCRYPT + "    if (n_blocks == 0)\n        out[0] ^= 1;\n",
        LENGTH,
    ),
    (
        "decryption of 17 blocks with 256 bits",
        KERNEL,
        DECRYPT,
        DECRYPT
        + "    if (((const struct key *)key)->fips197.head.rounds == 14 && n_blocks > 16)\n"
        "        out[256] ^= 1;\n",
        LENGTH,
    ),
    (
        "a byte behind a partial block",
        KERNEL,
        "evc_xor(out, in, stream, n);",
        "evc_xor(out, in, stream, n);\n        if (n % 16)\n            out[n] = 0;",
        LENGTH,
    ),
    (
        "a byte behind a message in the last 64 bytes of a page",
        KERNEL,
        "evc_xor(out, in, stream, n);",
        "evc_xor(out, in, stream, n);\n        if (n % 16 && (uintptr_t)(out + n) % 4096 > 4032)\n"
        "            out[n] ^= 1;",
        PAGE_ENDS,
    ),
    (
        "the counter after a partial block",
        KERNEL,
        "count += (uint32_t)n_blocks;",
        "count += (uint32_t)(n / 16);",
        LENGTH,
    ),
    (
        "the IV after CBC",
        KERNEL,
        "encrypt(key, iv, iv, 1);\n        memcpy(out + 16 * i, iv, 16);",
        "encrypt(key, iv, iv, 1);\n        memcpy(out + 16 * i, iv, 16);\n"
        "        iv[0] ^= i == 11;",
        LENGTH,
    ),
    (
        "a late block of CBC-MAC",
        KERNEL,
        "encrypt(key, chain, chain, 1);",
        "encrypt(key, chain, chain, 1);\n        chain[2] ^= i == 20;",
        LENGTH,
    ),
    ("the carry of the tweak", KERNEL, "0x87", "0x86", LENGTH),
    (
        "the last tweak",
        KERNEL,
        "i++, next_tweak(tweak)) {\n        evc_xor16(block, in + 16 * i, tweak);\n        encrypt",
        "i++, i < n_blocks ? next_tweak(tweak) : (void)0) {\n"
        "        evc_xor16(block, in + 16 * i, tweak);\n        encrypt",
        LENGTH,
    ),
    (
        "the input",
        KERNEL,
        ENCRYPT,
        ENCRYPT + "    if (n_blocks && in != out)\n        ((uint8_t *)(uintptr_t)in)[0] ^= 1;\n",
        LENGTH,
    ),
    (
        "CBC decryption in place",
        KERNEL,
        "        memcpy(next, in + 16 * i, 16);\n        evc_xor16(out + 16 * i, plain, iv);",
        "        evc_xor16(out + 16 * i, plain, iv);\n        memcpy(next, in + 16 * i, 16);",
        PLACE,
    ),
    (
        "the end before the beginning",
        KERNEL,
        ENCRYPT,
        "    for (size_t i = 0; n_blocks > 1 && i < 16; i++)\n        out[16 + i] = 0;\n" + ENCRYPT,
        PLACE,
    ),
    (
        "one alignment of the output",
        KERNEL,
        ENCRYPT,
        ENCRYPT + "    if (n_blocks && ((uintptr_t)out & 15) == 9)\n        out[0] ^= 1;\n",
        ALIGNMENT,
    ),
    (
        "one alignment of the input",
        KERNEL,
        ENCRYPT,
        ENCRYPT + "    if (n_blocks && ((uintptr_t)in & 15) == 5)\n        out[0] ^= 1;\n",
        ALIGNMENT,
    ),
    (
        "a user key off alignment",
        KERNEL,
        SET_KEY,
        "    user_key = (const uint8_t *)((uintptr_t)user_key & ~(uintptr_t)15);\n" + SET_KEY,
        "set_key_takes_any_alignment",
    ),
    (
        "a byte read behind",
        KERNEL,
        ENCRYPT,
        "    (void)*(volatile const uint8_t *)(in + 16 * n_blocks);\n" + ENCRYPT,
        INSIDE,
    ),
    (
        "a byte read before",
        KERNEL,
        ENCRYPT,
        "    (void)*(volatile const uint8_t *)(in - 1);\n" + ENCRYPT,
        INSIDE,
    ),
    (
        "a byte rewritten before",
        KERNEL,
        ENCRYPT,
        "    volatile uint8_t *before = out - 1;\n    *before = *before;\n" + ENCRYPT,
        INSIDE,
    ),
    (
        "all of a partial block read",
        KERNEL,
        "evc_xor(out, in, stream, n);",
        "(void)*(volatile const uint8_t *)(in + 16 * n_blocks - 1);\n"
        "        evc_xor(out, in, stream, n);",
        INSIDE,
    ),
    (
        "32 bytes of every user key read",
        KERNEL,
        SET_KEY,
        SET_KEY + "    (void)*(volatile const uint8_t *)(user_key + 31);\n",
        INSIDE,
    ),
    (
        "an odd counter at the start of a call",
        KERNEL,
        "uint32_t count = evc_load32_be(counter + 12);",
        "static uint32_t last;\n    uint32_t count = evc_load32_be(counter + 12);\n\n"
        "    count += count == last;\n    last = count"
        " + (uint32_t)(len_bytes / 16);",
        SPLIT,
    ),
    (
        "a fused operation alone",
        KERNEL,
        "count + (uint32_t)i);",
        "count + (uint32_t)(i % 7));",
        OWN,
    ),
    (
        "decryption of the second batch",
        KERNEL,
        DECRYPT,
        DECRYPT + "    if (n_blocks > 8)\n        out[128] ^= 1;\n",
        INVERSE,
    ),
    (
        "a counter of one byte",
        KERNEL,
        "count + (uint32_t)i);",
        "(count & ~255u) | ((count + (uint32_t)i) & 255));",
        COUNTER,
    ),
    (
        "a counter of two bytes",
        KERNEL,
        "count + (uint32_t)i);",
        "(count & ~65535u) | ((count + (uint32_t)i) & 65535));",
        COUNTER,
    ),
    (
        "a counter of five bytes",
        KERNEL,
        "memcpy(stream + 16 * i, counter, 12);",
        "memcpy(stream + 16 * i, counter, 12);\n"
        "            stream[16 * i + 11] += count + (uint32_t)i < count;",
        COUNTER,
    ),
    ("messages without output", KERNEL, "if (msgs[m].out)", "if (msgs[m].out || m == 5)", MANY),
    (
        "messages longer than the first",
        KERNEL,
        "msgs[m].len_bytes / 16;",
        "(msgs[m].len_bytes > 16 + msgs[0].len_bytes ? msgs[0] : msgs[m]).len_bytes / 16;",
        MANY,
    ),
    (
        "the rest of a message",
        KERNEL,
        "msgs[m].len_bytes / 16;",
        "(msgs[m].len_bytes + 1) / 16;",
        MANY,
    ),
    (
        "the 34th message",
        KERNEL,
        "        if (msgs[m].out)",
        "        msgs[m].iv[0] ^= m == 33;\n        if (msgs[m].out)",
        MANY,
    ),
    (
        "keys for encryption only",
        KERNEL,
        SET_KEY,
        SET_KEY + "    key->fips197.enc[3][3] ^= !key->fips197.head.can_decrypt;\n",
        ONLY,
    ),
    ("keys that must stay where they are", KERNEL, "key->own = 0;\n}", STAY, "keys_may_be_copied"),
    (
        "a key that counts its calls",
        KERNEL,
        ENCRYPT,
        "    ((struct key *)(uintptr_t)key)->own++;\n" + ENCRYPT,
        UNCHANGED,
    ),
    (
        "a byte behind the key",
        KERNEL,
        SET_KEY,
        SET_KEY + "    ((uint8_t *)vkey)[sizeof *key] = 7;\n",
        UNCHANGED,
    ),
    (
        "a key form that is not what its trait says",
        KERNEL,
        SET_KEY,
        SET_KEY + "    key->fips197.dec[1][0] ^= 1;\n",
        REBIND,
    ),
    (
        "the composed counter",
        COMPOSE,
        "count = evc_barrier32(count + 1)",
        "count = evc_barrier32(count + 1) & 65535",
        COUNTER,
    ),
    (
        "composed CBC decryption in place",
        COMPOSE,
        "        memcpy(next_iv, in + 16 * (n - 1), 16);\n        evc_copy_secret(out, plain, 16 * n);",
        "        evc_copy_secret(out, plain, 16 * n);\n        memcpy(next_iv, in + 16 * (n - 1), 16);",
        PLACE,
    ),
    (
        "composed messages of different lengths",
        COMPOSE,
        "if (msg->len_bytes - at >= 32)",
        "if (msg->len_bytes - at >= 31)",
        MANY,
    ),
    ("the refusal to decrypt", COMPOSE, "return EVC_ERR_DIRECTION;", ";", ONLY),
    (
        "the refusal to rebind",
        COMPOSE,
        "key->head.kernel->kernel.traits & EVC_KEY_FIPS197",
        "EVC_KEY_FIPS197",
        REBIND,
    ),
    (
        "the wipe",
        WIPE,
        "memset(p, 0, len_bytes);",
        "memset(p, 0, len_bytes - 1);",
        "wiped_keys_are_zero",
    ),
]

AAD = "    hash_padded(key, y, aad, aad_bytes);\n"
TEXT = "    ctr(key, counter, in, out, len_bytes);\n"
END = "    evc_xor16(y, y, mask);\n"
COPIED = "    memcpy(tag, y, tag_bytes);\n"
MADE = "    key->own = 0;\n"
ENCRYPTED = "    evc_aes_c_ref.encrypt(&key->aes, in, out, n_blocks);\n"
HASHED = "    evc_ghash_c_ref.blocks(&key->ghash, y, in, n_blocks);\n"
COUNT = "evc_store32_be(counter + 12, evc_load32_be(counter + 12) + 1);"
START = "    evc_store32_be(state->counter + 12, evc_load32_be(state->j0 + 12) + 1);\n"
DESCRIPTOR = "descriptor_agrees_with_its_line"
LONG = "long_messages_equal_reference"
DATA = "associated_data_of_every_length_counts"
IVS = "ivs_of_every_length_count"
BLOCKS = "every_number_of_blocks_equals_reference"
WRAP = "messages_whose_counter_wraps_equal_reference"
PIECES = "messages_in_pieces_equal_one_call"
FORGED = "forgeries_are_refused_and_leave_only_zeros"
TAGS = "tags_are_of_the_sizes_allowed"
ORDER = "calls_out_of_order_are_refused"
LIMITS = "lengths_over_the_limits_are_refused"
BAD_KEYS = "bad_keys_are_refused_and_wiped"
PROGRAMS = ORDERS, KEYS, MODES, EXCHANGES, PRIMES, RSA = (  # of their own
    "test_orders", "test_keys", "test_modes", "test_dh", "test_prime", "test_rsa")
SHAPES = "messages_of_every_shape_equal_reference"
MEBIBYTE = "messages_of_a_mebibyte_equal_reference"

# The same of GCM; some words stand in the kernel, some in what all of them and the pairs share.
GCM_BREAKS = [
    ("GCM: a batch counter of 8 bits", FUSED, HASHED,
     HASHED.replace("n_blocks)", "(uint8_t)(n_blocks / BATCH) * (size_t)BATCH + n_blocks % BATCH)"), MEBIBYTE),
    ("GCM: the length of associated data in 16 bits", FUSED, "8 * (uint64_t)aad_bytes", "8 * (uint64_t)(uint16_t)aad_bytes",
     MEBIBYTE),
    ("text behind a first piece: the hash", GCM, "state->used ? HASH_TIMES_H_IN_BLOCK : HASH_TIMES_H;",
     "HASH_TIMES_H;", PIECES),
    ("text behind a first piece: the counter", GCM, "2 + (uint32_t)(state->text_bytes / 16)",
     "2 + (uint32_t)((state->text_bytes + 15) / 16)", PIECES),
    ("the length of associated data in 16 bits, in pieces", GCM, "state->aad_bytes += ",
     "state->aad_bytes = (uint16_t)state->aad_bytes + (uint16_t)", MEBIBYTE),
    ("GCM: a key that must not be 16 modulo 64", FUSED, HASHED,
     HASHED + "    y[0] ^= ((uintptr_t)vkey & 63) == 16;\n", "known_answers"),
    ("GCM: the line's timing class", FUSED, "ANY, VARTIME", "ANY, CT", DESCRIPTOR),
    ("GCM: one of two operations", FUSED, "    .open = open,\n", "", DESCRIPTOR),
    ("GCM: one key size", FUSED, MADE, MADE + "    key->aes.bytes[99] ^= key->head.rounds == 12;\n", "known_answers"),
    ("GCM: a text of 33 bytes", FUSED, END, END + "    y[0] ^= len_bytes == 33;\n", LENGTH),
    ("GCM: a byte behind a text", FUSED, TEXT, TEXT + "    if (len_bytes % 16)\n        out[len_bytes] = 0;\n", LENGTH),
    ("GCM: the input", FUSED, END,
     END + "    if (len_bytes && in != out)\n        ((uint8_t *)(uintptr_t)in)[0] ^= 1;\n", LENGTH),
    ("GCM: a text of 438 bytes with associated data of 83", FUSED, END,
     END + "    y[0] ^= len_bytes == 438 && aad_bytes == 83;\n", SHAPES),
    ("GCM: a text of 4097 bytes", FUSED, END, END + "    y[0] ^= len_bytes == 4097;\n", LONG),
    ("a pair's associated data in each piece", GCM, "ready = aad_bytes = 0;", "ready = 0;", LONG),
    ("a pair's associated data that is hashed: its hash", GCM, "copy_hash(tag, aad - 16);", "memset(tag, 0, 16);", PIECES),
    ("a pair's associated data that is hashed: its last block", GCM, "store_short_block(to + 16, aad + whole, aad_bytes - whole);",
     "memcpy(to + 16, aad, 16);", PIECES),
    ("GCM: 48 bytes of associated data", FUSED, AAD, AAD + "    y[3] ^= aad_bytes == 48;\n", DATA),
    ("an IV with one byte more than whole blocks", GCM, "if (iv_bytes != whole)", "if (iv_bytes > whole + 1)", IVS),
    ("the length of an IV", GCM, "hash_lengths(key, j0, 0, iv_bytes);", "hash_lengths(key, j0, 0, iv_bytes & 31);", IVS),
    ("GCM: opening in place", FUSED, "    if (!sealing)\n        hash_padded(key, y, in, len_bytes);\n" + TEXT,
     TEXT + "    if (!sealing)\n        hash_padded(key, y, in, len_bytes);\n", PLACE),
    ("GCM: one alignment of the output", FUSED, TEXT,
     TEXT + "    if (len_bytes && ((uintptr_t)out & 15) == 9)\n        out[0] ^= 1;\n", ALIGNMENT),
    ("GCM: one alignment of associated data", FUSED, AAD, AAD + "    y[0] ^= ((uintptr_t)aad & 15) == 3;\n", ALIGNMENT),
    ("GCM: one alignment of the IV", FUSED, END, END + "    y[0] ^= ((uintptr_t)iv & 15) == 13;\n", ALIGNMENT),
    ("GCM: one alignment of the tag", FUSED, COPIED, COPIED + "    tag[0] ^= ((uintptr_t)tag & 15) == 7;\n", ALIGNMENT),
    ("GCM: a byte read behind the text", FUSED, TEXT,
     "    (void)*(volatile const uint8_t *)(in + len_bytes);\n" + TEXT, INSIDE),
    ("GCM: a byte read before associated data", FUSED, AAD, "    (void)*(volatile const uint8_t *)(aad - 1);\n" + AAD, INSIDE),
    ("GCM: 16 bytes read of every IV", FUSED, AAD, "    (void)*(volatile const uint8_t *)(iv + 15);\n" + AAD, INSIDE),
    ("GCM: a byte rewritten behind the tag", FUSED, COPIED,
     COPIED + "    volatile uint8_t *behind = tag + tag_bytes;\n    *behind = *behind;\n", INSIDE),
    ("GCM: 32 bytes read of every user key", FUSED, MADE,
     MADE + "    (void)*(volatile const uint8_t *)(user_key + 31);\n", INSIDE),
    ("GCM: the counter after seven blocks", FUSED, "    hash(key, y, out, n_blocks);\n",
     "    hash(key, y, out, n_blocks);\n    counter[15] += n_blocks == 7;\n", BLOCKS),
    ("GCM: a counter of three bytes", FUSED, COUNT,
     COUNT + "\n    counter[12] = (uint8_t)(counter[12] - !(counter[13] | counter[14] | counter[15]));", COUNTER),
    ("GCM: a counter of five bytes", FUSED, COUNT, COUNT + "\n    counter[11] += evc_load32_be(counter + 12) == 0;", COUNTER),
    ("the counter behind J_0", GCM, START, START + "    state->counter[11] += evc_load32_be(state->counter + 12) == 0;\n", WRAP),
    ("associated data that waits: hashed twice", GCM, "    state->used = 0;\n    if (state->form == HASH) {\n",
     "    state->used = 0;\n    if (state->form == HASH) {\n"
     "        key->head.kernel->hash(key, state->y, state->block, 1);\n", PIECES),
    ("associated data that waits: forgotten before the tag", GCM,
     "    state->form = HASH;\n    hash_aad(key, state, held, held_bytes);\n", "    state->form = HASH;\n    (void)key;\n", PIECES),
    ("associated data that waits: behind what follows it", GCM,
     "        end_block(key, state);\n    }\n    hash_aad(key, state, aad, len_bytes);\n",
     "    }\n    if (len_bytes > 16) {\n        const size_t whole = (len_bytes - 1) & ~(size_t)15;\n"
     "        key->head.kernel->hash(key, state->y, aad, whole / 16);\n        aad += whole, len_bytes -= whole;\n    }\n"
     "    end_block(key, state);\n    hash_aad(key, state, aad, len_bytes);\n", PIECES),
    ("associated data that waits: its length with a whole message", GCM,
     "            return crypt_as_whole(key, state, held_of(state), state->used, in,",
     "            return crypt_as_whole(key, state, held_of(state), state->used & 15, in,", PIECES),
    ("associated data that waits: its last bytes, for a kernel that takes them in order", GCM,
     "            join_held(state);\n            state->aad", "            state->aad", PIECES),
    ("associated data that waits: its length with more text", GCM, "            state->aad_bytes = held_bytes;\n            /*",
     "            /*", PIECES),
    ("associated data that waits: its length without text", GCM, "    state->aad_bytes = held_bytes;\n", "", PIECES),
    ("text behind associated data that waits: its length", GCM,
     "    state->aad_bytes = held_bytes;\n    state->text_bytes = 0;\n", "    state->aad_bytes = held_bytes;\n", PIECES),
    ("associated data that is hashed: the lengths of a whole message behind it", GCM,
     "    evc_xor16(state->y, state->y, state->stream);\n    clear_secret_inputs();\n", "    clear_secret_inputs();\n", PIECES),
    ("associated data that is hashed: its last block", GCM, "    evc_xor16(state->block, state->block, state->y);\n", "", PIECES),
    ("a piece that ends a block", GCM, "    if (state->used == 16)\n        end_block(key, state);",
     "    if (state->used == 16)\n        state->used = 0;", PIECES),
    ("GCM: opening pieces in place", FUSED, "    hash(key, y, in, n_blocks);\n    ctr(key, counter, in, out, 16 * n_blocks);",
     "    ctr(key, counter, in, out, 16 * n_blocks);\n    hash(key, y, in, n_blocks);", PIECES),
    ("the state after a message", GCM, "    memcpy(tag, state->y, tag_bytes);\n    evc_wipe(state, sizeof *state);",
     "    memcpy(tag, state->y, tag_bytes);\n    state->phase = 0;", PIECES),
    ("GCM: the last byte of the tag", FUSED, "evc_mask_equal(y, tag, tag_bytes)", "evc_mask_equal(y, tag, tag_bytes - 1)",
     FORGED),
    ("the last byte of the tag, in pieces", GCM, "evc_mask_equal(computed, tag, tag_bytes)",
     "evc_mask_equal(computed, tag, tag_bytes - 1)", FORGED),
    ("the plaintext of a forgery", GCM, "evc_wipe(out, len_bytes);", "evc_wipe(out, len_bytes - 1);", FORGED),
    ("a tag of eleven bytes", GCM, "tag_bytes >= 12", "tag_bytes >= 11", TAGS),
    ("no tag of four bytes", GCM, " || tag_bytes == 4", "", TAGS),
    ("associated data after text", GCM, "if (state->phase != EVC_PHASE_AAD)", "if (state->phase == EVC_PHASE_NONE)", ORDER),
    ("text after the end", GCM, "if (state->phase == EVC_PHASE_NONE ||", "if (", ORDER),
    ("opening what is being sealed", GCM, " || !evc_direction_fits(state->direction, direction))", ")", ORDER),
    ("one byte less of text", GCM, "len_bytes > EVC_GCM_MAX_TEXT -", "len_bytes >= EVC_GCM_MAX_TEXT -", LIMITS),
    ("GCM: a part of a block of associated data, read beyond its end", GCM, "        return evc_load32_le(from) | (uint64_t)evc_load32_le(from + n - 4) << 8 * (n - 4);",
     "        return evc_load64_le(from) & ~(uint64_t)0 >> (64 - 8 * n);", INSIDE),
    ("any text in one call", GCM, " || len_bytes > EVC_GCM_MAX_TEXT)", ")", LIMITS),
    ("composed messages", GCM, "    state->text_bytes += len_bytes;\n",
     "    state->text_bytes += len_bytes + (len_bytes == 16);\n", OWN),
    ("the status of many messages", GCM, "first = first == EVC_OK ? m->status : first;", "first = m->status;", MANY),
    ("GCM: memory that no start has written", GCM, "return is_sound(state) ? EVC_OK : EVC_ERR_STATE;", "return EVC_OK;", ORDERS),
    ("GCM: a direction that is forgotten", GCM, "        state->direction = direction;\n", "        state->used += 0;\n", ORDERS),
    ("GCM: a direction that is forgotten in a first piece", GCM, "set_marks(state, MARKS_OF_TAG(direction));",
     "set_marks(state, MARKS_OF_TAG(EVC_DIRECTION_NONE));", ORDERS),
    ("GCM: a first piece that any state takes", GCM, "held_bytes = used_with_marks(state, MARKS_OF_START);",
     "held_bytes = 0;", ORDERS),
    ("GCM: blocks waiting behind a tag that no call has left", GCM, " || (state->form == TAG && state->phase == EVC_PHASE_TEXT)", " || state->form == TAG", ORDERS),
    ("GCM: associated data that any state takes", GCM, "used_with_marks(state, MARKS_OF_START) != 0)",
     "state->used != 0)", ORDERS),
    ("GCM: a second piece of associated data", GCM, "used_with_marks(state, MARKS_OF_START) != 0)",
     "!has_marks(state, MARKS_OF_START))", PIECES),
    ("GCM: counters behind an IV that was only held", GCM, "    if (state->form == HOLDS_ONLY)\n        hold_no_more(key, state);\n    if (state->form == HASH_TIMES_H",
     "    if (state->form == HASH_TIMES_H", PIECES),
    ("GCM: a tag of a message that is opened, by the call that seals", GCM, "!has_marks(state, MARKS_OF_TAG(EVC_DIRECTION_SEAL)) || ",
     "(state->form != TAG) || ", ORDERS),
    ("GCM: a form of the hash that there is not", GCM, "state->form > HOLDS_ONLY)", "state->form == 255)", ORDERS),
    ("GCM: a phase that there is not", GCM, "state->phase > EVC_PHASE_TEXT || ", "", ORDERS),
    ("GCM: the form that a message left, where another begins", GCM, "    state->short_iv = 0;\n    state->form = HASH;\n",
     "    state->short_iv = 0;\n", PIECES),
    ("GCM: a tag of a message in one piece, by a key that is not set up", GCM,
     "!key->head.kernel || !has_marks(state, MARKS_OF_TAG(EVC_DIRECTION_SEAL))", "!has_marks(state, MARKS_OF_TAG(EVC_DIRECTION_SEAL))", ORDERS),
    ("GCM: a message opened in one piece, by a key that is not set up", GCM,
     "!key->head.kernel || !has_marks(state, MARKS_OF_TAG(EVC_DIRECTION_OPEN))", "!has_marks(state, MARKS_OF_TAG(EVC_DIRECTION_OPEN))", ORDERS),
    ("GCM: a whole tag of a message in one piece", GCM, "evc_scalar64(evc_load64_ne(computed + 8) ^ evc_load64_ne(tag + 8))", "0", FORGED),
    ("GCM: the state after a message in one piece", GCM, "(uint8_t *)state + 64, 0, sizeof *state - 64)",
     "(uint8_t *)state + 64, 0, 36)", SHAPES),
    ("GCM: a start that fails and keeps the message", GCM,
     "    if (status != EVC_OK) {\n        evc_wipe(state, sizeof *state);\n        return status;\n    }\n    start(key, state",
     "    if (status != EVC_OK)\n        return status;\n    start(key, state", ORDERS),
    ("a key of 64 bits", GCM, "if (key_bits != 128 && ", "if (key_bits != 64 && key_bits != 128 && ", BAD_KEYS),
    ("a refused key", GCM, "        evc_wipe(memory, memory_bytes);\n        return status;\n    }\n    memset(memory, 0, 16);",
     "        return status;\n    }\n    memset(memory, 0, 16);", BAD_KEYS),
    ("GCM: a key that is not set up", GCM, "    return key->head.kernel && !sizes", "    return !sizes", KEYS),
    ("GCM: keys that must stay where they are", FUSED, ENCRYPTED,
     "    if (key->own != 0 && key->own != (uintptr_t)key)\n        return;\n"
     "    ((struct key *)(uintptr_t)key)->own = (uintptr_t)key;\n" + ENCRYPTED, "keys_may_be_copied"),
    ("GCM: a key that counts its calls", FUSED, HASHED, "    ((struct key *)(uintptr_t)key)->own++;\n" + HASHED, UNCHANGED),
    ("GCM: a byte behind the key", FUSED, MADE, MADE + "    ((uint8_t *)vkey)[sizeof *key] = 7;\n",
     "keys_keep_nothing_of_their_memory"),
]


CCM, XTS, CMAC, CTR = (f"src/modes/{mode}.c" for mode in ("ccm", "xts", "cmac", "ctr"))
MEMORY, KEY_HASH = "src/common/key_memory.h", "src/ghash/ghash.c"

# Breaks that test programs of all modes, and of all kinds of keys, must notice.
MODE_BREAKS = [
    ("CCM: a second finish", CCM,
     "    status = compare(state, tag);\n    evc_wipe(state, sizeof *state);\n    clear(key);",
     "    status = compare(state, tag);\n    evc_wipe(state, sizeof *state);\n    state->phase = EVC_PHASE_TEXT;\n    clear(key);",
     ORDERS),
    ("CCM: a finish before a start", CCM, "state->phase == EVC_PHASE_NONE || ", "", ORDERS),
    ("CCM: a tag of no bytes", CCM, "state->tag_bytes >= 4 && ", "", ORDERS),
    ("CCM: opening what is being sealed", CCM, " || !evc_direction_fits(state->direction, direction))", ")", ORDERS),
    ("CCM: text before the associated data is complete", CCM,
     "    if (state->aad_left)\n        return EVC_ERR_STATE;\n", "", ORDERS),
    ("CCM: associated data after text", CCM, "state->phase != EVC_PHASE_AAD", "state->phase == EVC_PHASE_NONE", ORDERS),
    ("CCM: a start that fails and keeps the message", CCM,
     "    if (status != EVC_OK) {\n        evc_wipe(state, sizeof *state);\n        return status;\n    }",
     "    if (status != EVC_OK)\n        return status;", ORDERS),
    ("CCM: a key that is not set up", CCM, "    if (!is_set(key))\n        return EVC_ERR_KERNEL;\n    if (state->phase != EVC_PHASE_AAD)",
     "    if (state->phase != EVC_PHASE_AAD)", ORDERS),
    ("CCM: the carry of a counter", KERNEL, "evc_store64_be(counter + 8, evc_load64_be(counter + 8) + 1);",
     "evc_store32_be(counter + 12, evc_load32_be(counter + 12) + 1);", MODES),
    ("CCM: the MAC of ciphertext that is opened", KERNEL, "cbcmac(key, chain, out + 16 * i, 1);",
     "cbcmac(key, chain, in + 16 * i, 1);", MODES),
    ("CCM: the MAC of text that was sealed in place", KERNEL,
     "        cbcmac(key, chain, in + 16 * i, 1);\n        ccm_text(key, counter, in + 16 * i, out + 16 * i);\n",
     "        ccm_text(key, counter, in + 16 * i, out + 16 * i);\n        cbcmac(key, chain, in + 16 * i, 1);\n", MODES),
    ("XTS: an update after finish", XTS, "state->phase != EVC_PHASE_TEXT || ", "", ORDERS),
    ("XTS: decryption of what is being encrypted", XTS, " || !evc_direction_fits(state->direction, direction))", ")", ORDERS),
    ("XTS: an empty data unit", XTS, "state->done_bytes == 0", "0", ORDERS),
    ("XTS: a start with a key that is not set up", XTS,
     "    if (!is_set(key)) {\n        evc_wipe(state, sizeof *state);\n        return EVC_ERR_KERNEL;\n    }\n",
     "    if (!is_set(key))\n        return EVC_ERR_KERNEL;\n", ORDERS),
    ("CMAC: a second finish", CMAC, "return state->phase == EVC_PHASE_TEXT ? EVC_OK : EVC_ERR_STATE;", "return EVC_OK;", ORDERS),
    ("CTR: an update before a start", CTR, "    if (state->phase != EVC_PHASE_TEXT)\n        return EVC_ERR_STATE;\n", "",
     ORDERS),
    ("AES: what operations leave", COMPOSE,
     "    kernel->encrypt(key, in, out, n_blocks);\n    evc_clear(&kernel->kernel);\n",
     "    kernel->encrypt(key, in, out, n_blocks);\n", "operations_leave_nothing_behind"),
    ("AES: what the set-up of a key leaves", COMPOSE,
     "    kernel->set_key(key, user_key);\n    evc_clear(&kernel->kernel);\n",
     "    kernel->set_key(key, user_key);\n", "set_key_leaves_nothing_behind"),
    ("the wipe of short pieces", WIPE, "    uint8_t *to = p;\n\n",
     "    uint8_t *to = p;\n\n    if (len_bytes < SHORT_BYTES)\n        return;\n", "messages_leave_nothing_behind"),
    ("CMAC: the whole tag that a message leaves", CMAC, "    evc_clear_block(chain);\n", "", "modes_leave_nothing_behind"),
    ("GCM: key stream of a message of a pair", GCM, "    evc_wipe(stream, sizeof stream);\n", "",
     "messages_leave_nothing_behind"),
    ("AES: a key that is set again", COMPOSE, "    evc_wipe(key, memory_bytes);\n", "", KEYS),
    ("AES: decryption by blocks with a key for encryption", COMPOSE, "evc_aes_is_set(key) && key->head.can_decrypt, out",
     "evc_aes_is_set(key), out", KEYS),
    ("AES: encryption with a key that is not set up", COMPOSE, "    if (!kernel)\n        return EVC_ERR_KERNEL;\n    if (evc_blocks",
     "    if (evc_blocks", KEYS),
    ("AES: zeros of a key that is not set up", COMPOSE, "        memset(out, 0, len_bytes);\n", "        ;\n", KEYS),
    ("GHASH: a key that is not set up", KEY_HASH, "        memset(y, 0, 16);\n        return;", "        return;", KEYS),
    ("CCM: the memory of the second key", CCM, "(mac_kernel == ctr_kernel ? 0 : evc_key_room(&mac_kernel->kernel))", "0", KEYS),
    ("AES: keys for encryption only, in memory of the caller", COMPOSE, "set_key(memory, memory_bytes, kernel, user_key, key_bits, 0)",
     "set_key(memory, memory_bytes, kernel, user_key, key_bits, 1)", KEYS),
    ("GHASH: a key that is refused", KEY_HASH, "    evc_wipe(memory, memory_bytes);\n    if (status != EVC_OK)\n        return status;\n",
     "    if (status != EVC_OK)\n        return status;\n    evc_wipe(memory, memory_bytes);\n", KEYS),
    ("GCM: the descriptor of pairs", GCM, "!kernel->set_key || ", "", KEYS),
    ("GCM: a pair after an error", GCM, "    if (status != EVC_OK)\n        evc_wipe(memory, memory_bytes);\n    return status;",
     "    return status;", KEYS),
    ("GCM: the direction of a piece that is too long", GCM,
     "    if (len_bytes > EVC_GCM_MAX_TEXT - (",
     "    state->direction = direction;\n    if (len_bytes > EVC_GCM_MAX_TEXT - (",
     ORDERS),
    ("CCM: the kernel of the second key", CCM, "    key->mac_at = (uint32_t)ctr_bytes;\n", "", KEYS),
    ("CCM: a finish without associated data", CCM, "state->aad_left || state->text_left ?", "state->text_left ?", ORDERS),
    ("XTS: the bytes of a data unit", XTS, "    state->done_bytes += (uint32_t)len_bytes;\n",
     "    state->done_bytes |= len_bytes != 0;\n", ORDERS),
    ("QARMA: a key that is refused", "src/qarma/qarma.c",
     "    evc_wipe(key, sizeof *key);\n    if (status != EVC_OK)\n        return status;\n",
     "    if (status != EVC_OK)\n        return status;\n    evc_wipe(key, sizeof *key);\n", KEYS),
    ("XTS: what set-up leaves after an error", XTS,
     "    if (status != EVC_OK)\n        evc_wipe(memory, memory_bytes);\n    else\n        key->allowed",
     "    if (status == EVC_OK)\n        key->allowed", KEYS),
]

COLUMNS, LIMBS, BN_REF, NUMBERS, POWERS, DIVSTEPS = (
    "src/bn/columns_steps.h", "src/bn/limbs_steps.h", "src/bn/c_ref.c", "src/bn/bn.c", "src/bn/exp.c", "src/bn/gcd.c")
SELECTED = "something_is_always_selected"
REDUCTIONS = "reductions_equal_sums"
SUMS = "sums_and_products_equal_reference"
CARRIES = "carries_of_short_numbers_are_kept"
POWER = "powers_equal_reference"
SMALL = "small_powers_equal_powers"
LANES = "many_powers_equal_one_by_one"
INVERSES = "inverses_are_inverse"
SCRATCH = "scratch_leaves_nothing_behind"
MODULI = "moduli_that_do_not_exist_are_refused_and_wiped"
OPERANDS = "bad_operands_are_refused"
FERMAT = "primes_keep_fermats_theorem"

# Breaks of big numbers: lost carries, lengths taken for others, and the code above the kernels.
BN_BREAKS = [
    ("bn: the carry of a column", COLUMNS, "    c->middle = c->high;\n", "    c->middle = 0;\n", CARRIES),
    ("bn: the carry above a product", LIMBS, "(borrow & (carry ^ 1u))", "(borrow)", CARRIES),
    ("bn: the carry of a sum", LIMBS, "subtract_modulus(r, sum, carry,", "subtract_modulus(r, sum, 0,", CARRIES),
    ("bn: the bit above a doubled limb", COLUMNS, "*above = (limb)(t[i + 1] >> (LIMB_BITS - 1));", "*above = 0;", SUMS),
    ("bn: a cross product of two middle limbs", COLUMNS, "if (i / 2 + 1 < limbs)", "if (i / 2 + 2 < limbs)", SUMS),
    ("bn: the carry between two columns of a square", COLUMNS, "    add_rest(&c->second, &c->first);\n", "", SUMS),
    ("bn: the last digit of an odd number of limbs", COLUMNS, "add_product(&c.first, digit[0], p->n[limbs - 1]);", "", SUMS),
    ("bn: the part of a limb", LIMBS, "(n_bytes + piece * LIMB_BYTES - 1) /", "n_bytes /", CARRIES),
    ("bn: a byte before a number", LIMBS, "if (at < in_bytes)", "if (at <= in_bytes)", INSIDE),
    ("bn: bits of the inverse of a limb", LIMBS, "bits < LIMB_BITS;", "bits < LIMB_BITS / 2;", FERMAT),
    ("bn: the lowest bit of a factor, of c_ref", BN_REF, "bit-- > 0", "bit-- > 1", FERMAT),
    ("bn: the carry of c_ref", BN_REF, "(borrow & ~carry)", "borrow", "known_answers"),
    ("bn: a doubling of the form of 1", NUMBERS, "i < n->shape.r_bits;", "i + 1 < n->shape.r_bits;", CARRIES),
    ("bn: a piece of a long number", NUMBERS, "        evc_bn_op_add(n, sum, sum, piece, scratch);\n", "", REDUCTIONS),
    ("bn: the carry of a sum of bytes", NUMBERS, "UINT32_MAX, n->n_bytes) & (carry ^ 1);", "UINT32_MAX, n->n_bytes);", SUMS),
    ("bn: a difference of bytes below zero", NUMBERS, "evc_barrier32(0u - is_below)", "0", SUMS),
    ("bn: the range of the second operand", NUMBERS, " & evc_bn_below(b, evc_bn_modulus(n), n->n_bytes)", "", OPERANDS),
    ("bn: an even modulus", NUMBERS, "is_wrong = ((uint32_t)n[n_bytes - 1] & 1) ^ 1;", "is_wrong = 0;", MODULI),
    ("bn: a modulus that begins with zero", NUMBERS, "is_wrong |= ~evc_mask_nonzero32(n[0]);", "", MODULI),
    ("bn: memory that is a byte short", NUMBERS, "memory_bytes, evc_bn_modulus_bytes(", "memory_bytes + 1, evc_bn_modulus_bytes(",
     MODULI),
    ("bn: memory of a modulus that is refused", NUMBERS, "    evc_wipe(memory, memory_bytes);\n", "", MODULI),
    ("bn: scratch memory of a number", "src/bn/ops.h", "evc_bn_scratch_for(&n->shape, n_numbers));",
     "evc_bn_scratch_for(&n->shape, n_numbers - 1));", SCRATCH),
    ("bn: room of the set-up", NUMBERS, "    evc_wipe((uint8_t *)memory + used, memory_bytes - used);\n", "", SCRATCH),
    ("bn: scratch memory that is a byte short", NUMBERS, "scratch_bytes < whole_scratch(&n->shape)",
     "scratch_bytes + 1 < whole_scratch(&n->shape)", OPERANDS),
    ("bn: a window over two bytes", "src/bn/ops.h", "if (high != low &&", "if (high > low + 1 &&", POWER),
    ("bn: the first window", POWERS, "bits_of(exponent, exponent_bytes, at, window));\n    while",
     "bits_of(exponent, exponent_bytes, at, 1));\n    while", POWER),
    ("bn: a bit of a power by sums", POWERS, "evc_bn_bits_of(exponent, exponent_bytes, at, 1));", "0);", SMALL),
    ("bn: the places of the first bits", POWERS, "while ((size_t)2 << n_bits", "while ((size_t)1 << n_bits", SMALL),
    ("bn: a further bit of a small base", POWERS, "        if (base & bit)\n            evc_bn_op_add(n, r, r, x, scratch);\n",
     "", SMALL),
    ("bn: scratch memory of a power by sums", POWERS, "out, scratch);\n        evc_bn_end(n, scratch, TABLE);",
     "out, scratch);\n        evc_bn_end(n, scratch, TABLE - 1);", SMALL),
    ("bn: an exponent of 0 bytes", POWERS, "exponent_bytes == 0 || ", "", OPERANDS),
    ("bn: exponents of other lengths side by side", POWERS, " && exps[n].exponent_bytes == exps[0].exponent_bytes", "", LANES),
    ("bn: operands that are refused, side by side", POWERS, "exps[n].status == EVC_OK && ", "", LANES),
    ("bn: more powers than lanes", POWERS, "n < kernel->lanes && ", "", LANES),
    ("bn: scratch memory of lanes", POWERS, "            evc_wipe(scratch, scratch_bytes);\n", "", SCRATCH),
    ("bn: what lanes leave on the stack", POWERS, "            evc_clear(&e->n->kernel->kernel);\n", "",
     "leaves_nothing_behind"),
    ("bn: a step too few hundred", DIVSTEPS, "(49 * bits", "(34 * bits", INVERSES),
    ("bn: the sign of an inverse", DIVSTEPS, "    negate(s.d, s.words, negative);\n", "", INVERSES),
    ("bn: an inverse below zero", DIVSTEPS, "    add_modulus_if_negative(&s);\n", "", INVERSES),
]

UNROLLED, CARRY = "src/bn/unrolled_columns.h", "src/common/carry.h"
X86_64_BREAKS = [
    ("bn: the rest of the column before an unrolled one", UNROLLED, "    add_rest(&sum, c);\n", "", SUMS),
    ("bn: the highest limb of a doubled column", UNROLLED, "    c->high += c->high;\n", "", SUMS),
    ("bn: the square of a limb above the middle", UNROLLED, "if (rest % 2 == 1)", "if (rest % 2 == 3)", SUMS),
    ("bn: whole turns of an unrolled column", UNROLLED, "turns, 4, (rest + 1) / 2", "turns / 2, 4, (rest + 1) / 2", SUMS),
    ("bn: the carry above two words", CARRY, "adc %4, %1\\n\\tsbb %2, %2", "adc %4, %1\\n\\tsub %2, %2", SUMS),
    ("bn: the borrow above two words", CARRY, "sbb %4, %1\\n\\tsbb %2, %2", "sbb %4, %1\\n\\tsub %2, %2", SUMS),
]

ADX = "src/bn/x86_adx_asm.S"
ADX_BREAKS = [
    ("bn adx: the second carry of a row", ADX, "    adox %rax, \\register\n", "", CARRIES),
    ("bn adx: the carry above a reduction", ADX, "    sbb %rax, %rax\n    mov %rax, 16+CARRY(%rsp)\n", "", CARRIES),
    ("bn adx: the carry above a result", ADX, "    not %rcx\n", "", CARRIES),
    ("bn adx: limbs that fill no strip", ADX, "    call_by_width .Lproduct\n", "", SUMS),
    ("bn adx: the carry of a square", ADX, "    adox %rdx, %r9\n", "    add %rdx, %r9\n", SUMS),
    ("bn adx: a limb of a narrow strip of a square", ADX, "    cross_row 5, 32, \\width\n", "", SUMS),
    ("bn adx: an entry of a table", ADX, "sub $1, %r15", "sub $2, %r15", POWER),
    ("bn adx: a part of an entry", ADX, "    pieces 16\n", "", POWER),
    ("bn adx: a register of the caller", ADX, "    evc_restore %r12\n", "    add $8, %rsp\n", ABI),
]

IFMA, WIDE, BATCH = "src/bn/x86_ifma.c", "src/bn/ifma_wide.h", "src/bn/ifma_batch.h"
ROWS_OF_TWO, PAIR_OF_TWO, PAIRS = "src/bn/ifma_rows.h", "src/bn/ifma_pair.h", "pairs_equal_one_by_one"
DOUBLES = "doublings_equal_sums"
IFMA_BREAKS = [
    ("bn: a kernel for longer moduli", "src/registry.c", "n_bits >= best->fewest_bits", "n_bits >= 0", SELECTED),
    ("bn ifma: a carry through lanes of ones", WIDE, "into = (ones + 2 * overflow) ^ ones;", "into = 2 * overflow;", SUMS),
    ("bn ifma: a carry through a lane of ones", WIDE, "into = (ones[width] + 2 * nonzero_lanes(carry)) ^ ones[width];",
     "into = 2 * nonzero_lanes(carry);", SUMS),
    ("bn ifma: the carry of a block", WIDE, "v_add(rest.column[0], lowest_lane_of(carry))", "rest.column[0]", CARRIES),
    ("bn ifma: the carry of a block of panels", WIDE, "v_add(v_load(s->x), carry)", "v_load(s->x)", SUMS),
    ("bn ifma: a block that R has beside n", WIDE, "+ block + SPARE_BITS", "+ SPARE_BITS", SUMS),
    ("bn ifma: the second subtraction of n", IFMA,
     "    above = subtract_once(out, w.bits, evc_bn_modulus(key), n_bytes);\n", "    above = w.bits;\n", SUMS),
    ("bn ifma: the borrow of a word of equal bits", IFMA, "(~a & b) | (~(a ^ b) & difference)", "(~a & b)", SUMS),
    ("bn ifma: the borrow of bytes behind words", IFMA, "(n[i] & mask) - borrow;", "(n[i] & mask);", SUMS),
    ("bn ifma: the borrow of the multiple of n", IFMA, "borrow = d >> 63;", "borrow = 0;", SUMS),
    ("bn ifma: a negative difference", IFMA, "_mm512_sub_epi64(v_digits, v_load(at_const(minus_two, v)))", "v_zero", SUMS),
    ("bn ifma: the carry of the lowest panel of two numbers", PAIR_OF_TWO, "v_add(t->column[width - 1], v_one)",
     "t->column[width - 1]", PAIRS),
    ("bn ifma: the gap between two numbers", PAIR_OF_TWO, "_mm512_maskz_permutex_epi64(0x77, x, 0x39)",
     "_mm512_permutex_epi64(x, 0x39)", PAIRS),
    ("bn ifma: a digit of a square that is doubled", ROWS_OF_TWO, "(v) > row ? twice : a", "(v) >= row ? twice : a", PAIRS),
    ("bn ifma: the carry of a row", ROWS_OF_TWO, "s->carry = _mm512_maskz_srli_epi64(0x11, lowest, DIGIT_BITS);", "", PAIRS),
    ("bn ifma: bits above a digit of the last row", ROWS_OF_TWO, "64 - DIGIT_BITS + ROW_BITS)", "63)", PAIRS),
    ("bn ifma: the carry of the highest vector", ROWS_OF_TWO,
     "to_next_lane_in_halves(_mm512_srli_epi64(v_load(at_const(r, (size_t)width - 1)), ROW_BITS))", "v_zero", PAIRS),
    ("bn ifma: the bit below a digit that is doubled", WIDE, "_mm512_srli_epi64(below, DIGIT_BITS - 1)", "v_zero", DOUBLES),
    ("bn ifma: the bit between lanes that are doubled", WIDE, "below = to_next_lane(x.column[width - 1]);", "below = v_zero;", DOUBLES),
    ("bn ifma: a carry through lanes of what is doubled", WIDE, "into = (ones[width] + 2 * overflow) ^ ones[width];",
     "into = 2 * overflow;", DOUBLES),
    ("bn ifma: the subtraction of a double", WIDE, "keep = _mm512_set1_epi64((long long)(into >> 8 & 1) - 1);",
     "keep = _mm512_set1_epi64(-1);", DOUBLES),
    ("bn ifma: the bit between lanes of a long double", IFMA, "vec below = to_next_lane(v_load(at_const(a, vectors - 1)));",
     "vec below = v_zero;", DOUBLES),
    ("bn ifma: a cross product of eight", BATCH, "first, (k + 1) / 2, k)", "first, k / 2, k)", LANES),
]

DH = "src/dh/dh.c"
DH_BREAKS = [
    ("dh: a value of p - 1", DH, "(p[p_bytes - 1] ^ 1);", "p[p_bytes - 1];", EXCHANGES),
    ("dh: a value of 1", DH, "!is_small(a, p_bytes, 1)", "!is_small(a, p_bytes, 0)", EXCHANGES),
    ("dh: a value beyond p", DH, " && evc_bn_below(a, p, p_bytes)", "", EXCHANGES),
    ("dh: the order of a value", DH, "group->has_q || (flags & EVC_DH_CHECK_ORDER)", "group->has_q", EXCHANGES),
    ("dh: the order of a value, with q", DH, "group->has_q || (flags & EVC_DH_CHECK_ORDER)", "flags", EXCHANGES),
    ("dh: 1 that is shared", DH, "return good ? EVC_OK : EVC_ERR_PEER;", "return EVC_OK;", EXCHANGES),
    ("dh: what is shared after an error", DH, "    if (status != EVC_OK)\n        evc_wipe(z, p_bytes);\n", "", EXCHANGES),
    ("dh: a secret of 0", DH, "return zero ? EVC_ERR_RANGE : EVC_OK;", "return EVC_OK;", EXCHANGES),
    ("dh: randomness that failed", DH, "random->fill(random->context, x, x_bytes) != 0",
     "random->fill(random->context, x, x_bytes) > 0", EXCHANGES),
    ("dh: the order of g", DH, "== 1 ? EVC_OK : EVC_ERR_GROUP", "== 1 ? EVC_OK : EVC_OK", EXCHANGES),
    ("dh: groups that are too small", DH, "< (least_bits ? least_bits : LEAST_BITS)", "< least_bits", EXCHANGES),
    ("dh: bits of p", DH, "        n_bits--;\n", "        break;\n", EXCHANGES),
    ("dh: the length of a given q", DH, "if (!params->q && group->", "if (group->", EXCHANGES),
]

FIND, SAFE, STRONG, PUBLIC = (f"src/prime/{name}.c" for name in ("find", "find_safe", "miller_rabin", "public"))
WORK = "src/prime/work.c"
PRIME_BREAKS = [
    ("prime: bits of a public exponent that make the first power of 2", WORK, "        k = next;\n        n_bits--;\n",
     "        k = next;\n        n_bits -= 2;\n", PRIMES),
    ("prime: the bit of the first power of 2", WORK, "(uint8_t)(1u << k % 8);", "1;", PRIMES),
    ("prime: base 2 of a candidate", FIND, "passes = evc_prime_passes_two(&f->w);", "passes = UINT32_MAX;", PRIMES),
    ("prime: base 2 of p", SAFE, "    passes = evc_prime_passes_two_public(&f->w);\n    f->progress.seconds++;",
     "    passes = 1;\n    f->progress.seconds++;", PRIMES),
    ("prime: p after an error", FIND, "    memset(p, 0, p_bits / 8);\n", "", PRIMES),
    ("prime: a safe prime after an error", SAFE, "    memset(p, 0, p_bits / 8);\n", "", PRIMES),
    ("prime: scratch memory of a search", FIND,
     "    evc_wipe(scratch, evc_prime_search_scratch_bytes(search->kernel, p_bits));\n", "", PRIMES),
    ("prime: a report that stops", "src/prime/search.c", "? EVC_ERR_STOPPED :", "? EVC_OK :", PRIMES),
    ("prime: randomness that failed", "src/prime/work.c", "!= 0)\n        return EVC_ERR_RANDOM;",
     "> 1)\n        return EVC_ERR_RANDOM;", PRIMES),
    ("prime: a divisor of e that is no small prime", FIND, "&& differs ? EVC_ERR_COMPOSITE : status;",
     "&& differs ? EVC_OK : status;", PRIMES),
    ("prime: rounds of short primes", STRONG, "n_bits < 1024 ? 13 :", "n_bits < 1024 ? 12 :", PRIMES),
    ("prime: two highest bits", FIND, "|= 0xc0;", "|= 0x80;", PRIMES),
    ("prime: a base of n - 1", STRONG, " & ~evc_prime_is_minus_one(w, base);", ";", PRIMES),
    ("prime: a base of 1", STRONG, "base[w->n_bytes - 1] >> 1, good;", "base[w->n_bytes - 1], good;", PRIMES),
    ("prime: -1 in between", STRONG, "in_reach & evc_mask_equal", "is_s & evc_mask_equal", PRIMES),
    ("prime: the test of Lucas", PUBLIC, "d != 0 && passes_lucas(t, d)", "d != 0", PRIMES),
    ("prime: base 2 of a public number", PUBLIC, "if (!passes_two(t))", "if (0)", PRIMES),
    ("prime: small numbers", PUBLIC, "small <= d ?", "small < d ?", PRIMES),
]

RSA_KEY, RAW, NEW_KEY, PSS, OAEP, ENCRYPT_PKCS1, SIGN_PKCS1 = (
    f"src/rsa/{name}.c" for name in ("key", "raw", "generate", "pss", "oaep", "encrypt_pkcs1", "sign_pkcs1"))
RSA_BREAKS = [
    ("rsa: the check of a result", RAW, "return good ? EVC_OK : EVC_ERR_FAULT;", "return EVC_OK;", RSA),
    ("rsa: an output after an error", RAW, "            evc_wipe(o->out, o->key->n_bytes);", "            (void)o;", RSA),
    ("rsa: a number of n - 1", RAW, "(uint32_t)in[last] ^ n[last] ^ 1u", "(uint32_t)in[last] ^ n[last] ^ 3u", RSA),
    ("rsa: numbers beyond n", RAW, "evc_bn_below(in, n, key->n_bytes)", "UINT32_MAX", RSA),
    ("rsa: a number of 1", RAW, "above = a[n_bytes - 1] >> 1;", "above = a[n_bytes - 1];", RSA),
    ("rsa: randomness that failed", RAW, "random->fill(random->context, out, n_bytes) != 0",
     "random->fill(random->context, out, n_bytes) > 0", RSA),
    ("rsa: a base that is blinded by 0", RAW, "return good ? EVC_OK : EVC_ERR_RANDOM;", "return EVC_OK;", RSA),
    ("rsa: operations that fail in a batch", RAW, "        n_exps += o[i].status == EVC_OK ? 2 : 0;",
     "        n_exps += 2;", RSA),
    ("rsa: operations side by side", RAW, "n < EVC_RSA_SIDE_BY_SIDE", "n < 99", RSA),
    ("rsa: keys of different lengths in a batch", RAW, " && o[n].key->n_bytes == o->key->n_bytes", "", RSA),
    ("rsa: scratch memory", RAW, "evc_wipe(scratch, 15 + evc_rsa_raw_bytes(w.kernel, w.n_bytes, n));",
     "evc_wipe(scratch, evc_rsa_raw_bytes(w.kernel, w.n_bytes, n) / 2);", RSA),
    ("rsa: the inverse of e", RSA_KEY, "return good & evc_words_equal(s->remainder, s->one, s->half);", "return good;", RSA),
    ("rsa: the inverse of q", RSA_KEY, "return good ? EVC_OK : EVC_ERR_KEY;", "return EVC_OK;", RSA),
    ("rsa: the product of p and q", RSA_KEY, "good = is_product(s, numbers);", "good = UINT32_MAX;", RSA),
    ("rsa: a key that is too small", RSA_KEY, "n_bits < (least_bits ? least_bits : LEAST_BITS)",
     "n_bits < least_bits", RSA),
    ("rsa: a number in the memory of its key", RSA_KEY, "found |= evc_overlap(memory, memory_bytes, short_ones[i]",
     "found |= evc_overlap(memory, 0, short_ones[i]", RSA),
    ("rsa: p and q that are near", NEW_KEY, "good = are_far_apart(w);", "good = UINT32_MAX;", RSA),
    ("rsa: p below q", NEW_KEY, "    order_primes(w);\n", "", RSA),
    ("rsa: a new key after an error", NEW_KEY, "        evc_wipe(memory, needed_bytes);\n", "", RSA),
    ("rsa: scratch memory of a new key", NEW_KEY, "    evc_wipe(scratch, evc_rsa_complete_bytes(p_bytes));\n", "", RSA),
    ("rsa: a key that was there", RSA_KEY, "    evc_wipe(memory, memory_bytes);\n    return", "    return", RSA),
    ("rsa: the byte before a salt", PSS, "salt[-1] = 1;", "salt[-1] = 2;", RSA),
    ("rsa: bits above those of a signature", PSS, "    l.db[0] &= l.top;\n    l.h[l.h_bytes]", "    l.h[l.h_bytes]", RSA),
    ("rsa: a message after an error", OAEP, "    evc_wipe(message, room_for_message(oaep, key->n_bytes));\n", "", RSA),
    ("rsa: zeros in a filling", ENCRYPT_PKCS1, "uint32_t good = evc_mask_nonzero32(out[i]);", "uint32_t good = 1;",
     RSA),
    ("rsa: a signature after an error", SIGN_PKCS1, "        evc_wipe(signature, key->n_bytes);", "        (void)signature;",
     RSA),
]


WORDS, DIVISORS, OF_BYTES = "src/bn_words/c_halves.c", "src/bn_words/bn_words.c", "src/bn/mod_words.c"
DIVIDE = "src/bn_words/divide.h"
HEAD, SLOTS = "const struct evc_bn_words evc_bn_words_c_halves = {\n", "    EVC_BN_SLOT_NAMES,\n"


def slot(what: str, name: str, function: str, wanted: str) -> tuple[str, str, str, str, str]:
    """A break of word primitives: the slot `name` is this function, which is called `broken`."""
    rest = "    .kernel = EVC_BN_WORDS_HEAD(c_halves, CT_MUL32, CT, ANY, clear),\n"
    return (f"words: {what}", WORDS, HEAD + rest + SLOTS, f"{function}\n{HEAD}{rest}{SLOTS}    .{name} = broken,\n", wanted)


ROW = "static word broken(word *r, const word *a, size_t n, word w)"
SUM = "static word broken(word *r, const word *a, const word *b, size_t n)"
WORD_BREAKS = [
    slot("a product that adds nothing", "mul_add_words", f"{ROW} {{ return mul_words(r, a, n, w); }}",
         "carries_run_through_every_word"),
    slot("the highest word of a square", "sqr_comba8",
         "static void broken(word *r, const word *a) { sqr_comba8(r, a); r[15] ^= 1; }", "products_of_ones"),
    slot("one length", "add_words", f"{SUM} {{ return n == 37 ? sub_words(r, a, b, n) : add_words(r, a, b, n); }}",
         LENGTH),
    slot("a write behind the result", "mul_words", f"{ROW} {{ r[n] = 1; return mul_words(r, a, n, w); }}", LENGTH),
    slot("a result that is written too early", "mul_words",
         f"{ROW} {{ if (n) r[n - 1] = 0; return mul_words(r, a, n, w); }}", "in_place_equals_apart"),
    slot("one alignment", "sub_words",
         f"{SUM} {{ return (uintptr_t)r % 64 == 24 ? add_words(r, a, b, n) : sub_words(r, a, b, n); }}", ALIGNMENT),
    slot("a read behind the operand", "mul_words",
         f"{ROW} {{ (void)*(const volatile word *)(a + n); return mul_words(r, a, n, w); }}", INSIDE),
    slot("a length of 10 bits", "mul_add_words", f"{ROW} {{ return mul_add_words(r, a, n % 1024, w); }}", LONG_CALLS),
    slot("a quotient of one word", "div_words",
         "static word broken(word h, word l, word d) { return d ? l / d : div_words(h, l, d); }",
         "quotients_equal_reference"),
    slot("a quotient that is one less", "div_words",
         "static word broken(word h, word l, word d) { return div_words(h, l, d) - (h == 0); }",
         "quotients_and_remainders_multiply_back"),
    slot("a remainder of some lengths", "mod_words",
         "static word broken(const word *a, size_t n, const struct evc_bn_divisor *d)"
         " { return mod_words(a, n - n / 33, d); }", "remainders_equal_reference"),
    ("words: what operations leave on the stack", WORDS, "CT_MUL32, CT, ANY, clear)", "CT_MUL32, CT, ANY, 0)",
     "leaves_nothing_behind"),
    ("words: the upper word of a remainder", DIVIDE, "sum_of(0, low), d->power[0],", "sum_of(0, low), 0 * d->power[0],",
     "remainders_equal_reference"),
    ("words: a remainder that is not brought below its word", DIVISORS, "rest - (w & ~mask_less(rest, w))", "rest",
     "trial_division_equals_one_by_one"),
    ("words: a byte of a number", OF_BYTES, "x[i / WORD_BYTES] |= (word)a[a_bytes - 1 - i]",
     "x[i / WORD_BYTES] = (word)a[a_bytes - 1 - i]", "numbers_of_bytes_have_the_same_remainders"),
    ("words: room for a part of a word", OF_BYTES, "    return words_for(a_bytes) * WORD_BYTES + WORD_BYTES - 1;",
     "    return a_bytes;", "numbers_of_bytes_have_the_same_remainders"),
    ("words: scratch memory of a number of bytes", OF_BYTES, "    evc_wipe(scratch, used);\n", "", SCRATCH),
    ("words: scratch memory that is a byte short", OF_BYTES, "scratch_bytes < used", "scratch_bytes + 1 < used",
     "bad_lengths_of_bytes_are_refused"),
    ("words: a divisor that is refused", DIVISORS, "        memset(d, 0, sizeof *d);\n", "",
     "divisors_of_zero_are_refused"),
]


def asm(text: str, operands: str = "") -> str:
    """A statement that changes a register behind the compiler's back, at the end of `encrypt`."""
    return f"{ENCRYPT}    __asm__ volatile(\"{text}\"{operands});\n"


POWER_BREAKS = [
    ("a register of the caller", KERNEL, ENCRYPT, asm("addi 14, 14, 1"), ABI),
    ("another register of the caller", KERNEL, ENCRYPT, asm("addi 31, 31, 1"), ABI),
    ("the first condition of the caller", KERNEL, ENCRYPT, asm("crnot 8, 8"), ABI),
    ("the last condition of the caller", KERNEL, ENCRYPT, asm("crnot 19, 19"), ABI),
    ("a register of floating point", KERNEL, ENCRYPT, asm("fneg 14, 14"), ABI),
    ("the last register of floating point", KERNEL, ENCRYPT, asm("fneg 31, 31"), ABI),
    ("a vector register of the caller", KERNEL, ENCRYPT, asm("vnor 20, 20, 20"), ABI),
    ("the last vector register of the caller", KERNEL, ENCRYPT, asm("vnor 31, 31, 31"), ABI),
    ("the rounding mode", KERNEL, ENCRYPT, asm("mtfsb1 31"), ABI),
]

# Breaks that leave registers changed after a slot, by platform.machine().
ABI_BREAKS = {
    "x86_64": [
        ("a register of the caller", KERNEL, ENCRYPT, asm("notq %rbx"), ABI),
        ("another register of the caller", KERNEL, ENCRYPT, asm("movq $1, %r15"), ABI),
        ("the frame pointer", KERNEL, ENCRYPT, asm("notq %rbp"), ABI),
        ("the direction flag", KERNEL, ENCRYPT, asm("std"), ABI),
        ("the rounding mode", KERNEL, ENCRYPT,
         "    static const uint32_t mode = 0x3f80;\n\n" + asm("ldmxcsr %0", ' : : "m"(mode)'), ABI),
        ("the registers of MMX", KERNEL, ENCRYPT, asm("pxor %mm0, %mm0"), ABI),
    ],
    "aarch64": [
        ("a register of the caller", KERNEL, ENCRYPT, asm("mvn x19, x19"), ABI),
        ("a vector register of the caller", KERNEL, ENCRYPT, asm("fmov d8, xzr"), ABI),
        ("the last vector register of the caller", KERNEL, ENCRYPT, asm("fmov d15, xzr"), ABI),
        ("the rounding mode", KERNEL, ENCRYPT, asm("msr fpcr, %0", ' : : "r"(UINT64_C(0x400000))'), ABI),
    ],
    "ppc64": POWER_BREAKS,
    "ppc64le": POWER_BREAKS,
    "s390x": [
        ("a register of the caller", KERNEL, ENCRYPT, asm("aghi %r6, 1"), ABI),
        ("another register of the caller", KERNEL, ENCRYPT, asm("aghi %r13, 1"), ABI),
        ("a register of floating point", KERNEL, ENCRYPT, asm("lzdr %f8"), ABI),
        ("the last register of floating point", KERNEL, ENCRYPT, asm("lzdr %f15"), ABI),
        ("the rounding mode", KERNEL, ENCRYPT, asm("srnm 1"), ABI),
    ],
    "hppa": [
        ("a register of the caller", KERNEL, ENCRYPT, asm("ldo 1(%r3), %r3"), ABI),
        ("another register of the caller", KERNEL, ENCRYPT, asm("ldo 1(%r18), %r18"), ABI),
        ("the data pointer", KERNEL, ENCRYPT, asm("ldo 1(%r27), %r27"), ABI),
        ("a register of floating point", KERNEL, ENCRYPT, asm("fcpy,dbl %fr0, %fr12"), ABI),
        ("the last register of floating point", KERNEL, ENCRYPT, asm("fcpy,dbl %fr0, %fr21"), ABI),
        ("the rounding mode", KERNEL, ENCRYPT,
         "    static const uint64_t mode = UINT64_C(0x200) << 32;\n\n" + asm("fldds 0(%0), %%fr0", ' : : "r"(&mode), "m"(mode)'), ABI),
    ],
}
UPPER_HALVES = ("upper halves of vector registers", KERNEL, ENCRYPT, asm("vcmptrueps %ymm0, %ymm0, %ymm0"), ABI)

# With the kernels that they are of; the stack pointer is restored, and nothing else.
A64_KERNELS = ("a64_ce_inorder", "a64_p8x8", "a64_umulh")
UMULH, ROWS = "src/bn/a64_umulh_asm.S", "src/bn_words/a64_rows.h"
A64_BREAKS = [
    (f"the registers of the caller of {file}", file, "    evc_restore_d8_d15\n", "    add sp, sp, #64\n", ABI)
    for file in ("src/aes/a64_ce_inorder_asm.S", "src/ghash/a64_p8x8_asm.S")
] + [
    ("bn umulh: the first carry of a row", ROWS, "    adc top, top, xzr\n", "", CARRIES),
    ("bn umulh: the second carry of a row", ROWS, "    adc last_acc\\width, top, xzr\n",
     "    mov last_acc\\width, top\n", CARRIES),
    ("bn umulh: the carry of a digit", ROWS, "    cmp acc0, #1 ", "    cmn acc0, xzr ", CARRIES),
    ("bn umulh: the carry above a reduction", UMULH, "    cset sum0, cs\n", "    mov sum0, xzr\n", CARRIES),
    ("bn umulh: the carry into the next strip", UMULH, "    cmp sum0, #1\n", "    cmn sum0, xzr\n", SUMS),
    ("bn umulh: the carry above a result", UMULH, "    orr x7, x7, x8\n", "    mov x7, x8\n", CARRIES),
    ("bn umulh: the borrow of a result", UMULH, "    orr x7, x7, x8\n", "", CARRIES),
    ("bn umulh: the borrow of limbs that make no four", UMULH, "    sbcs x8, x8, x12\n    str", "    sub x8, x8, x12\n    str", CARRIES),
    ("bn umulh: limbs that fill no strip", UMULH, "5:  by_width factor0, product_strip\n", "5:\n", SUMS),
    ("bn umulh: zeros below a short product", UMULH, "1:  str xzr, [x0], #8 ", "1:  add x0, x0, #8 ", SUMS),
    ("bn umulh: zeros below a short square", UMULH, "7:  str xzr, [x0], #8\n", "7:  add x0, x0, #8\n", SUMS),
    ("bn umulh: a row of an odd number", UMULH, "    tbz rows, #0, 1f\n", "    b 1f\n", SUMS),
    ("bn umulh: the carry of a square", ROWS, "    adcs top, top, part1\n", "    add top, top, part1\n", SUMS),
    ("bn umulh: the bit between limbs of a square", ROWS, "    mov x3, acc3\n", "", SUMS),
    ("bn umulh: a limb of a narrow strip of a square", ROWS, ".irp i, 1, 2, 3, 4, 5, 6, 7\n    triangle_row",
     ".irp i, 1, 2, 3, 4, 6, 7\n    triangle_row", SUMS),
    ("bn umulh: a register of the caller", ROWS, "    evc_restore_pair x27, x28\n", "    add sp, sp, #16\n", ABI),
]
FOR_A64 = ["aarch64-linux-gnu-gcc", "-static"]
ELSEWHERE = {  # compiler, emulator
    "ppc64": ("powerpc64-linux-gnu-gcc", "qemu-ppc64"),
    "ppc64le": ("powerpc64le-linux-gnu-gcc", "qemu-ppc64le"),
    "s390x": ("s390x-linux-gnu-gcc", "qemu-s390x"),
    "hppa": ("hppa-linux-gnu-gcc", "qemu-hppa"),
}

# Breaks of GCM in assembly, and the flags of a CPU that runs the kernel.
GCM256 = "src/gcm/x86_vaes256_asm.S"
GCM256_FLAGS = {"avx2", "vaes", "vpclmulqdq"}
GCM256_BREAKS = [
    ("GCM256: the lane of associated data", GCM256, "    vpblendd $0x0f, AROUND, \\s, \\s\n", "", SHAPES),
    ("GCM256: associated data without a lane", GCM256, "movzwl power_places + 2(", "movzwl power_places + 4(", SHAPES),
    ("GCM256: the carry of the last counter but one", GCM256, "    lea 16(%rsi), %edx ", "    lea 0(%rsi), %edx ", SHAPES),
    ("GCM256: what is hashed of the last block", GCM256, "    vpand first_bytes(TABLES,%rdx), %xmm7, %xmm7\n",
     "    vmovdqa %xmm7, %xmm7\n", SHAPES),
    ("GCM256: the powers of every other group", GCM256, "cmovz KEY, POWERS", "cmovnz KEY, POWERS", SHAPES),
    ("GCM256: counters of pieces", GCM256, "    vpaddd lane_numbers(TABLES), P, P\n", "", BLOCKS),
    ("GCM256: a load behind the text", GCM256, "    vmovdqu -16(IN,LEN), A_X\n",
     "    vmovdqu (IN,LEN), A_X\n    vmovdqu -16(IN,LEN), A_X\n", INSIDE),
    ("GCM256: a vector that is not cleared", GCM256, ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n    vpxor %xmm",
     ".irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n    vpxor %xmm", "messages_leave_nothing_behind"),
]
GCM128 = "src/gcm/x86_aesni_asm.S"
GCM128_FLAGS = {"sse4_1", "aes", "pclmulqdq"}
GCM128_BREAKS = [
    ("GCM128: the pair with associated data", GCM128, "    jz 1f\n    halves_of_pair A, \\s\n",
     "    jmp 1f\n    halves_of_pair A, \\s\n", SHAPES),
    ("GCM128: associated data without a pair", GCM128, "movzwl power_places + 2(", "movzwl power_places + 4(", SHAPES),
    ("GCM128: the carry of the last counter", GCM128, "    movdqa B, %xmm7\n6:", "6:", SHAPES),
    ("GCM128: what is hashed of the last block", GCM128, "    pand P, %xmm7\n", "", SHAPES),
    ("GCM128: the powers of every other group", GCM128, "    jnz 6f\n    add $4*pair_bytes", "    jz 6f\n    add $4*pair_bytes", SHAPES),
    ("GCM128: the group before a tail of 8 blocks", GCM128, "    call last_group\n    mov %rsi, LEN\n", "    mov %rsi, LEN\n", SHAPES),
    ("GCM128: counters of pieces", GCM128, "    paddd step(TABLES), P\n", "", BLOCKS),
    ("GCM128: a load behind the text", GCM128, "    movdqu -16(IN,LEN), %xmm6\n",
     "    movdqu (IN,LEN), %xmm6\n    movdqu -16(IN,LEN), %xmm6\n", INSIDE),
    ("GCM128: a vector that is not cleared", GCM128, ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n    pxor %xmm",
     ".irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n    pxor %xmm", "messages_leave_nothing_behind"),
]
GCM512 = "src/gcm/x86_vaes512_asm.S"
GCM512_FLAGS = {"vaes", "vpclmulqdq", "avx512f", "avx512bw", "avx512vl", "avx512vbmi"}
RESIDUE = "messages_leave_nothing_behind"
GCM512_BREAKS = [
    ("GCM512: the last block of associated data before text", GCM, "(uint32_t)((len_bytes - 1) % 16 + 1),",
     "(uint32_t)(len_bytes % 16),", PIECES),
    ("GCM512: what fills up a part of a block of associated data", GCM,
     ">> (0 - 8 * len_bytes) % 64", "", PIECES),
    ("GCM512: what fills up a word of associated data", GCM, "evc_store64x2_le(to, load_short(aad, len_bytes), 0);",
     "evc_store64_le(to, load_short(aad, len_bytes));", PIECES),
    ("GCM512: the hash before the last block of associated data", GCM512,
     "    vpxor -16(%rcx), %xmm1, %xmm1\n", "", PIECES),
    ("GCM512: much associated data, the first", GCM, "if (all_bytes > EVC_GCM_MAX_AAD || !key->head.kernel->hash_aad)",
     "if (!key->head.kernel->hash_aad)", LIMITS),
    ("GCM512: much associated data behind some that waits", GCM,
     "EVC_GCM_MAX_AAD - (state->form == HOLDS_ONLY ? state->used : state->aad_bytes)", "EVC_GCM_MAX_AAD - state->aad_bytes", LIMITS),
    ("GCM512: that associated data is hashed", GCM, " | EVC_GCM_HASHED_AAD, in, out,", ", in, out,", PIECES),
    ("GCM512: the lanes of associated data", GCM512, "    vmovdqu64 aad_quads + 80 - ", "    vmovdqu64 quad_numbers + 80 - ", SHAPES),
    ("GCM512: the bits of the lengths", GCM512, "    vpsllq $3, %xmm2, %xmm2\n", "    vpsllq $2, %xmm2, %xmm2\n", SHAPES),
    ("GCM512: the bits of the lengths of short messages", GCM512, "    shl $3, %r8\n", "    shl $2, %r8\n", SHAPES),
    ("GCM512: associated data in front of other vectors", GCM512, "    vpermq %zmm13, %zmm12, %zmm12\n",
     "    vmovdqa64 %zmm13, %zmm12\n", SHAPES),
    ("GCM512: associated data in two vectors in front", GCM512, "    vmovdqu64 (%rcx,%rsi), %zmm11\n", "    vmovdqu64 (%rcx), %zmm11\n", SHAPES),
    ("GCM512: associated data beside half a vector of text", GCM512, "    vshufi32x4 $0x03, %zmm1, %zmm1, %zmm14\n",
     "    vshufi32x4 $0x0e, %zmm1, %zmm1, %zmm14\n", SHAPES),
    ("GCM512: the ciphertext of half a vector", GCM512, "    vmovdqa %ymm3, %ymm8\n", "", SHAPES),
    ("GCM512: a pair of vectors in front", GCM512, "    vmovdqu64 -64(%rcx,%rdx), %zmm5\n", "    vmovdqu64 (%rcx), %zmm5\n", SHAPES),
    ("GCM512: one vector of a pair in front", GCM512, "    vpermq %zmm13, %zmm5, %zmm5\n", "    vmovdqa64 %zmm13, %zmm5\n", SHAPES),
    ("GCM512: a first vector taken for an empty one", GCM512, "    jnz 5f\n    kxnorw %k4", "    kxnorw %k4", SHAPES),
    ("GCM512: the block of text behind long associated data", GCM512, "    vpand first_bytes + 16(%rsi), %xmm5, %xmm8\n",
     "    vmovdqa %xmm5, %xmm8\n", SHAPES),
    ("GCM512: long associated data without text", GCM512, "28: vshufi32x4 $0x0e, ", "28: vshufi32x4 $0x03, ", SHAPES),
    ("GCM512: long associated data taken for none", GCM512, "    call aad_of_vectors\n    mov $1, %edx\n", "    call aad_of_vectors\n", SHAPES),
    ("GCM512: powers one block from their places", GCM512, "    vinserti32x4 $0, (powers_end - 64*\\p - 64 + 40 + 64*\\half)(%rdi), \\to, \\to\n", "", SHAPES),
    ("GCM512: associated data in front of longer messages", GCM512, "    vmovdqa64 %zmm12, %zmm18\n", "", SHAPES),
    ("GCM512: the ciphertext that is hashed first", GCM512, "    vmovdqu8 %zmm3, %zmm8{%k2}\n", "", SHAPES),
    ("GCM512: the ciphertext that is hashed last", GCM512, "    with_vector (\\n-1), take_last_ciphertext\n", "", SHAPES),
    ("GCM512: a wrong tag", GCM512, "    cmovnz %edx, %eax\n    jmp 21b", "    jmp 21b", SHAPES),
    ("GCM512: a load behind the text", GCM512, "    vmovdqu -16(%r9,%r10), %xmm13\n    vpshufb (%r11,%rsi), %xmm13, %xmm13\n",
     "    vmovdqu (%r9,%r10), %xmm13\n    vmovdqu -16(%r9,%r10), %xmm13\n    vpshufb (%r11,%rsi), %xmm13, %xmm13\n", INSIDE),
    ("GCM512: products of associated data, behind full vectors of text", GCM512, "hash_of_full \\k, \\hi\n    clear_text 5,",
     "hash_of_full \\k, \\hi\n    clear_text 1,", RESIDUE),
    ("GCM512: products of long associated data", GCM512, "    vpxor %xmm9, %xmm9, %xmm9\n    vpxor %xmm10, %xmm10, %xmm10\n"
     "    vpxor %xmm11, %xmm11, %xmm11\n    vpxor %xmm12, %xmm12, %xmm12\n    ret", "    ret", RESIDUE),
    ("GCM512: products of longer associated data", GCM512, "    vpxord %xmm30, %xmm30, %xmm30\n    evc_restore", "    evc_restore", RESIDUE),
    ("GCM512: a vector that is not cleared", GCM512, "    vpxor %xmm7, %xmm7, %xmm7\n    vzeroupper\n    ret\n    tags_of_other_bytes",
     "    vzeroupper\n    ret\n    tags_of_other_bytes", RESIDUE),
]
FLAT, FLAT_LONG = "src/gcm/x86_vaes512_flat_asm.S", "src/gcm/x86_flat_long_asm.h"
FLAT_BREAKS = [
    ("flat GCM: the place of the last bytes that are held, behind a second piece", GCM,
     "        part_held(state);", "", PIECES),
    ("flat GCM: the place of the last bytes that are held, before a second piece", GCM,
     "        join_held(state);\n        memcpy", "        memcpy", PIECES),
    ("flat GCM: the place of the last bytes that are held, without text", GCM,
     "    join_held(state);\n    if (held_bytes)", "    if (held_bytes)", PIECES),
    ("flat GCM: the bits of the lengths", FLAT, "    vpsllq $3, %xmm\\lengths, %xmm\\lengths\n", "", SHAPES),
    ("flat GCM: a block that is held", FLAT, "    vmovdqu held_end(%rcx), %xmm12\n", "    vmovdqu (%rcx), %xmm12\n", PIECES),
    ("flat GCM: the hash before the last block of associated data", "src/gcm/x86_gcm_asm.h", "    vpxor -16(%rcx), \\x, \\x\n", "", PIECES),
    ("flat GCM: associated data at the end of a page", FLAT, "    vpermb %zmm\\x, %zmm13, %zmm\\x{%k1}{z}\n", "", SHAPES),
    ("flat GCM: more associated data than powers", FLAT, "    vmovdqu powers_end(%rdi,%rdx), %xmm13\n",
     "    vmovdqu powers_end - 16(%rdi,%rdx), %xmm13\n", "messages_of_a_mebibyte_equal_reference"),
    ("flat GCM: the powers of the last vector", FLAT, "    add $64*\\n - 64, %rsi\n", "", SHAPES),
    ("flat GCM: a part at the end of a page", FLAT, "    vpermb %zmm3, %zmm13, %zmm13\n", "", SHAPES),
    ("flat GCM: a tag that is not right", FLAT, "    cmovnz %edx, %eax\n", "", SHAPES),
    ("flat GCM: counters of long messages", FLAT_LONG, "    vpaddd group_step(%r11), %zmm3, %zmm3\n", "", SHAPES),
    ("flat GCM: counters of pieces", FLAT_LONG, "    vpaddd vector_step(%r11), %zmm3, %zmm3\n", "", BLOCKS),
    ("flat GCM: the hash of a group", FLAT_LONG, "    vpxorq %zmm12, %zmm24, %zmm24\n", "", SHAPES),
    ("flat GCM: the ciphertext that is hashed last", FLAT_LONG, "    vmovdqu8 %zmm23, %zmm\\e{%k1}{z}\n", "", SHAPES),
    ("flat GCM: a vector that is not cleared", FLAT, "    finish_tag \\opens, 0, 1, 2, 3, 4, 5, 6, 7,",
     "    finish_tag \\opens, 0, 1, 2, 4, 5, 6, 7,", RESIDUE),
    ("flat GCM: a vector of long messages that is not cleared", FLAT_LONG, "    .irp i, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n    vpxord %xmm\\i, %xmm\\i, %xmm\\i\n    .endr\n    end_message",
     "    .irp i, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n    vpxord %xmm\\i, %xmm\\i, %xmm\\i\n    .endr\n    end_message", RESIDUE),
]
# AES of the same kernels: a round key that stays on the stack behind steps of long messages.
WIDE_STEPS = "src/aes/x86_wide_steps.h"
LEFT = "    volatile __m128i left = evc_x86_key(key->dec[0]);\n    (void)left;\n"
LONG_CTR = ("AES: what long CTR of {} leaves", WIDE_STEPS, "        const vec first = v_key(&k, 0);\n        number",
            "        const vec first = v_key(&k, 0);\n        volatile vec left = first;\n        (void)left;\n        number",
            "operations_leave_nothing_behind")
LONG_CBC = ("AES: what long CBC of {} leaves", WIDE_STEPS, "    size_t n_left = n_blocks;\n    __m128i x",
            "    size_t n_left = n_blocks;\n" + LEFT + "    __m128i x", "operations_leave_nothing_behind")
LONG_CTR512 = ("AES: what long CTR of {} leaves", WIDE_STEPS, "    ctr_long_steps(key, counter, in, out, n_bytes);\n",
               LEFT.replace("dec", "enc") + "    ctr_long_steps(key, counter, in, out, n_bytes);\n",
               "operations_leave_nothing_behind")
CHAIN = "src/aes/x86_chain_asm.h"
CHAIN_BREAKS = [
    ("AES: the chain of CBC encryption in assembly", CHAIN, "    pxor X, NEXT\n", "", "every_length_equals_reference"),
    ("AES: the IV behind CBC encryption in assembly", CHAIN, "    movups X, (IV)\n", "", "every_length_equals_reference"),
    ("AES: the number of rounds of CBC encryption in assembly", CHAIN, "    jb 5f\n", "    jb 6f\n", "every_length_equals_reference"),
    ("AES: what CBC encryption in assembly leaves of round keys", CHAIN, "    for_middle_keys \\n, clear_key\n", "",
     "operations_leave_nothing_behind"),
]


def of(kernel: str, *breaks: tuple[str, str, str, str, str]) -> list[tuple[str, str, str, str, str]]:
    return [(what.format(kernel), *rest) for what, *rest in breaks]


FUSED_HERE = {"x86_vaes512": (GCM512_FLAGS, GCM512_BREAKS + of("x86_vaes512", LONG_CTR512, LONG_CBC)),
              "x86_vaes256": (GCM256_FLAGS, GCM256_BREAKS + of("x86_vaes256", LONG_CTR, LONG_CBC)),
              "x86_vaes512_flat": (GCM512_FLAGS, FLAT_BREAKS),
              "x86_aesni": (GCM128_FLAGS, GCM128_BREAKS + CHAIN_BREAKS + of("x86_aesni", LONG_CTR))}


def cpu_flags() -> list[str]:
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    return cpuinfo.read_text().split() if cpuinfo.exists() else []


def has_adx() -> bool:
    return platform.machine() == "x86_64" and {"adx", "bmi2"} <= set(cpu_flags())


def has_ifma() -> bool:
    return has_adx() and {"avx512ifma", "avx512f"} <= set(cpu_flags())


def gcm_breaks() -> dict[str, list[tuple[str, str, str, str, str]]]:
    """Those of kernels in assembly that this CPU runs."""
    found = {}
    for kernel, (flags, breaks) in FUSED_HERE.items():
        if platform.machine() == "x86_64" and set(cpu_flags()) >= flags:
            found[kernel] = breaks
        else:
            print(f"skipped: this CPU lacks {', '.join(sorted(flags - set(cpu_flags())))}, so GCM by {kernel} is not broken")
    return found


def breaks_here() -> list[tuple[str, str, str, str, str]]:
    """Those of portable code, and those of registers that this CPU has and tells about."""
    found = BREAKS + GCM_BREAKS + MODE_BREAKS + BN_BREAKS + DH_BREAKS + PRIME_BREAKS + RSA_BREAKS + WORD_BREAKS + ABI_BREAKS.get(platform.machine(), [])
    flags = cpu_flags()
    if platform.machine() == "x86_64":
        found += X86_64_BREAKS
    if has_adx():
        found += ADX_BREAKS
    else:
        print("skipped: this CPU has no adcx, so assembly with it is not broken")
    if has_ifma():
        found += IFMA_BREAKS
    else:
        print("skipped: this CPU has no products of 52 bits, so vectors of them are not broken")
    if platform.machine() == "x86_64" and {"avx", "xgetbv1"} <= set(flags):
        return [*found, UPPER_HALVES]
    print("skipped: this CPU does not tell whether upper halves of vector registers are in use")
    return found


def object_name(source: str) -> str:
    return source.replace("/", "_") + ".o"


@dataclasses.dataclass(frozen=True)
class Tree:
    """A copy of the tree that is compiled and run."""

    folder: pathlib.Path
    compiler: list[str]
    emulator: list[str]
    kernels: str

    def run(self, *argv: str) -> str:
        done = subprocess.run(
            argv, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode and argv[0] == self.compiler[0]:
            sys.exit(done.stdout)
        return done.stdout

    def compile_one(self, source: str) -> None:
        self.run(*self.compiler, *FLAGS, "-w", "-c", source, "-o", f"objects/{object_name(source)}")

    def concerned(self, file: str) -> list[str]:
        """The sources to compile after a change of this one, or of this header; none of kernels that are not asked."""
        if not file.endswith(".h"):
            return [file] if self.asks(file) else []
        line = f'#include "{file.removeprefix("src/")}"'
        includers = [source.relative_to(self.folder).as_posix()
                     for source in sorted((self.folder / "src").rglob("*.[chS]")) if line in source.read_text()]
        return [source for includer in includers for source in self.concerned(includer)]

    def asks(self, file: str) -> bool:
        """Whether this is a file of a kernel that checks ask, or of none."""
        stem = pathlib.Path(file).stem.removesuffix("_asm")
        is_kernel = re.search(rf"^KERNEL\(\w+, *{stem},", (self.folder / "src/kernels.def").read_text(), re.M)
        return not is_kernel or stem in re.split("[,+]", self.kernels)

    def restore_object(self, source: str) -> None:
        name = object_name(source)
        shutil.copy(self.folder / "whole" / name, self.folder / "objects" / name)

    def objects(self, prefix: str) -> list[str]:
        return [str(o) for o in sorted((self.folder / "objects").iterdir()) if o.name.startswith(prefix)]

    def program_fails(self, program: str) -> bool:
        """A test program beside the harness, linked with the library, ends with an error or by a signal."""
        test = f"objects/tests_unit_{program}.c.o"
        self.run(*self.compiler, "-o", program, test, *self.objects("src_"))
        argv = [*self.emulator, f"./{program}"]
        return subprocess.run(argv, cwd=self.folder, capture_output=True).returncode != 0

    def notices(self, file: str, wanted: str) -> bool:
        """A program or a property fails. Of a kernel's file that kernel is asked first: mostly it is enough."""
        if wanted in PROGRAMS:
            return self.program_fails(wanted)
        self.link_harness()
        own = pathlib.Path(file).stem.removesuffix("_asm")
        asked = [own, self.kernels] if own in self.kernels.split(",") else [self.kernels]
        return any(next(self.failing(kernels, "--property", wanted), None) for kernels in asked)

    def failed(self, *options: str) -> set[str]:
        """The properties that fail: with all operations, with none, with another key form."""
        self.link_harness()
        return set(self.failing(self.kernels, *options))

    def link_harness(self) -> None:
        self.run(*self.compiler, "-o", "harness_here", *self.objects("src_"), *self.objects("harness_"))

    def failing(self, kernels: str, *options: str) -> Iterator[str]:
        """The properties that fail, as they do: who needs one only may leave."""
        command = [*self.emulator, "./harness_here", "check", "--quick", "--kernel", kernels, *options]
        with subprocess.Popen(command, cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as harness:
            assert harness.stdout
            try:
                for line in harness.stdout:
                    fact = json.loads(line)
                    if fact["type"] == "check" and fact["result"] == "fail":
                        yield fact["property"]
            finally:
                harness.kill()


def unnoticed(tree: Tree, breaks: list[tuple[str, str, str, str, str]], *options: str) -> int:
    """How many breaks the property named does not notice; options of a check of the unbroken tree."""
    bad = 0
    wanted_programs = set(PROGRAMS) & {wanted for *_, wanted in breaks}
    programs = {program for program in wanted_programs if tree.program_fails(program)}
    if names := tree.failed(*options) | programs:
        sys.exit(f"unbroken, it fails {', '.join(sorted(names))}")
    for what, file, old, new, wanted in sorted(breaks, key=lambda one: one[1]):
        good = (tree.folder / file).read_text()
        assert old in good, f"{what}: {file} no longer says {old!r}"
        (tree.folder / file).write_text(good.replace(old, new, 1))
        sources = set(tree.concerned(file))
        for source in sources:
            tree.compile_one(source)
        if not tree.notices(file, wanted):
            bad += 1
            print(f"FAILED: {what} is broken, and {wanted} passes")
        (tree.folder / file).write_text(good)
        for source in sources:
            tree.restore_object(source)
    return bad


def unnoticed_in_copy(tree: Tree, kept: set[str], programs: Sequence[str],
                      breaks: list[tuple[str, str, str, str, str]], *options: str) -> int:
    """Compile a copy of the tree with these kernels beside the portable ones, and count what is not noticed."""
    for part in ("src", "include", "harness", "catalog/peers"):
        if (ROOT / part).exists():
            shutil.copytree(ROOT / part, tree.folder / part)
    shutil.copy(ROOT / "tests/mutants/whole_kernel.c", tree.folder / KERNEL)
    shutil.copy(ROOT / "tests/mutants/whole_gcm.c", tree.folder / FUSED)
    keep_kernels(tree.folder, lambda stem: portable(stem) or stem in kept)
    with (tree.folder / "src/kernels.def").open("a") as registry:
        registry.write(LINES)
    (tree.folder / "tests/unit").mkdir(parents=True)
    for name in ("tap.h", *(f"{program}.c" for program in programs)):
        shutil.copy(ROOT / "tests/unit" / name, tree.folder / "tests/unit")
    (tree.folder / "objects").mkdir()
    for part in ("src", "harness", "tests"):
        for source in sorted((tree.folder / part).rglob("*.[cS]")):
            tree.compile_one(source.relative_to(tree.folder).as_posix())
    shutil.copytree(tree.folder / "objects", tree.folder / "whole")
    return unnoticed(tree, breaks, *options)


def abi_elsewhere() -> int:
    """Registers and modes of the CPUs of ELSEWHERE, emulated."""
    passed = failed = skipped = 0
    for machine, (compiler, emulator) in ELSEWHERE.items():
        if absent := [name for name in (compiler, emulator) if not shutil.which(name)]:
            print(f"skipped: {machine}: no {', '.join(absent)}")
            skipped += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            tree = Tree(pathlib.Path(folder), [compiler, "-static"], [emulator], "c_whole,c_ref")
            bad = unnoticed_in_copy(tree, set(), (), ABI_BREAKS[machine], "--property", ABI)
        print(f"{machine}: {len(ABI_BREAKS[machine]) - bad} of {len(ABI_BREAKS[machine])} are noticed", flush=True)
        failed += bad
        passed += len(ABI_BREAKS[machine]) - bad
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--a64", action="store_true", help="break assembly for A64, under qemu-aarch64 elsewhere")
    where.add_argument("--abi-elsewhere", action="store_true", help="change registers of POWER, IBM Z and PA-RISC, emulated")
    words = parser.parse_args()
    if words.abi_elsewhere:
        return abi_elsewhere()
    for_a64 = words.a64
    emulator = ["qemu-aarch64"] if for_a64 and platform.machine() != "aarch64" else []
    compiler = FOR_A64 if for_a64 else os.environ.get("CC", "cc").split()
    assembly = A64_KERNELS if for_a64 else ("x86_ifma", "x86_adx") if has_ifma() else ("x86_adx",) if has_adx() else ()
    kernels = ",".join([*assembly, KERNELS])
    gcm = {} if for_a64 else gcm_breaks()
    if absent := [name for name in (compiler[0], *emulator) if not shutil.which(name)]:
        print(f"skipped: no {', '.join(absent)}\n0 passed, 0 failed, 1 skipped")
        return 0
    breaks = A64_BREAKS + ABI_BREAKS["aarch64"] if for_a64 else breaks_here()
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(pathlib.Path(folder), compiler, emulator, kernels)
        bad = unnoticed_in_copy(tree, {*assembly, *gcm}, () if for_a64 else PROGRAMS, breaks,
                                *(["--property", ABI] if for_a64 else []))
        for kernel, broken in gcm.items():
            bad += unnoticed(dataclasses.replace(tree, kernels=kernel), broken, "--property", SHAPES)
            breaks += broken
    print(f"{len(breaks) - bad} passed, {bad} failed, 0 skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
