# SPDX-License-Identifier: MIT
"""A program that asks a libcrypto who serves its algorithms: provider_probe.py LIBRARY

It is run by itself, for Python's own modules may load another libcrypto, and OpenSSL reads its
configuration once. Prints JSON.
"""

import ctypes
import json
import sys

ALGORITHMS = {
    "CIPHER": tuple(
        f"AES-{bits}-{mode}"
        for mode in ("GCM", "CTR", "CCM", "XTS", "ECB", "CBC", "WRAP", "WRAP-PAD", "GCM-SIV")
        for bits in (128, 192, 256)
        if (mode, bits) not in (("XTS", 192), ("GCM-SIV", 192))
    ),
    "MAC": ("CMAC", "HMAC"),
    "KDF": ("HKDF", "TLS13-KDF", "PBKDF2"),
}


def main() -> None:
    library = ctypes.CDLL(sys.argv[1])
    library.OpenSSL_version.restype = ctypes.c_char_p
    found: dict[str, object] = {"openssl": library.OpenSSL_version(0).decode(), "algorithms": {}}
    directory = library.OpenSSL_version(4).decode()  # OPENSSL_DIR: 'OPENSSLDIR: "/usr/lib/ssl"'
    found["directory"] = directory.partition('"')[2].rstrip('"')
    if not hasattr(library, "OSSL_PROVIDER_get0_name"):
        print(json.dumps(found))
        return
    found["modules"] = library.OpenSSL_version(8).decode().partition('"')[2].rstrip('"')
    for kind, names in ALGORITHMS.items():
        fetch = getattr(library, f"EVP_{kind}_fetch")
        whose = getattr(library, f"EVP_{kind}_get0_provider")
        fetch.restype = whose.restype = ctypes.c_void_p
        fetch.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
        whose.argtypes = [ctypes.c_void_p]
        name_of = library.OSSL_PROVIDER_get0_name
        name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
        for name in names:
            method = fetch(None, name.encode(), None)
            algorithms = found["algorithms"]
            assert isinstance(algorithms, dict)
            algorithms[name] = name_of(whose(method)).decode() if method else ""
    print(json.dumps(found))


if __name__ == "__main__":
    main()
