"""Makes an array job of a sweep: each task simulates its part, and the sweep called again collects."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

#: Slurm's default limit of an array's tasks is 1001.
MOST_TASKS = 1000


def script(sdsm: Path, spec: Path, folder: Path, tasks: int) -> str:
    """Returns a script for sbatch, from the folder that it is called in."""
    words: Sequence[str] = (str(sdsm), "sweep", "--quiet", str(spec.absolute()), "--output", str(folder.absolute()))
    return f"""#!/bin/bash
#SBATCH --job-name=sdsm-sweep
#SBATCH --array=1-{tasks}
#SBATCH --cpus-per-task=1
# Each task simulates its part of the points. Once all have ended, the same sweep without --slurm collects them.
exec {shlex.join(words)} --jobs "${{SLURM_CPUS_PER_TASK:-1}}" --part "$SLURM_ARRAY_TASK_ID/{tasks}"
"""
