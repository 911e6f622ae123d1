# SPDX-License-Identifier: MIT
"""Tables of algorithms, computed from their definitions, by the names that rules use.

Each function returns numbers; a rule says how many bytes each has.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import xor

_MASK32, _MASK64 = (1 << 32) - 1, (1 << 64) - 1


def _times(left: int, right: int, polynomial: int = 0x11B, bits: int = 8) -> int:
    """Multiply two polynomials over GF(2) modulo a third."""
    product = 0
    while right:
        if right & 1:
            product ^= left
        left <<= 1
        if left >> bits & 1:
            left ^= polynomial
        right >>= 1
    return product


def aes_sbox() -> list[int]:
    """FIPS 197, 5.1.1: the inverse in GF(2^8), and an affine map."""
    inverse = [0] * 256
    power, powers = 1, []
    for _ in range(255):
        powers.append(power)
        power = _times(power, 3)
    for exponent, value in enumerate(powers):
        inverse[value] = powers[-exponent % 255]
    found = []
    for value in inverse:
        rotated = [(value << n | value >> (8 - n)) & 255 for n in range(5)]
        found.append(rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ rotated[4] ^ 0x63)
    return found


def aes_inverse_sbox() -> list[int]:
    found = [0] * 256
    for value, image in enumerate(aes_sbox()):
        found[image] = value
    return found


def _aes_columns(box: Sequence[int], column: Sequence[int], turn: int) -> list[int]:
    """Products of a column of MixColumns with each value of an S-box, as big-endian words."""
    turned = [*column[-turn:], *column[:-turn]] if turn else list(column)
    return [
        int.from_bytes(bytes(_times(value, factor) for factor in turned), "big") for value in box
    ]


def aes_te(turn: int) -> list[int]:
    """Rijndael, 5.2.1 (Daemen, Rijmen 2002): SubBytes and MixColumns in one table."""
    return _aes_columns(aes_sbox(), (2, 1, 1, 3), turn)


def aes_td(turn: int) -> list[int]:
    return _aes_columns(aes_inverse_sbox(), (14, 9, 13, 11), turn)


def groestl_t0() -> list[int]:
    """Groestl, 3.4.5: products of the first column of its matrix with the S-box of AES."""
    return _aes_columns(aes_sbox(), (2, 7, 5, 3, 5, 4, 3, 2), 0)


def ghash_four_bits() -> list[int]:
    """SP 800-38D, 6.3: reductions of the four bits that a shift pushes out, in 16 bits."""
    return [_ghash_reduction(value, 4) for value in range(16)]


def ghash_eight_bits() -> list[int]:
    return [_ghash_reduction(value, 8) for value in range(256)]


def _ghash_reduction(value: int, bits: int) -> int:
    total = 0
    for place in range(bits):
        if value >> place & 1:
            total ^= 0xE100 >> (bits - 1 - place)
    return total


def _primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def _root(value: int, degree: int) -> int:
    """The integer part of a root."""
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high - 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle)
    return low


def sha256_k() -> list[int]:
    """FIPS 180-4, 4.2.2: fractions of the cube roots of primes."""
    return [_root(prime << 96, 3) & _MASK32 for prime in _primes(64)]


def sha512_k() -> list[int]:
    return [_root(prime << 192, 3) & _MASK64 for prime in _primes(80)]


def md5_t() -> list[int]:
    """RFC 1321, 3.4."""
    return [int(abs(math.sin(number + 1)) * 2**32) for number in range(64)]


def keccak_rc() -> list[int]:
    """FIPS 202, 3.2.5: bits of a shift register."""
    state, found = 1, []
    for _ in range(24):
        word = 0
        for place in range(7):
            if state & 1:
                word |= 1 << ((1 << place) - 1)
            state <<= 1
            if state >> 8:
                state ^= 0x171
        found.append(word)
    return found


def crc32() -> list[int]:
    """IEEE 802.3, reflected."""
    return _crc(0xEDB88320, 32)


def crc32c() -> list[int]:
    return _crc(0x82F63B78, 32)


def crc64_xz() -> list[int]:
    """ECMA-182, reflected, as xz has it."""
    return _crc(0xC96C5795D7870F42, 64)


def _crc(polynomial: int, bits: int) -> list[int]:
    found = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (polynomial if value & 1 else 0)  # noqa: PLW2901
        found.append(value & ((1 << bits) - 1))
    return found


def pi_words() -> list[int]:
    """The first 64 words of the fraction of pi, which Blowfish begins with (Machin's formula)."""
    bits = 64 * 32 + 64

    def arctangent(inverse: int) -> int:
        total, power, number = 0, (1 << bits) // inverse, 1
        while power:
            total += power // number if number % 4 == 1 else -(power // number)
            power //= inverse * inverse
            number += 2
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    fraction = (pi & ((1 << bits) - 1)) >> 64
    return [fraction >> 32 * (63 - place) & _MASK32 for place in range(64)]


_DES_S1 = bytes.fromhex(  # FIPS 46-3, appendix 1: its four rows
    "0e040d01020f0b08030a060c05090007"
    "000f07040e020d010a060c0b09050308"
    "04010e080d06020b0f0c0907030a0500"
    "0f0c080204090107050b030e0a00060d"
)


def des_sbox1() -> list[int]:
    """FIPS 46-3, appendix 1: S1, and P. Words as the tables of implementations begin."""
    found = []
    for nibble in des_sbox1_values():
        # P sends the bits of S1 to the places 9, 17, 23, 31, counted from 1 and from the left.
        places = (9, 17, 23, 31)
        found.append(
            sum(1 << 32 - place for bit, place in enumerate(places) if nibble >> 3 - bit & 1)
        )
    return found


def des_sbox1_turned() -> list[int]:
    """The same, rotated to the left by one bit, as implementations keep it."""
    return [(word << 1 | word >> 31) & _MASK32 for word in des_sbox1()]


def des_sbox1_values() -> list[int]:
    """S1 by its six bits as a number, whose outer bits choose the row."""
    return [_DES_S1[16 * (value >> 4 & 2 | value & 1) + (value >> 1 & 15)] for value in range(64)]


def des_sbox1_reversed() -> list[int]:
    """The same, where the first bit of each number is the lowest."""
    values = des_sbox1_values()
    return [_reversed(values[_reversed(number, 6)], 4) for number in range(64)]


def camellia_sbox() -> list[int]:
    """RFC 3713, 2.4.1: the S-box is an affine map around the inverse in GF(2^8)."""
    return [int(text, 16) for text in _CAMELLIA.split()]


_CAMELLIA = "70 82 2c ec b3 27 c0 e5 e4 85 57 35 ea 0c ae 41 23 ef 6b 93 45 19 a5 21 ed 0e 4f 4e"


def camellia_1110() -> list[int]:
    """RFC 3713, 2.4.1: the first words of SP1, the S-box in three of four bytes."""
    return [value * 0x01010100 for value in camellia_sbox()]


def camellia_4404() -> list[int]:
    """Words of SP with the S-box in the bytes 0, 1 and 3."""
    return [value * 0x01010001 for value in camellia_sbox()]


def kyber_zetas() -> list[int]:
    """FIPS 203, appendix A: powers of 17 modulo 3329, in the order of reversed bits."""
    return [pow(17, _reversed(number, 7), 3329) for number in range(128)]


def kyber_montgomery_zetas() -> list[int]:
    """The same times 2^16, as signed numbers, as the reference code of Kyber has them."""
    found = [zeta * 65536 % 3329 for zeta in kyber_zetas()]
    return [(zeta if zeta <= 1664 else zeta - 3329) & 0xFFFF for zeta in found]


def dilithium_zetas() -> list[int]:
    """FIPS 204, appendix B: powers of 1753 modulo 8380417, times 2^32, signed."""
    modulus = 8380417
    found = [pow(1753, _reversed(number, 8), modulus) * 2**32 % modulus for number in range(256)]
    return [(zeta if zeta <= modulus // 2 else zeta - modulus) & _MASK32 for zeta in found]


def _reversed(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2)


def aria_words(place: int) -> list[int]:
    """RFC 5794, 2.4.2 and 2.4.3: S1 is that of AES; words have it in three of four bytes."""
    factor = 0x01010101 ^ 1 << 8 * place
    return [value * factor for value in aes_sbox()]


def sm3_t() -> list[int]:
    """GB/T 32905-2016, 4.2 and 5.3.3: T of each round, rotated by the round's number."""
    words = [0x79CC4519] * 16 + [0x7A879D8A] * 48
    turned = enumerate(words)
    return [(word << n % 32 | word >> (32 - n % 32)) & _MASK32 for n, word in turned]


def sm4_t(turn: int) -> list[int]:
    """GB/T 32907-2016, 6.2.2: the S-box, and L. The first words of the table that joins them."""
    found = []
    for value in _SM4:
        word = value << 24 - 8 * turn
        turned = [(word << n | word >> (32 - n)) & _MASK32 for n in (2, 10, 18, 24)]
        found.append(word ^ turned[0] ^ turned[1] ^ turned[2] ^ turned[3])
    return found


_SM4 = bytes.fromhex("d690e9fecce13db716b614c228fb2c05")


def gost_sbox() -> list[int]:
    """RFC 6986, 6.2: the first bytes of the S-box of Streebog, which Kuznyechik shares."""
    return list(_GOST)


def kuznyechik_ls(place: int) -> list[int]:
    """RFC 7801, 4.2 and 4.3: L of the S-box's first values in one byte, as words of 64 bits."""
    found = []
    for value in _GOST:
        state = [value if at == place else 0 for at in range(16)]
        for _ in range(16):
            products = (_times(*pair, 0x1C3) for pair in zip(state, _KUZNYECHIK_L, strict=True))
            state = [reduce(xor, products), *state[:15]]
        found += [int.from_bytes(bytes(state[at : at + 8]), "little") for at in (0, 8)]
    return found


_KUZNYECHIK_L = (148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148, 1)


def magma_pairs() -> list[int]:
    """RFC 8891, 4.1: two S-boxes of four bits as one of bytes."""
    return _gost_pairs(_MAGMA, 0)


def magma_words() -> list[int]:
    """RFC 8891, 4.2: the same, rotated by 11 bits."""
    return gost_words(_MAGMA, 0)


def gost_words(boxes: Sequence[bytes], place: int) -> list[int]:
    """Two S-boxes for one byte of a word, and the rotation by 11 bits."""
    words = [pair << 8 * place for pair in _gost_pairs(boxes, place)]
    return [(word << 11 | word >> 21) & _MASK32 for word in words]


def _gost_pairs(boxes: Sequence[bytes], place: int) -> list[int]:
    low, high = boxes[2 * place], boxes[2 * place + 1]
    return [high[value >> 4] << 4 | low[value & 15] for value in range(256)]


_MAGMA = (
    bytes.fromhex("0c0406020a050b090e080d0700030f01"),
    bytes.fromhex("06080203090a050c010e04070b0d000f"),
)


def _boxes(*rows: str) -> tuple[bytes, ...]:
    return tuple(bytes(int(digit, 16) for digit in row) for row in rows)


# RFC 4357, 11.2: the S-boxes of GOST R 34.11-94 for tests, and those of CryptoPro.
_GOST_TEST = _boxes(
    "4A92D80E6B1C7F53", "EB4C6DFA23810759", "581DA342EFC7609B", "7DA1089FE46CB253",
    "6C715FD84A9E03B2", "4BA0721D36859CFE", "DB413F590AE7682C", "1FD057A4923E6B8C",
)  # fmt: skip
_GOST_CRYPTOPRO = _boxes(
    "A4568137DCE092BF", "5F402DB91763CEA8", "7FCE94103B52A68D", "4A7C0F28E165BD93",
    "764B9C2A180EFD35", "7624D9F0A15B8EC3", "DE41705A3C8F629B", "13A95B4F867ED02C",
)  # fmt: skip
_GOST = bytes.fromhex("fceedd11cf6e3116fbc4fada23c5044de977f0db932e99ba1736f1bb14cd5fc1")


MAKERS: Mapping[str, Callable[[], list[int]]] = {
    "aes_sbox": aes_sbox,
    "aes_inverse_sbox": aes_inverse_sbox,
    **{f"aes_te{turn}": partial(aes_te, turn) for turn in range(4)},
    **{f"aes_td{turn}": partial(aes_td, turn) for turn in range(4)},
    **{f"aria_words{place}": partial(aria_words, place) for place in range(4)},
    "groestl_t0": groestl_t0,
    "ghash_four_bits": ghash_four_bits,
    "ghash_four_bits_high64": lambda: [entry << 48 for entry in ghash_four_bits()],
    "ghash_four_bits_high32": lambda: [entry << 16 for entry in ghash_four_bits()],
    "ghash_eight_bits": ghash_eight_bits,
    "sha256_k": sha256_k,
    "sha512_k": sha512_k,
    "md5_t": md5_t,
    "keccak_rc": keccak_rc,
    "sm3_t": sm3_t,
    **{f"sm4_t{turn}": partial(sm4_t, turn) for turn in range(4)},
    "kuznyechik_first": partial(kuznyechik_ls, 0),
    "kuznyechik_last": partial(kuznyechik_ls, 15),
    "magma_pairs": magma_pairs,
    "magma_words": magma_words,
    **{f"gost_test_words{place}": partial(gost_words, _GOST_TEST, place) for place in range(4)},
    **{f"gost_cryptopro_words{n}": partial(gost_words, _GOST_CRYPTOPRO, n) for n in range(4)},
    "gost_sbox": gost_sbox,
    "crc32": crc32,
    "crc32c": crc32c,
    "crc64_xz": crc64_xz,
    "pi_words": pi_words,
    "des_sbox1": des_sbox1,
    "des_sbox1_rows": lambda: list(_DES_S1),
    "des_sbox1_values": des_sbox1_values,
    "des_sbox1_reversed": des_sbox1_reversed,
    "des_sbox1_turned": des_sbox1_turned,
    "camellia_sbox": camellia_sbox,
    "camellia_1110": camellia_1110,
    "camellia_4404": camellia_4404,
    "kyber_zetas": kyber_zetas,
    "kyber_montgomery_zetas": kyber_montgomery_zetas,
    "dilithium_zetas": dilithium_zetas,
}
