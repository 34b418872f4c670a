"""`python -m stencilgen` is the command: STENCILGEN_COMMAND, else the one in this package, else the one in PATH."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def command() -> str:
    """The path of the command."""
    given = os.environ.get("STENCILGEN_COMMAND")
    if given:
        return given
    inside = Path(__file__).parent / "bin" / "stencilgen"
    if inside.exists():
        return str(inside)
    found = shutil.which("stencilgen")
    # The script that pip makes in PATH leads here again.
    if found is None or os.path.realpath(found) == os.path.realpath(sys.argv[0]):
        sys.exit("stencilgen: the command is not installed: set STENCILGEN_COMMAND to its path")
    return found


def main() -> None:
    program = command()
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
