"""``NAME.oracle.json``: what torch itself counted in the run of a trace."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tracetui.errors import CaptureError

ENDING: Final = ".oracle.json"


def oracle_path(trace: Path) -> Path:
    """Return where the oracle of ``NAME.json.gz`` lies."""
    return trace.with_name(trace.name.partition(".json")[0] + ENDING)


def write_oracle(trace: Path, averages: Iterable[Any], n_steps: int) -> Path:
    """Write torch's table beside a trace: calls, total and self on the host, by name.

    Raises:
        CaptureError: It cannot be written.
    """
    import torch

    rows = [
        {
            "name": row.key,
            "is_annotation": bool(row.is_user_annotation),
            "count": row.count,
            "total_us": round(row.cpu_time_total, 3),
            "self_us": round(row.self_cpu_time_total, 3),
        }
        for row in averages
        # Where there is a device its kernels have rows of their own.
        if row.device_type.name == "CPU"
    ]
    document = {
        "trace": trace.name,
        "torch": str(torch.__version__).partition("+")[0],
        "steps": n_steps,
        "key_averages": sorted(rows, key=lambda row: str(row["name"])),
    }
    path = oracle_path(trace)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        reason = (error.strerror or type(error).__name__).lower()
        raise CaptureError(f"{path}: {reason}: the oracle was not written") from error
    return path
