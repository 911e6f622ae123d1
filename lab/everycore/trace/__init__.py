# SPDX-License-Identifier: MIT
"""The executed instructions and the data addresses of a run.

`native.native` follows a program on this CPU; it gives a `record.Run`.
"""
