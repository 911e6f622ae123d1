# SPDX-License-Identifier: MIT
"""Choose where a command that measures prints, and where its samples go."""

from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from everycore.commands.options import tables_on_stderr
from everycore.environment.context import Context
from everycore.environment.outputs import is_standard_output
from everycore.model.run_lines import Run
from everycore.store import run_files


@dataclass(frozen=True, slots=True)
class SampleOutput:
    """The values of --out and --json, as far as they stand together."""

    context: Context  # prints tables on standard error if samples go to standard output
    json: bool  # never on standard output beside samples
    file: Path | None  # None: a new file in the folder of results
    stdout: IO[str]

    @classmethod
    def of(cls, context: Context, file: Path | None, json: bool) -> Self:
        """Return where to print; refuse a file that cannot be written."""
        if file:
            run_files.refuse_if_unusable(file)
        json = json and not is_standard_output(file)
        return cls(tables_on_stderr(context, file), json, file, context.out.file)

    def path_of(self, run: Run) -> Path:
        """Return the file that is named, or a new one in the folder of results."""
        folder = self.context.state_dir() / "results"
        return self.file or run_files.new_path(
            folder, self.context.now(), run.revision, run.command
        )

    def writer(self, run: Run, path: Path) -> run_files.Writer:
        return run_files.Writer(path, run, self.stdout)
