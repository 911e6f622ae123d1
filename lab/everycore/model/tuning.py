# SPDX-License-Identifier: MIT
"""Judge the kernels that selection takes by times that were measured."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import median

from everycore.environment.decoding import Record
from everycore.model.protocol import Mode, Resolved
from everycore.model.selection import selected_kernel
from everycore.model.stats import FEWEST, Figure, figure

MOST_LOSS = 0.05  # of time, by which a selected kernel may be slower than the fastest
TUNING = "tune-"  # how names of features begin that say what is fast on a core
SERIAL_MODES = ("qarma5",)  # modes of primitives other than AES that are chains of calls
WIDEST = 0.10  # of a ratio of times: the interval of its processes may be so wide

# Classes of CPUs, by the features of a measured one that they lack. Patterns of names.
_AVX512 = ("avx512*",)
_VAES = (*_AVX512, "vaes", "vpclmulqdq")
_AVX = (*_VAES, "avx", "avx2", "bmi2", "adx", "gfni")
_AES = (*_AVX, "aes", "pclmul")
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
        many = f" x {self.messages}" if self.messages > 1 else ""
        return f"{self.mode} {self.bytes} B{many}"

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
        """Return the name of the kernel that is selected; "": no kernel serves the mode."""
        if operation.primitive in ("aes", "gcm"):
            return selected_kernel(operation.mode, operation.primitive, self.modes)
        return next((r.kernel or "" for r in self.uses if _serves(r, operation)), "")

    def candidates(self, operation: Operation) -> set[str]:
        """Return the kernels that the features and the use allow, whatever the bits of tuning."""
        use = self._use(operation)
        for resolved in self.permitted:
            if resolved.primitive == operation.primitive and resolved.use == use:
                behind = {s.kernel for s in resolved.skipped if s.why == "rank"}
                return behind | {resolved.kernel or ""}
        return set()

    def _use(self, operation: Operation) -> str:
        if operation.primitive == "aes":
            for name in (operation.mode, operation.mode.partition("-")[0]):
                for mode in self.modes:
                    if mode.algorithm == f"{name}(aes)":
                        return mode.uses[0]
        return _use_of(operation)


def _use_of(operation: Operation) -> str:
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
    """Return the choice of each operation that a kernel serves and that was measured."""
    found = []
    for operation, measured in times.items():
        selected = rule.selected(operation)
        candidates = rule.candidates(operation) & measured.keys()
        if selected and candidates:
            found.append(_choice(hardware, operation, selected, candidates, measured))
    return found


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
    names = sorted(name for name in candidates | {selected} if measured[name])
    if selected not in names:
        return choice.replace(undecided=f"another program used the core of {selected}")
    fastest = min(names, key=lambda name: median(measured[name].values()))
    ratio = _ratio(measured[selected], measured[fastest])
    loss = ratio.median - 1 if ratio else 0.0
    return choice.replace(
        fastest=fastest, loss=loss, undecided=_doubt(ratio, f"{selected} and {fastest}")
    )


def _ratio(mine: Times, best: Times) -> Figure | None:
    """Return the ratio of two times, each of its values within one process."""
    return figure([mine[process] / best[process]] for process in mine if process in best)


def _doubt(ratio: Figure | None, names: str) -> str:
    """Return why the next run may tell another ratio; "": it stands."""
    if ratio is None or ratio.processes < FEWEST:
        return f"fewer than {FEWEST} processes had the core alone for {names}"
    if ratio.width > WIDEST:
        return f"the ratios of {names} differ by {ratio.width:.0%} between processes"
    if ratio.median > 1 + MOST_LOSS and ratio.low <= 1:
        return f"{names} are not told apart"
    return ""


def worst(found: Iterable[Choice]) -> Choice | None:
    """Return the choice with the largest loss of those that are decided."""
    return max((one for one in found if not one.undecided), key=lambda one: one.loss, default=None)
