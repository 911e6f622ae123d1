# SPDX-License-Identifier: MIT
"""How a program can be run: an emulator, its CPU, and the algorithm that signs."""

from collections.abc import Sequence
from dataclasses import dataclass

from everycore.environment.errors import EverycoreError, unknown_name
from everycore.pauth.emulators import MODE, Emulator, clean
from everycore.pauth.programs import Program

OFF = "off"
IMPDEF = "impdef"
DEFAULT = ("off", "impdef", "qarma5")
CPUS = {
    "default": "",  # none is named
    "off": "max,pauth=off",
    "impdef": "max,pauth-impdef=on",
    "qarma5": "max,pauth-qarma5=on",
    "qarma3": "max,pauth-qarma3=on",
    "aes128": "max,pauth-aes128=on",
}

# Settings of a patched emulator, and their names in tables.
MODES = {"qemu": "own", "mac": "ours", "plain": "ours, all", "memo": "memo"}


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of a table."""

    emulator: Emulator
    algorithm: str
    cpu: str  # value of -cpu; "" for none
    mode: str = ""  # of a patched emulator

    @property
    def label(self) -> str:
        """The algorithm, and in patched emulators whose code computes it."""
        return f"{self.algorithm} {MODES[self.mode]}" if self.mode else self.algorithm

    @property
    def name(self) -> str:
        return f"{self.emulator.name} {self.label}"

    def command(self, program: Program, scale: float) -> list[str]:
        """Return the command that runs the program."""
        own = {MODE: self.mode} if self.mode else {}
        cpu = ("-cpu", self.cpu) if self.cpu else ()
        words = [*self.emulator.argv, *cpu, *program.words(scale)]
        return clean(words, {**program.settings, **own})


def variants_of(emulator: Emulator, algorithms: Sequence[str], demanded: bool) -> list[Variant]:
    """Those that it has. What was `demanded` and is not there is an error."""
    found = []
    for algorithm in dict.fromkeys(algorithms):
        if algorithm not in CPUS:
            raise unknown_name("algorithm", algorithm, CPUS)
        cpu = cpu_of(emulator, algorithm)
        if cpu is not None:
            modes = MODES if emulator.is_patched and algorithm != OFF else ("",)
            found += [Variant(emulator, algorithm, cpu, mode) for mode in modes]
        elif demanded:
            raise EverycoreError(
                f"{emulator.name} has no property 'pauth-{algorithm}' of the CPU 'max'",
                f"leave {algorithm} out: --algorithm {','.join(DEFAULT)}",
            )
    return found


def variants_of_all(
    emulators: Sequence[Emulator], algorithms: Sequence[str], demanded: bool
) -> list[Variant]:
    """Those of several emulators. A demanded algorithm has to be there in one of them."""
    chosen = dict.fromkeys(algorithms)
    there = {a for a in chosen if a in CPUS and any(cpu_of(e, a) is not None for e in emulators)}
    return [
        variant
        for emulator in emulators
        for algorithm in chosen
        for variant in variants_of(emulator, (algorithm,), demanded and algorithm not in there)
    ]


def cpu_of(emulator: Emulator, algorithm: str) -> str | None:
    """The value of -cpu; None if the emulator does not have the algorithm.

    QARMA5 is what `max` has in QEMU before 10.0, where no property names it (QEMU, Arm CPU
    Features, versions 9.2 and 10.0).
    """
    cpu = CPUS[algorithm]
    _, comma, setting = cpu.partition(",")
    if not comma or setting.split("=")[0] in emulator.properties:
        return cpu
    if algorithm == "qarma5":
        return "max,pauth=on"
    return None
