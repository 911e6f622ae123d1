# SPDX-License-Identifier: MIT
"""A tiny archive of Debian in a folder, signed with a key that lives as long as the test."""

import hashlib
import io
import lzma
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DATE = "Thu, 01 Jan 2026 00:00:00 UTC"  # a day before the clock of the tests


@dataclass
class Key:
    """A key pair in a home of its own."""

    home: Path

    def make(self) -> "Key":
        self.home.mkdir(mode=0o700)
        words = [
            "--passphrase",
            "",
            "--quick-generate-key",
            "archive@example.org",
            "ed25519",
            "sign",
        ]
        self._gpg(*words, "never")
        self.keyring.write_bytes(self._gpg("--export"))
        return self

    @property
    def keyring(self) -> Path:
        return self.home / "archive.gpg"

    def sign(self, text: str) -> bytes:
        return self._gpg("--clearsign", stdin=text.encode())

    def close(self) -> None:
        """End the agent that gpg started for this home."""
        subprocess.run(["gpgconf", "--homedir", str(self.home), "--kill", "gpg-agent"], check=False)

    def _gpg(self, *words: str, stdin: bytes = b"") -> bytes:
        argv = ["gpg", "--homedir", str(self.home), "--batch", "--quiet", *words]
        return subprocess.run(argv, input=stdin, capture_output=True, check=True).stdout


@dataclass
class FakeArchive:
    """`add` packages, then `publish`: the suite "test" below `folder`."""

    folder: Path
    key: Key
    valid_until: str = ""
    packages: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    def add(
        self,
        name: str,
        version: str = "1.0",
        files: Mapping[str, str | bytes] | None = None,
        links: Mapping[str, str] | None = None,
        **fields: str,
    ) -> Path:
        """A package; fields: depends, pre_depends, provides."""
        path = f"pool/main/{name}_{version.replace(':', '%3a')}_amd64.deb"
        data = deb(tarball(files or {}, links or {}))
        self._write(path, data)
        facts = {"Package": name, "Version": version, "Architecture": "amd64", "Filename": path}
        facts |= {key.replace("_", "-").title(): value for key, value in fields.items()}
        facts |= {"Size": str(len(data)), "SHA256": hashlib.sha256(data).hexdigest()}
        self.packages.append(paragraph(facts))
        return self.folder / path

    def add_source(self, name: str, version: str, files: Mapping[str, bytes]) -> None:
        folder = f"pool/main/{name}"
        lines = ""
        for file, data in files.items():
            self._write(f"{folder}/{file}", data)
            lines += f"\n {hashlib.sha256(data).hexdigest()} {len(data)} {file}"
        facts = {
            "Package": name,
            "Version": version,
            "Directory": folder,
            "Checksums-Sha256": lines,
        }
        self.sources.append(paragraph(facts))

    def publish(self, suite: str = "test") -> "FakeArchive":
        indices = {
            "main/binary-amd64/Packages.xz": lzma.compress("\n\n".join(self.packages).encode()),
            "main/source/Sources.xz": lzma.compress("\n\n".join(self.sources).encode()),
        }
        sums = ""
        for path, data in indices.items():
            self._write(f"dists/{suite}/{path}", data)
            sums += f"\n {hashlib.sha256(data).hexdigest()} {len(data)} {path}"
        facts = {"Suite": suite, "Date": DATE, "Valid-Until": self.valid_until, "SHA256": sums}
        release = paragraph({key: value for key, value in facts.items() if value})
        self._write(f"dists/{suite}/InRelease", self.key.sign(release + "\n"))
        return self

    def remove(self, path: Path) -> None:
        path.unlink()
        self.packages = [p for p in self.packages if path.name not in p]

    def _write(self, path: str, data: bytes) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def paragraph(fields: Mapping[str, str]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in fields.items())


def tarball(files: Mapping[str, str | bytes], links: Mapping[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as tar:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(data)
            member.mode = 0o755 if "/bin/" in name else 0o644
            tar.addfile(member, io.BytesIO(data))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return out.getvalue()


def deb(data: bytes) -> bytes:
    """deb(5): an ar archive of a version, a tarball of control files and one of data."""
    out = b"!<arch>\n"
    members = {"debian-binary": b"2.0\n", "control.tar.xz": tarball({}), "data.tar.xz": data}
    for name, content in members.items():
        head = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n"
        out += head.encode() + content + b"\n" * (len(content) % 2)
    return out
