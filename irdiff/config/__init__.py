"""Configuration: ``irdiff.toml`` or ``[tool.irdiff]`` of ``pyproject.toml``, found upwards from a folder."""

from __future__ import annotations

from irdiff.config.find import NAMES, find_config, read_config

__all__ = ["NAMES", "find_config", "read_config"]
