# SPDX-License-Identifier: MIT
"""Find an archive: the mirrors of the system's own apt, or the one that a setting names.

urllib.request and http.client are imported where they are used: commands that ask no archive start
in half the time.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import quote, urlsplit

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, UnavailableError

SETTING = "EVERYCORE_MIRROR"
SETTING_HINT = f"{SETTING}=URL names a mirror of Debian (or a folder with one)"
TIMEOUT_SECONDS = 60
SCHEMES = ("http", "https", "file")
# Names the default archive of the distribution; apt's own package brings it.
EXAMPLE = Path("/usr/share/doc/apt/examples/sources.list")
ABSENT = (403, 404, 410)  # some stores answer 403 for what they do not have


@dataclass(frozen=True, slots=True)
class Mirror:
    """An archive: dists/ and pool/ are below `url`."""

    url: str
    proxy: str = ""

    def open(self, path: str) -> BinaryIO | None:
        """A file of the archive; None if the archive does not have it."""
        import urllib.request
        from http.client import HTTPException

        proxies = {urlsplit(self.url).scheme: self.proxy} if self.proxy else {}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
        try:
            return cast(BinaryIO, opener.open(f"{self.url}/{quote(path)}", timeout=TIMEOUT_SECONDS))
        except urllib.error.HTTPError as error:
            if error.code in ABSENT:
                return None
            raise self.unreachable(f"{error.code} {error.reason}") from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, FileNotFoundError | NotADirectoryError):
                return None
            raise self.unreachable(str(error.reason)) from error
        except (OSError, HTTPException) as error:
            raise self.unreachable(str(error)) from error

    def read(self, path: str) -> bytes | None:
        """Return the contents of a file of the archive."""
        from http.client import HTTPException

        response = self.open(path)
        if response is None:
            return None
        try:
            with response:
                return response.read()
        except (OSError, HTTPException) as error:
            raise self.unreachable(str(error)) from error

    def unreachable(self, reason: str) -> UnavailableError:
        hint = f"is there a network? {SETTING_HINT}"
        return UnavailableError(f"cannot read the mirror {self.url}: {reason}", hint)


def find_mirrors(context: Context, example: Path = EXAMPLE) -> list[Mirror]:
    """The mirror of the setting, else those of apt in the order of its configuration.

    Where apt has no sources, the first archive of `example`, the list that apt's package shows.
    """
    if setting := context.env.get(SETTING, ""):
        return [_mirror(context, _as_url(setting))]
    urls = [url for url in _of_apt(context) if urlsplit(url).scheme in SCHEMES]
    if not urls:
        urls = _default_archive(example)
        for url in urls:
            context.warn(f"apt has no sources here; using its default archive, {url}")
    if not urls:
        raise UnavailableError(
            "no mirror of Debian is known: apt has no sources, and no example of them", SETTING_HINT
        )
    return [_mirror(context, url) for url in urls]


def apt_settings(context: Context, names: Sequence[str]) -> dict[str, str]:
    """Return apt's settings with these names; none where there is no apt."""
    words = [word for i, name in enumerate(names) for word in (f"V{i}", name)]
    found = dict(
        word.split("=", 1) for word in shlex.split(_said(context, "apt-config", "shell", *words))
    )
    return {name: found[f"V{i}"] for i, name in enumerate(names) if found.get(f"V{i}")}


def _of_apt(context: Context) -> list[str]:
    output = _said(
        context, "apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"
    )
    return list(
        dict.fromkeys(line.strip().rstrip("/") for line in output.splitlines() if line.strip())
    )


def _default_archive(example: Path) -> list[str]:
    try:
        text = example.read_text(encoding="utf-8")
    except OSError:
        return []
    found = re.search(r"^deb(?:\s+\[[^\]]*\])?\s+(https?://\S+)", text, re.MULTILINE)
    return [found[1].rstrip("/")] if found else []


def _said(context: Context, *argv: str) -> str:
    try:
        done = context.runner.run(argv)
    except EverycoreError:  # a system without apt
        return ""
    return done.stdout if done.code == 0 else ""


def _as_url(setting: str) -> str:
    if urlsplit(setting).scheme in SCHEMES:
        return setting.rstrip("/")
    folder = Path(setting)
    if not folder.is_dir():
        raise EverycoreError(f"{SETTING}={setting} is no URL and no folder", SETTING_HINT)
    return folder.resolve().as_uri()


def _mirror(context: Context, url: str) -> Mirror:
    """apt's proxy for that host, else its proxy for the scheme, else the environment's."""
    scheme, host = urlsplit(url).scheme, urlsplit(url).hostname or ""
    if scheme == "file":
        return Mirror(url)
    names = (f"Acquire::{scheme}::Proxy::{host}", f"Acquire::{scheme}::Proxy")
    settings = apt_settings(context, names)
    for proxy in (settings.get(name, "") for name in names):
        if proxy:
            return Mirror(url, "" if proxy == "DIRECT" else proxy)
    return Mirror(url, context.env.get(f"{scheme}_proxy", ""))
