# SPDX-License-Identifier: MIT
"""The provider for OpenSSL on this machine: configurations that activate it, and who uses it.

`configuration` is pure; `libraries` asks OpenSSL's libraries and programs.
"""
