"""The policies that come with nodewise."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from nodewise.ground.errors import UnknownNameError
from nodewise.policy.file import load_policy
from nodewise.policy.network import Policy

__all__ = ["DEFAULT_POLICY", "find_policy", "shipped_policies"]

DEFAULT_POLICY = "cora+citeseer"


def shipped_policies() -> dict[str, Path]:
    """Every shipped policy's file by name."""
    folder = Path(str(files("nodewise.policy"))) / "shipped"
    return {path.name.removesuffix(".safetensors"): path for path in sorted(folder.glob("*.safetensors"))}


def find_policy(name_or_file: str | Path | None = None) -> Policy:
    """A policy by its shipped name or from a file; the default one for None.

    Raises:
        UnknownNameError: it is neither a shipped policy's name nor a file.
        PolicyFileError: the file cannot be used.
    """
    wanted = str(name_or_file or DEFAULT_POLICY)
    shipped = shipped_policies()
    if wanted in shipped:
        return load_policy(shipped[wanted])
    if Path(wanted).suffix != ".safetensors" and not Path(wanted).exists():
        raise UnknownNameError("policy", wanted, shipped, "Or give a .safetensors file.")
    return load_policy(wanted)
