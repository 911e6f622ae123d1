# SPDX-License-Identifier: MIT
"""Plan the runs of the harness."""

from collections.abc import Sequence

from everycore.model.protocol import CtOperation


def arguments_for(operations: Sequence[CtOperation]) -> list[str]:
    """Return the harness's arguments for operations.

    It runs all operations of all kernels with all key sizes that are named.
    """
    chosen = {
        "--primitive": [o.primitive for o in operations],
        "--kernel": [o.kernel for o in operations],
        "--operation": [o.operation or "" for o in operations],
        "--key-bits": [str(o.key_bits) for o in operations],
    }
    words = [
        word for name, all_ in chosen.items() for word in (name, ",".join(dict.fromkeys(all_)))
    ]
    return ["ct", *words]


def by_key_size(operations: Sequence[CtOperation]) -> list[list[CtOperation]]:
    sizes = dict.fromkeys(o.key_bits for o in operations)
    return [[o for o in operations if o.key_bits == size] for size in sizes]


def with_largest_keys(operations: Sequence[CtOperation]) -> list[CtOperation]:
    largest: dict[str | None, CtOperation] = {}
    for operation in operations:
        if (
            operation.operation not in largest
            or operation.key_bits > largest[operation.operation].key_bits
        ):
            largest[operation.operation] = operation
    return [operation for operation in operations if operation in largest.values()]


def fewer_sizes(operations: Sequence[CtOperation], turn: int, parts: int) -> list[CtOperation]:
    """All operations of a kernel with the largest keys; one in `parts` with the others, too.

    `turn`, the number of the kernel, decides which.
    """
    names = list(dict.fromkeys(o.operation for o in operations))
    chosen = names[turn % parts :: parts]
    largest = with_largest_keys(operations)
    return [o for o in operations if o in largest or o.operation in chosen]


def sample(operations: Sequence[CtOperation], turn: int, parts: int) -> list[CtOperation]:
    """One in `parts` of a kernel's operations with the largest keys; one with a message among
    them, if there is any."""
    largest = with_largest_keys(operations)
    part = largest[turn % parts :: parts]
    messages = [o for o in largest if any(o.bytes)]
    if messages and not any(o in messages for o in part):
        part.append(messages[-1])
    return part
