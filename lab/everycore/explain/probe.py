# SPDX-License-Identifier: MIT
"""A program of its own that times one operation of one library: probe.py LIBRARY FILE OPERATION

It prints a JSON object: bytes or operations per second. It runs alone, so that a library that
crashes takes nothing with it, and needs only Python. Numbers of algorithms are those of the
libraries' public headers.
"""

import ctypes
import json
import sys
import time
from collections.abc import Callable
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p

LENGTH = 16384
SECONDS = 0.12
ROUNDS = 3
Once = Callable[[], object]


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
        return lambda: lib.EVP_EncryptUpdate(context, out, byref(length), text, LENGTH)
    if operation == "sha256":
        lib.EVP_sha256.restype = c_void_p
        digest = c_void_p(lib.EVP_sha256())
        return lambda: lib.EVP_Digest(text, c_size_t(LENGTH), out, None, digest, None)
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
    return lambda: lib.BN_mod_exp_mont_consttime(result, base, exponent, prime, context, None)


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

        def sign() -> None:
            length.value = 512
            lib.EVP_PKEY_sign(context, out, byref(length), bytes(32), c_size_t(32))

        return sign
    pairs = [c_void_p(lib.EVP_PKEY_Q_keygen(None, None, c_char_p(b"X25519"))) for _ in range(2)]
    context = c_void_p(lib.EVP_PKEY_CTX_new(pairs[0], None))
    if lib.EVP_PKEY_derive_init(context) != 1:
        raise _CannotError
    if lib.EVP_PKEY_derive_set_peer(context, pairs[1]) != 1:
        raise _CannotError

    def derive() -> None:
        length.value = 512
        lib.EVP_PKEY_derive(context, out, byref(length))

    return derive


def _gcrypt(lib: ctypes.CDLL, operation: str) -> Once:
    lib.gcry_check_version(None)
    lib.gcry_control(38, 0)  # GCRYCTL_INITIALIZATION_FINISHED
    text = _buffer()
    if operation == "sha256":
        out = _buffer(64)
        return lambda: lib.gcry_md_hash_buffer(8, out, text, c_size_t(LENGTH))
    modes = {"aes-256-cbc": (3, 32), "aes-256-gcm": (9, 32), "aes-256-xts": (13, 64)}
    if operation not in modes:
        raise _CannotError
    mode, key_bytes = modes[operation]
    handle = c_void_p()
    if lib.gcry_cipher_open(byref(handle), 9, mode, 0):  # GCRY_CIPHER_AES256
        raise _CannotError
    lib.gcry_cipher_setkey(handle, bytes(range(key_bytes)), c_size_t(key_bytes))
    vector = 12 if "gcm" in operation else 16

    def encrypt() -> None:
        lib.gcry_cipher_setiv(handle, bytes(16), c_size_t(vector))
        lib.gcry_cipher_encrypt(handle, text, c_size_t(LENGTH), None, c_size_t(0))

    return encrypt


def _nettle(lib: ctypes.CDLL, operation: str) -> Once:
    text, state = _buffer(), _buffer(16384)
    place = c_void_p((ctypes.addressof(state) + 63) & ~63)
    if operation == "sha256":
        lib.nettle_sha256_init(place)
        return lambda: lib.nettle_sha256_update(place, c_size_t(LENGTH), text)
    if operation != "aes-256-gcm":
        raise _CannotError
    lib.nettle_gcm_aes256_set_key(place, bytes(32))

    def encrypt() -> object:
        lib.nettle_gcm_aes256_set_iv(place, c_size_t(12), bytes(12))
        lib.nettle_gcm_aes256_encrypt(place, c_size_t(LENGTH), text, text)
        return state  # it lives as long as its user

    return encrypt


class _Datum(ctypes.Structure):
    _fields_ = (("data", c_char_p), ("size", ctypes.c_uint))


def _gnutls(lib: ctypes.CDLL, operation: str) -> Once:
    text, out = _buffer(), _buffer(LENGTH + 64)
    if operation == "sha256":
        number = lib.gnutls_digest_get_id(b"SHA256")
        return lambda: lib.gnutls_hash_fast(number, text, c_size_t(LENGTH), out)
    if operation not in ("aes-256-gcm", "aes-256-cbc"):
        raise _CannotError
    number = lib.gnutls_cipher_get_id(operation.upper().encode())
    handle, size = c_void_p(), 12 if "gcm" in operation else 16
    key, vector = _Datum(bytes(range(32)), 32), _Datum(bytes(range(size)), size)
    if lib.gnutls_cipher_init(byref(handle), number, byref(key), byref(vector)):
        raise _CannotError
    sizes = c_size_t(LENGTH), c_size_t(LENGTH + 64)
    return lambda: lib.gnutls_cipher_encrypt2(handle, text, sizes[0], out, sizes[1])


def _sodium(lib: ctypes.CDLL, operation: str) -> Once:
    lib.sodium_init()
    text, out = _buffer(), _buffer(64)
    if operation == "sha256":
        return lambda: lib.crypto_hash_sha256(out, text, ctypes.c_ulonglong(LENGTH))
    if operation != "x25519":
        raise _CannotError
    point = bytes([9, *bytes(31)])
    return lambda: lib.crypto_scalarmult(out, bytes(range(32)), point)


def _mbed(lib: ctypes.CDLL, operation: str) -> Once:
    text, out, state = _buffer(), _buffer(64), _buffer(4096)
    if operation == "sha256":
        name = "mbedtls_sha256_ret" if hasattr(lib, "mbedtls_sha256_ret") else "mbedtls_sha256"
        hashes = getattr(lib, name)
        return lambda: hashes(text, c_size_t(LENGTH), out, 0)
    if operation != "aes-256-gcm":
        raise _CannotError
    lib.mbedtls_gcm_init(state)
    lib.mbedtls_gcm_setkey(state, 2, bytes(32), 256)  # MBEDTLS_CIPHER_ID_AES
    sizes = c_size_t(LENGTH), c_size_t(12), c_size_t(0), c_size_t(16)
    return lambda: lib.mbedtls_gcm_crypt_and_tag(
        state, 1, sizes[0], bytes(12), sizes[1], None, sizes[2], text, text, sizes[3], out
    )


OPERATIONS = {
    "OpenSSL": (
        *("aes-256-gcm", "aes-256-cbc", "aes-256-xts", "sha256", "rsa2048", "ffdh2048"),
        "x25519",
    ),
    "libgcrypt": ("aes-256-gcm", "aes-256-cbc", "aes-256-xts", "sha256"),
    "nettle": ("aes-256-gcm", "sha256"),
    "GnuTLS": ("aes-256-gcm", "aes-256-cbc", "sha256"),
    "libsodium": ("sha256", "x25519"),
    "mbed TLS": ("aes-256-gcm", "sha256"),
}
_LIBRARIES = {
    "OpenSSL": _openssl,
    "libgcrypt": _gcrypt,
    "nettle": _nettle,
    "GnuTLS": _gnutls,
    "libsodium": _sodium,
    "mbed TLS": _mbed,
}
PER_BYTE = ("aes-256-gcm", "aes-256-cbc", "aes-256-xts", "sha256")


def measure(once: Once, seconds: float = SECONDS) -> float:
    """Return calls per second of CPU time, of the best of some rounds."""
    once()
    best = 0.0
    for _ in range(ROUNDS):
        count, began = 0, time.process_time()  # other programs must not count
        while (spent := time.process_time() - began) < seconds:
            once()
            count += 1
        best = max(best, count / spent)
    return best


def main(words: list[str]) -> int:
    name, path, operation = words
    try:
        once = _LIBRARIES[name](ctypes.CDLL(path), operation)
        rate = measure(once)
    except (_CannotError, OSError, AttributeError) as error:
        print(json.dumps({"error": str(error) or "not available"}))
        return 0
    print(json.dumps({"rate": rate * (LENGTH if operation in PER_BYTE else 1)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
