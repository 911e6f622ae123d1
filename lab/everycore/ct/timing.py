# SPDX-License-Identifier: MIT
"""Are calls slower with some secrets? Welch's t-test, after Reparaz, Balasch, Verbauwhede 2017."""

from collections.abc import Iterator, Sequence
from math import copysign, inf, sqrt

from everycore.ct.run_plan import arguments_for
from everycore.ct.verdicts import Verdict
from everycore.environment.errors import EverycoreError
from everycore.model.protocol import Crop, CtOperation, CtTiming, Failure
from everycore.run.session import Session

# Goodwill and others 2011: |t| beyond 4.5 is chance less than once in 100 000 tests. The largest of
# six decides, one for each part of the calls.
SUSPICIOUS = 4.5
ALARM = 1 / 20_000  # chance that a verdict is a false alarm, at most


def timing(session: Session, operations: Sequence[CtOperation], samples: int) -> Iterator[Verdict]:
    """Verdicts on operations of one kernel."""
    arguments = [*arguments_for(operations), "--timing", "--samples", str(samples), *session.pinned]
    lines = {(o.kernel, o.operation, o.key_bits): o for o in operations}
    for record in session.records(*arguments):
        match record:
            case CtTiming() as line:
                if operation := lines.get((line.kernel, line.operation, line.key_bits)):
                    yield _verdict(operation, line)
            case Failure() as line:
                raise EverycoreError(f"{line.kernel} {line.operation}: {line.detail}", code=1)


def _verdict(operation: CtOperation, line: CtTiming) -> Verdict:
    if not line.crops:
        return Verdict(operation, "timing", "impossible", line.why)
    t, crop = max(((welch(c), c) for c in line.crops), key=lambda pair: abs(pair[0]))
    result = "fail" if abs(t) > SUSPICIOUS else "pass"
    share = f"the fastest {crop.kept:.0%}" if crop.kept < 1 else "all"
    detail = f"|t| {abs(t):.1f} over {share} of {sum(line.crops[0].samples)} calls"
    return Verdict(operation, "timing", result, detail, abs(t))


def welch(crop: Crop) -> float:
    """The difference of the two means in units of its standard error (Welch 1947)."""
    if min(crop.samples) < 2:
        return 0.0
    difference = crop.mean[1] - crop.mean[0]
    error = sqrt(sum(v / n for v, n in zip(crop.variance, crop.samples, strict=True)))
    if error == 0:  # every call of a class took the same time
        return copysign(inf, difference) if difference else 0.0
    return difference / error
