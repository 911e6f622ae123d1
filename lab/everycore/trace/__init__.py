# SPDX-License-Identifier: MIT
"""The executed instructions and the data addresses of a run.

`native.native` follows a program on this CPU, `emulated.qemu` one for another CPU under qemu-user;
both give a `record.Run`.
"""
