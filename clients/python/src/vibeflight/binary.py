"""Finds the program vibeflight, which serves files."""

from __future__ import annotations

import os
import pathlib
import shutil
import sysconfig

from .errors import NotStarted

VARIABLE = "VIBEFLIGHT_BINARY"
PROGRAM = "vibeflight.exe" if os.name == "nt" else "vibeflight"


def binary() -> str:
    """Returns the path of the program: VIBEFLIGHT_BINARY, or that of this package, of this Python environment, or of PATH. Without any: NotStarted."""
    named = os.environ.get(VARIABLE)
    if named:
        if not _is_program(named):
            raise NotStarted(f"{VARIABLE}={named}: no program is there")
        return named
    for folder in (pathlib.Path(__file__).parent / "bin", pathlib.Path(sysconfig.get_path("scripts"))):
        if _is_program(folder / PROGRAM):
            return str(folder / PROGRAM)
    found = shutil.which(PROGRAM)
    if found is None:
        raise NotStarted(f"the program vibeflight is not found: pip install vibeflight brings it, or {VARIABLE} names it")
    return found


def _is_program(path: str | pathlib.Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
