"""Solve environment.yml for each system: ``python -m tests.bootstrap.conda_solves``.

Needs ``pip install py-rattler`` and a network in which conda-forge can be reached. Each
requirement is read strictly first: what conda would guess at is an error here.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = "linux-64", "osx-64", "osx-arm64", "win-64"
PYTHONS = "3.11", "3.12", "3.13", "3.14"


def requirements() -> tuple[list[str], list[Any]]:
    """The channels and packages. Raises: rattler's error."""
    import rattler

    told = yaml.safe_load((ROOT / "environment.yml").read_text("utf8"))
    channels = [name for name in told["channels"] if name != "nodefaults"]
    packages = [each for each in told["dependencies"] if isinstance(each, str)]
    return channels, [rattler.MatchSpec(each, strict=True) for each in packages]


async def main(*other_channels: str) -> int:
    """Print a line for each system and Python; the number of those without solution."""
    import rattler
    from rattler.exceptions import GatewayError, SolverError

    channels, specs = requirements()
    channels = [*other_channels] or channels
    print(f"{len(specs)} requirements, read strictly")
    unsolved = 0
    for system in SYSTEMS:
        for python in PYTHONS:
            wanted = [*specs, rattler.MatchSpec(f"python {python}.*", strict=True)]
            virtual = [
                rattler.GenericVirtualPackage(
                    rattler.PackageName(name),
                    rattler.Version(version),
                    rattler.BuildString("0"),
                )
                for name, version in (("__glibc", "2.28"), ("__osx", "13.0"))
                if (name == "__osx") == system.startswith("osx")
            ]
            try:
                found = await rattler.solve(
                    channels,
                    wanted,
                    platforms=[system, "noarch"],
                    virtual_packages=virtual,
                )
                said = f"{len(found)} packages"
            except SolverError as error:
                unsolved += 1
                said = f"no solution: {error}"
            except GatewayError as error:
                raise SystemExit(f"a channel can't be reached: {error}") from None
            print(f"{system} Python {python}: {said}", flush=True)
    return unsolved


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
