# SPDX-License-Identifier: MIT
"""The cost of pointer authentication in emulators of Arm, end to end.

Programs that sign their return addresses run under every emulator and algorithm that is asked for,
in turn; what they print has to be equal, and the time of each is compared with that of none.

    emulator = identify(context, ("qemu-aarch64",), "qemu-aarch64")   # everycore.pauth.emulators
    program = make(context, "recursion", COMPILER, update=False)     # everycore.pauth.programs
    run_in_turn(context, program, 1.0, variants_of(emulator, ("off", "impdef", "qarma5")), rounds=3)

emulators, programs, counting and interleaved_runs start processes; table only formats values. boot
does the same for a whole system.
"""
