# SPDX-License-Identifier: MIT
"""Judge the kernels that selection takes by times that were measured."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import fnmatchcase

from everycore.environment.decoding import Record
from everycore.model.protocol import Mode, Resolved
from everycore.model.selection import algorithms_of, hash_of, selected_kernel, unit_of
from everycore.model.stats import FEWEST, Figure, figure

MOST_LOSS = 0.05  # of time, by which a selected kernel may be slower than the fastest
TUNING = "tune-"  # how names of features begin that say what is fast on a core
SERIAL_MODES = ("qarma5",)  # modes of primitives other than AES that are chains of calls
WIDEST = 0.10  # of a ratio of times: the interval of its processes may be so wide

# Classes of CPUs, by the features of a measured one that they lack. Patterns of names.
_AVX512 = ("avx512*",)
_VAES = (*_AVX512, "vaes", "vpclmulqdq")
_AVX = (*_VAES, "avx", "avx2", "bmi2", "adx", "gfni")
_AES = (*_AVX, "aes", "pclmul", "pmull")
CLASSES: Mapping[str, Sequence[str]] = {
    "all features": (),
    "no AVX-512": _AVX512,
    "no VAES": _VAES,
    "no AVX": _AVX,
    "no AES": _AES,
    "no SSSE3": (*_AES, "ssse3", "sse4.1"),
}


@dataclass(frozen=True, slots=True)
class Operation:
    """A mode, and a length of messages."""

    primitive: str
    mode: str
    bytes: int
    messages: int


class Choice(Record, frozen=True, tag="choice"):
    """The kernel that selection takes for an operation, and the fastest constant-time one."""

    hardware: str  # a name of CLASSES
    primitive: str
    mode: str
    bytes: int
    messages: int
    selected: str
    fastest: str = ""  # "": it is not known
    loss: float = 0.0  # 0.07: the selected one takes 7 % longer
    undecided: str = ""  # why the times do not tell

    @property
    def operation(self) -> str:
        """Return words for the mode and the length: "ctr 64 B"."""
        unit = "B" if unit_of(self.mode) == "byte" else f"{unit_of(self.mode)}s"
        many = f" x {self.messages}" if self.messages > 1 else ""
        return f"{self.mode} {self.bytes} {unit}{many}"

    @property
    def is_bad(self) -> bool:
        return not self.undecided and self.loss > MOST_LOSS


Times = Mapping[int, float]  # nanoseconds of an operation, by process; of a core of one's own


@dataclass(frozen=True, slots=True)
class Rule:
    """The answers of selection for one set of features, and every kernel that may serve."""

    modes: Sequence[Mode]
    uses: Sequence[Resolved]
    permitted: Sequence[Resolved]  # the answers if all bits of tuning are set

    def selected(self, operation: Operation) -> str:
        """Return the name of the row of what is selected; "": no kernel serves the mode.

        A row of two kernels has the names of both: row().
        """
        if operation.primitive == "aes":
            kernel = selected_kernel(operation.mode, "aes", self.modes)
            return row(kernel, self._partner(operation)) if kernel else ""
        if operation.primitive == "gcm":
            return selected_kernel(operation.mode, "gcm", self.modes)
        return next((r.kernel or "" for r in self.uses if _serves(r, operation)), "")

    def candidates(self, operation: Operation) -> set[str]:
        """Return the rows that the features and the use allow, whatever the bits of tuning.

        The second key of a mode has the kernel that is selected for it, or that of the first key.
        """
        use = self._use(operation)
        for resolved in self.permitted:
            if resolved.primitive == operation.primitive and resolved.use == use:
                kernels = {s.kernel for s in resolved.skipped if s.why == "rank"}
                kernels.add(resolved.kernel or "")
                return kernels | {row(name, self._partner(operation)) for name in kernels}
        return set()

    def _use(self, operation: Operation) -> str:
        mode = self._mode(operation)
        return mode.uses[0] if mode else _use_of(operation)

    def _partner(self, operation: Operation) -> str:
        mode = self._mode(operation)
        return (mode.kernels[1] or "") if mode and len(mode.kernels) > 1 else ""

    def _mode(self, operation: Operation) -> Mode | None:
        if operation.primitive == "aes":
            for name in algorithms_of(operation.mode):
                for mode in self.modes:
                    if mode.algorithm == f"{name}(aes)":
                        return mode
        return None


def row(kernel: str, partner: str) -> str:
    """Return the name of a row: the kernel, and the one of the mode's second key if it differs."""
    return f"{kernel}+{partner}" if partner and partner != kernel else kernel


def _use_of(operation: Operation) -> str:
    if operation.primitive == "sha2":
        return hash_of(operation.mode)
    return "serial" if operation.mode in SERIAL_MODES else "parallel"


def _serves(resolved: Resolved, operation: Operation) -> bool:
    return resolved.primitive == operation.primitive and resolved.use == _use_of(operation)


def without(features: Iterable[str], lacks: Sequence[str]) -> list[str]:
    """Return the features that fit none of the patterns."""
    return [name for name in features if not any(fnmatchcase(name, one) for one in lacks)]


def classes_of(features: Sequence[str]) -> dict[str, list[str]]:
    """Return the features of each class that differs from the ones before it."""
    found: dict[str, list[str]] = {}
    for name, lacks in CLASSES.items():
        kept = without(features, lacks)
        if kept not in found.values():
            found[name] = kept
    return found


def choices(
    hardware: str, rule: Rule, times: Mapping[Operation, Mapping[str, Times]]
) -> list[Choice]:
    """Return the choice of each operation that a kernel serves and that was measured.

    A machine measures each kernel beside the partner that it selects itself. If a class of CPUs
    selects another partner, nothing was measured that could be judged.
    """
    found = []
    for operation, measured in times.items():
        selected = rule.selected(operation)
        candidates = rule.candidates(operation) & measured.keys()
        if selected and candidates and not _has_other_partner(operation, selected, measured):
            found.append(_choice(hardware, operation, selected, candidates, measured))
    return found


def _has_other_partner(operation: Operation, selected: str, measured: Mapping[str, Times]) -> bool:
    if operation.primitive != "aes" or selected in measured:
        return False
    kernel = selected.partition("+")[0]
    return any(name.partition("+")[0] == kernel for name in measured)


def _choice(
    hardware: str,
    operation: Operation,
    selected: str,
    candidates: AbstractSet[str],
    measured: Mapping[str, Times],
) -> Choice:
    choice = Choice(
        hardware,
        operation.primitive,
        operation.mode,
        operation.bytes,
        operation.messages,
        selected,
    )
    if selected not in measured:
        return choice.replace(undecided=f"{selected} was not measured")
    if not measured[selected]:
        return choice.replace(undecided=f"no process has undisturbed samples of {selected}")
    ratios = {
        name: ratio
        for name in sorted(candidates | {selected})
        if (ratio := _ratio(measured[selected], measured[name]))
    }
    # The selected kernel wins against equal ones.
    fastest = max(ratios, key=lambda name: (ratios[name].median, name == selected))
    return choice.replace(
        fastest=fastest,
        loss=ratios[fastest].median - 1,
        undecided=_doubt(ratios[fastest], " and ".join(dict.fromkeys((selected, fastest)))),
    )


def _ratio(mine: Times, best: Times) -> Figure | None:
    """Return the ratio of two times, each of its values within one process; None: none has both."""
    return figure([mine[process] / best[process]] for process in mine if process in best)


def _doubt(ratio: Figure, names: str) -> str:
    """Return why the next run may tell another ratio; "": it stands.

    It is decided, too, if the processes differ, but each alone tells a bad choice.
    """
    if ratio.processes < FEWEST:
        return f"fewer than {FEWEST} processes have undisturbed samples of {names}"
    if ratio.low > 1 + MOST_LOSS:
        return ""
    if ratio.width > WIDEST:
        return f"the ratios of {names} differ by {ratio.width:.0%} between processes"
    if ratio.median > 1 + MOST_LOSS and ratio.low <= 1:
        return f"{names} are not told apart"
    return ""


def worst(found: Iterable[Choice]) -> Choice | None:
    """Return the choice with the largest loss of those that are decided."""
    return max((one for one in found if not one.undecided), key=lambda one: one.loss, default=None)
