# SPDX-License-Identifier: MIT
"""The version of this package."""

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """Return the installed package's version; "" in a tree that is not installed."""
    try:
        return version("everycore")
    except PackageNotFoundError:
        return ""
