"""The clients that `hubbub install` knows."""

from hubbub.clients.install.adapters import (
    claude_code,
    claude_desktop,
    cline,
    codex,
    cursor,
    gemini,
    goose,
    opencode,
    vscode,
    windsurf,
    zed,
)
from hubbub.clients.install.client_installer import ClientInstaller

CLIENTS: dict[str, ClientInstaller] = {
    each.name: each
    for each in (
        claude_code.CLIENT,
        claude_desktop.CLIENT,
        cursor.CLIENT,
        vscode.CLIENT,
        codex.CLIENT,
        gemini.CLIENT,
        opencode.CLIENT,
        windsurf.CLIENT,
        zed.CLIENT,
        goose.CLIENT,
        cline.CLIENT,
    )
}
