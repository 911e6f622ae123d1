# SPDX-License-Identifier: MIT
"""One side of a TLS connection over a socket that is inherited.

tls_peer.py DESCRIPTOR SIDE VERSION CIPHERS OPTIONS FOLDER

Both sides send messages of lengths that both know, and print the sum of what they received. The
last line is the version and cipher of the connection, and whether everycore.so is in this process.
"""

import hashlib
import random
import socket
import ssl
import sys
from pathlib import Path

LENGTHS = [random.Random(1).choice([1, 13, 100, 1400, 16384, 40000]) for _ in range(60)]


def context_of(side: str, version: str, ciphers: str, options: int, folder: Path) -> ssl.SSLContext:
    server = side == "server"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    if server:
        context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    else:
        context.check_hostname = False
        context.load_verify_locations(folder / "certificate.pem")
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    if version != "TLSv1_3":
        context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    context.options |= options
    return context


def main() -> None:
    descriptor, side, version, ciphers, options, folder = sys.argv[1:]
    context = context_of(side, version, ciphers, int(options, 16), Path(folder))
    sums = hashlib.sha256()
    with (
        socket.socket(fileno=int(descriptor)) as plain,
        context.wrap_socket(plain, server_side=side == "server") as channel,
    ):
        for number, length in enumerate(LENGTHS):
            message = random.Random(number).randbytes(length)
            if (number % 2 == 0) == (side == "server"):
                channel.sendall(message)
                continue
            received = b""
            while len(received) < length:
                part = channel.recv(length - len(received))
                if not part:
                    raise SystemExit("the other side ended")
                received += part
            if received != message:
                raise SystemExit(f"message {number} is not what was sent")
            sums.update(received)
        loaded = "everycore.so" in Path("/proc/self/maps").read_text()
        print(sums.hexdigest())
        print(
            channel.version(),
            (channel.cipher() or ("none",))[0],
            "everycore" if loaded else "default",
        )


if __name__ == "__main__":
    main()
