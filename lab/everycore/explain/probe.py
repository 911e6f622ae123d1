# SPDX-License-Identifier: MIT
"""A program of its own that times one operation of one library: probe.py LIBRARY FILE OPERATION

It prints a JSON object: bytes or operations per second of CPU time. Costs of a call, Python's own
among them, are taken away from operations on bytes, by the difference of two lengths. It runs
alone, so that a library that crashes takes nothing with it, and needs only Python. Numbers of
algorithms are those of the libraries' public headers.
"""

import ctypes
import json
import sys
import time
from collections.abc import Callable
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p

SHORT, LENGTH = 4096, 16384  # bytes; the longer one fits the first cache
SECONDS = 0.02
ROUNDS = 8
MOST_TURNS = 64  # calls between two looks at the clock
Once = Callable[[int], object]  # of a message of so many bytes; other operations have none


class _CannotError(Exception):
    """The library does not have the operation."""


def _buffer(length: int = LENGTH) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(length)


def _openssl(lib: ctypes.CDLL, operation: str) -> Once:
    """EVP interfaces of OpenSSL 1.1 and 3, and BN's powers."""
    ciphers = {"aes-256-gcm": "gcm", "aes-256-cbc": "cbc", "aes-256-xts": "xts"}
    text, out, key = _buffer(), _buffer(LENGTH + 64), bytes(range(64))
    if operation in ciphers:
        for name in ("EVP_CIPHER_CTX_new", f"EVP_aes_256_{ciphers[operation]}"):
            getattr(lib, name).restype = c_void_p
        context = c_void_p(lib.EVP_CIPHER_CTX_new())
        cipher = c_void_p(getattr(lib, f"EVP_aes_256_{ciphers[operation]}")())
        if not lib.EVP_EncryptInit_ex(context, cipher, None, key, bytes(16)):
            raise _CannotError
        length = c_int()
        return lambda n: lib.EVP_EncryptUpdate(context, out, byref(length), text, n)
    if operation == "sha256":
        lib.EVP_sha256.restype = c_void_p
        digest = c_void_p(lib.EVP_sha256())
        return lambda n: lib.EVP_Digest(text, c_size_t(n), out, None, digest, None)
    if operation == "ffdh2048":
        return _openssl_power(lib)
    return _openssl_key(lib, operation)


def _openssl_power(lib: ctypes.CDLL) -> Once:
    """A power of a secret exponent of 256 bits, modulo the prime of RFC 3526, group 14."""
    for name in ("BN_get_rfc3526_prime_2048", "BN_new", "BN_CTX_new", "BN_bin2bn"):
        getattr(lib, name).restype = c_void_p
    prime = c_void_p(lib.BN_get_rfc3526_prime_2048(None))
    result, context = c_void_p(lib.BN_new()), c_void_p(lib.BN_CTX_new())
    exponent = c_void_p(lib.BN_bin2bn(bytes([0xA5]) * 32, 32, None))
    base = c_void_p(lib.BN_bin2bn(bytes(range(1, 256)), 255, None))
    return lambda _: lib.BN_mod_exp_mont_consttime(result, base, exponent, prime, context, None)


def _openssl_key(lib: ctypes.CDLL, operation: str) -> Once:
    if operation not in ("rsa2048", "x25519") or not hasattr(lib, "EVP_PKEY_Q_keygen"):
        raise _CannotError
    lib.EVP_PKEY_Q_keygen.restype = lib.EVP_PKEY_CTX_new.restype = c_void_p
    out, length = _buffer(512), c_size_t(512)
    if operation == "rsa2048":
        pair = c_void_p(lib.EVP_PKEY_Q_keygen(None, None, c_char_p(b"RSA"), c_size_t(2048)))
        context = c_void_p(lib.EVP_PKEY_CTX_new(pair, None))
        if lib.EVP_PKEY_sign_init(context) != 1:
            raise _CannotError

        def sign(_: int) -> None:
            length.value = 512
            lib.EVP_PKEY_sign(context, out, byref(length), bytes(32), c_size_t(32))

        return sign
    pairs = [c_void_p(lib.EVP_PKEY_Q_keygen(None, None, c_char_p(b"X25519"))) for _ in range(2)]
    context = c_void_p(lib.EVP_PKEY_CTX_new(pairs[0], None))
    if lib.EVP_PKEY_derive_init(context) != 1:
        raise _CannotError
    if lib.EVP_PKEY_derive_set_peer(context, pairs[1]) != 1:
        raise _CannotError

    def derive(_: int) -> None:
        length.value = 512
        lib.EVP_PKEY_derive(context, out, byref(length))

    return derive


def _gcrypt(lib: ctypes.CDLL, operation: str) -> Once:
    lib.gcry_check_version(None)
    lib.gcry_control(38, 0)  # GCRYCTL_INITIALIZATION_FINISHED
    text = _buffer()
    if operation == "sha256":
        out = _buffer(64)
        return lambda n: lib.gcry_md_hash_buffer(8, out, text, c_size_t(n))
    modes = {"aes-256-cbc": (3, 32), "aes-256-gcm": (9, 32), "aes-256-xts": (13, 64)}
    if operation not in modes:
        raise _CannotError
    mode, key_bytes = modes[operation]
    handle = c_void_p()
    if lib.gcry_cipher_open(byref(handle), 9, mode, 0):  # GCRY_CIPHER_AES256
        raise _CannotError
    lib.gcry_cipher_setkey(handle, bytes(range(key_bytes)), c_size_t(key_bytes))
    vector = 12 if "gcm" in operation else 16

    def encrypt(n: int) -> None:
        lib.gcry_cipher_setiv(handle, bytes(16), c_size_t(vector))
        lib.gcry_cipher_encrypt(handle, text, c_size_t(n), None, c_size_t(0))

    return encrypt


def _nettle(lib: ctypes.CDLL, operation: str) -> Once:
    text, state = _buffer(), _buffer(16384)
    place = c_void_p((ctypes.addressof(state) + 63) & ~63)
    if operation == "sha256":
        lib.nettle_sha256_init(place)
        return lambda n: lib.nettle_sha256_update(place, c_size_t(n), text)
    if operation != "aes-256-gcm":
        raise _CannotError
    lib.nettle_gcm_aes256_set_key(place, bytes(32))

    def encrypt(n: int) -> object:
        lib.nettle_gcm_aes256_set_iv(place, c_size_t(12), bytes(12))
        lib.nettle_gcm_aes256_encrypt(place, c_size_t(n), text, text)
        return state  # it lives as long as its user

    return encrypt


class _Datum(ctypes.Structure):
    _fields_ = (("data", c_char_p), ("size", ctypes.c_uint))


def _gnutls(lib: ctypes.CDLL, operation: str) -> Once:
    text, out = _buffer(), _buffer(LENGTH + 64)
    if operation == "sha256":
        number = lib.gnutls_digest_get_id(b"SHA256")
        return lambda n: lib.gnutls_hash_fast(number, text, c_size_t(n), out)
    if operation not in ("aes-256-gcm", "aes-256-cbc"):
        raise _CannotError
    number = lib.gnutls_cipher_get_id(operation.upper().encode())
    handle, size = c_void_p(), 12 if "gcm" in operation else 16
    key, vector = _Datum(bytes(range(32)), 32), _Datum(bytes(range(size)), size)
    if lib.gnutls_cipher_init(byref(handle), number, byref(key), byref(vector)):
        raise _CannotError
    room = c_size_t(LENGTH + 64)
    return lambda n: lib.gnutls_cipher_encrypt2(handle, text, c_size_t(n), out, room)


def _sodium(lib: ctypes.CDLL, operation: str) -> Once:
    lib.sodium_init()
    text, out = _buffer(), _buffer(64)
    if operation == "sha256":
        return lambda n: lib.crypto_hash_sha256(out, text, ctypes.c_ulonglong(n))
    if operation != "x25519":
        raise _CannotError
    point = bytes([9, *bytes(31)])
    return lambda _: lib.crypto_scalarmult(out, bytes(range(32)), point)


def _mbed(lib: ctypes.CDLL, operation: str) -> Once:
    text, out, state = _buffer(), _buffer(64), _buffer(4096)
    if operation == "sha256":
        name = "mbedtls_sha256_ret" if hasattr(lib, "mbedtls_sha256_ret") else "mbedtls_sha256"
        hashes = getattr(lib, name)
        return lambda n: hashes(text, c_size_t(n), out, 0)
    if operation != "aes-256-gcm":
        raise _CannotError
    lib.mbedtls_gcm_init(state)
    lib.mbedtls_gcm_setkey(state, 2, bytes(32), 256)  # MBEDTLS_CIPHER_ID_AES
    vector, empty, tag = c_size_t(12), c_size_t(0), c_size_t(16)
    return lambda n: lib.mbedtls_gcm_crypt_and_tag(
        state, 1, c_size_t(n), bytes(12), vector, None, empty, text, text, tag, out
    )


OPERATIONS = {
    "OpenSSL": (
        "aes-256-gcm", "aes-256-cbc", "aes-256-xts", "sha256", "rsa2048", "ffdh2048",
        "x25519",
    ),
    "libgcrypt": ("aes-256-gcm", "aes-256-cbc", "aes-256-xts", "sha256"),
    "nettle": ("aes-256-gcm", "sha256"),
    "GnuTLS": ("aes-256-gcm", "aes-256-cbc", "sha256"),
    "libsodium": ("sha256", "x25519"),
    "mbed TLS": ("aes-256-gcm", "sha256"),
}  # fmt: skip
_LIBRARIES = {
    "OpenSSL": _openssl,
    "libgcrypt": _gcrypt,
    "nettle": _nettle,
    "GnuTLS": _gnutls,
    "libsodium": _sodium,
    "mbed TLS": _mbed,
}
PER_BYTE = ("aes-256-gcm", "aes-256-cbc", "aes-256-xts", "sha256")


# The primitives of each operation; others that a library shows beside them are helpers.
PRIMITIVES = {
    "aes-256-gcm": ("AES", "GHASH"),
    "aes-256-cbc": ("AES",),
    "aes-256-xts": ("AES",),  # tweaks are multiplied by carry-less products, which is no GHASH
    "sha256": ("SHA-256",),
}


def measure(once: Once, is_per_byte: bool) -> float:
    """Return bytes or calls per second of CPU time, of the best of some rounds."""
    times = {LENGTH: 1e9, SHORT: 1e9}
    for n_bytes in times:
        once(n_bytes)
    for _ in range(ROUNDS):  # both lengths see the same neighbours on the core
        for n_bytes, best in times.items():
            times[n_bytes] = min(best, _time_of(once, n_bytes))
    if not is_per_byte:
        return 1 / min(times.values())
    difference = times[LENGTH] - times[SHORT]
    return (LENGTH - SHORT) / difference if difference > 0 else LENGTH / times[LENGTH]


def _time_of(once: Once, n_bytes: int) -> float:
    """Return seconds of a call; the clock is asked after several, for it costs as much as one."""
    count, turns, began = 0, 1, time.process_time()  # other programs must not count
    while (spent := time.process_time() - began) < SECONDS:
        for _ in range(turns):
            once(n_bytes)
        count += turns
        turns = min(2 * turns, MOST_TURNS) if spent < SECONDS / 8 else turns
    return spent / count


def main(words: list[str]) -> int:
    name, path, operation = words
    try:
        once = _LIBRARIES[name](ctypes.CDLL(path), operation)
        rate = measure(once, operation in PER_BYTE)
    except (_CannotError, OSError, AttributeError) as error:
        absent = isinstance(error, _CannotError)
        print(json.dumps({"error": str(error) or "not available", "absent": absent}))
        return 0
    print(json.dumps({"rate": rate}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
