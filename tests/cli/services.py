"""Systemd's verdict on a unit, where systemd is available."""

import shutil
import subprocess
from pathlib import Path

from hubbub.daemons.system_service import SystemService


def complaints(installed: SystemService, folder: Path) -> list[str]:
    """Return the complaints of systemd, else of a check of its form, about the unit, which is written into `folder`."""
    unit = folder / installed.file.name
    unit.write_text(installed.content, "utf-8")
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        return [] if installed.content.count("\n[") == 2 else ["a unit has three sections"]
    scope = "--system" if "WantedBy=multi-user.target" in installed.content else "--user"
    done = subprocess.run(
        [analyze, scope, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    return [line for line in done.stderr.splitlines() if unit.name in line]
