# SPDX-License-Identifier: MIT
"""Every anomaly of some results looked at again, and explained."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from everycore.matrix import anomalies
from everycore.matrix.anomalies import AnomalyGroup
from everycore.matrix.bisect import BisectOutcome, CellTrials, Switch, explain
from everycore.matrix.neighbours import family
from everycore.model.cells import Anomaly, Cell, Kind, Line, Result

Key = tuple[Cell, Kind]


@dataclass
class Explained:
    """Findings on the anomalies so far."""

    results: dict[Cell, Result]
    anomalies: dict[Key, Anomaly] = field(default_factory=dict)
    noise: list[str] = field(default_factory=list)  # what vanished when it was measured again
    failed: dict[Cell, Result] = field(default_factory=dict)  # right at first, and not again
    left: int = 0  # for which there was no time

    def anomaly_groups(self) -> list[AnomalyGroup]:
        return anomalies.anomaly_groups(list(self.anomalies.values()), self.results)


def explain_all(
    trials: CellTrials,
    results: dict[Cell, Result],
    stored: Sequence[Anomaly],
    write: Callable[[Line], None],
    step: Callable[[str], None] = lambda _: None,
    has_time: Callable[[], bool] = lambda: True,
    elsewhere: Callable[[Sequence[Anomaly]], Iterable[BisectOutcome]] = lambda _: (),
) -> Explained:
    """The heaviest first; what an earlier run has explained (`stored`) stands.

    `elsewhere` explains anomalies on other hosts; it is given the heaviest of each cause, and the
    others are then explained here, with the repairs that it found.
    """
    known = {(anomaly.cell, anomaly.kind): anomaly for anomaly in stored}
    explained = Explained(results)
    repairs: dict[tuple[str, Kind], list[Switch]] = {}
    anomaly_groups = anomalies.anomaly_groups(anomalies.find(results), results)
    worst = [
        group.worst for group in anomaly_groups if (group.worst.cell, group.worst.kind) not in known
    ]
    of_others = {
        (bisected.anomaly.cell, bisected.anomaly.kind): bisected for bisected in elsewhere(worst)
    }
    for anomaly_group in anomaly_groups:
        hopeless: list[Anomaly] = []
        for anomaly in anomaly_group.anomalies:
            key = (anomaly.cell, anomaly.kind)
            own = repairs.setdefault((family(results[anomaly.cell]), anomaly.kind), [])
            step(anomaly.cell.title)
            if key in known:
                found = known[key]
            elif key not in of_others and not has_time():
                explained.left += 1
                continue
            else:
                looked = of_others.get(key) or explain(
                    trials, anomaly, own[:4], not hopeless, has_time
                )
                _update(explained, looked, write)
                explained.left += looked.is_late
                if looked.is_noise or looked.failed or looked.is_late:
                    continue
                found = looked.anomaly
                write(found)
            explained.anomalies[key] = found
            if found.repair:
                own += [found.repair] if found.repair not in own else []
            else:
                hopeless.append(found)
    return explained


def _update(explained: Explained, looked: BisectOutcome, write: Callable[[Line], None]) -> None:
    """The rerun's samples are the ones that count: the first were chosen because they were odd."""
    for again in looked.again:
        old = explained.results.get(again.cell, again)
        new = old
        if again.outcome.is_failure:
            new = explained.failed[again.cell] = again.replace(flag_set=old.flag_set)
        elif again.runs:
            new = old.replace(runs=again.runs, shared=again.shared, outcome=again.outcome)
        if again.constant_time is not None:
            new = new.replace(verdicts=again.verdicts)
        if new != old:
            explained.results[again.cell] = new
            write(new)
    if looked.is_noise:
        explained.noise.append(f"{looked.anomaly.cell.title}: {looked.said}")
