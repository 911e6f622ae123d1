# SPDX-License-Identifier: MIT
"""Programs for Linux on x86-64, on a CPU model of Bochs: what a model says and computes, not how
fast it is.

`bochs_core` binds the library, `guest_memory` has the pages, `guest_program` puts an ELF file and
its stack there, `system_calls` serves them, `guest_process` runs all of it; `execute` is the
command.
"""
