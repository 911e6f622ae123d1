# SPDX-License-Identifier: MIT
"""Subjects x toolchains x flags x targets: cells that are compiled, checked, counted and timed.

One cell, now, with nothing else running; objects and programs are cached by their contents:

    tools, resolver = CellTools(context, tree), Resolver(tree, toolchains, host_cpu)
    pipeline = CellPipeline(tools, resolver, Timer(tools, cpus=(1,)))
    cell = pipeline.resolve(Cell("linux-6.1", "generic-cbc-enc", "gcc-12", ("-O2",)))
    result = pipeline.measure(cell)
    result.outcome, result.cycles_per_byte, result.reason
    checked = pipeline.prepare(cell)  # no more than compiled, linked and checked; or a Result
    checked.compiled.program, checked.compiled.objects  # to look at its code, or trace it

Many cells: plan.plan says which there are, cell_runs.Run does them, matrix_files.Writer keeps them.
A later step is a function of the results and of the workbench, and gives more lines.
"""
