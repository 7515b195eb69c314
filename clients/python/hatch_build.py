"""Adds the program vibeflight to a wheel. packaging/wheel names it in the environment; without, the wheel is pure Python."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface):  # type: ignore[misc,type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        program = os.environ.get("VIBEFLIGHT_WHEEL_PROGRAM")
        if not program or version == "editable":
            return
        # pip copies scripts to the folder of the environment's commands.
        build_data["shared_scripts"][program] = Path(program).name
        build_data["pure_python"] = False
        build_data["tag"] = os.environ["VIBEFLIGHT_WHEEL_TAG"]
        # The spatial extension of the DuckDB that the program embeds; extensions fit one version only.
        if duckdb := os.environ.get("VIBEFLIGHT_WHEEL_DUCKDB"):
            build_data["dependencies"].append(f"duckdb-extension-spatial=={duckdb}")
