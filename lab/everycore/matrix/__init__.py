# SPDX-License-Identifier: MIT
"""Subjects x toolchains x flags x targets: cells that are compiled, checked, counted and timed.

One cell, now, with nothing else running; objects and programs are cached by their contents:

    bench = CellPipeline(context, tree, toolchains, place, cpus=(1,))  # everycore.matrix.make
    result = bench.measure(Cell("linux-6.1", "generic-cbc-enc", "gcc-12", ("-O2",)))
    result.outcome, result.cycles_per_byte, result.reason
    ready = bench.prepare(cell)  # no more than compiled, linked and checked; or a Result
    ready.program, ready.objects  # for those who look at its code, or trace it

Many cells: plan.plan says which there are, cell_runs.Run does them, matrix_files.Writer keeps them.
A later step is a function of the results and of the workbench, and gives more lines.
"""
