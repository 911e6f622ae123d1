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
A later pass is a function of the results and of the pipeline, and gives more lines.

A cell's way is one of values: a ResolvedCell (resolved_cell), a CompiledCell (compiled_cell), a
CheckedCell (checked_cell), then Timed (timed_cell) or a CountedCall (traced_call).
"""
