"""What systemd says about a unit, where it is there to be asked."""

import shutil
import subprocess
from pathlib import Path

from hubbub.daemons.system_service import SystemService


def complaints(installed: SystemService, folder: Path) -> list[str]:
    """What systemd, else its form alone, has against the unit; `folder` is one to write it into."""
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
