"""The table of files from which programs run something, or read what to run, without being told to.

Each entry is a path of one name or more, below any folder; `*` stands for any part of a name, and what is beneath a
match is kept with it. A project's own work is free, although people run it by name: sources, Makefile, package.json,
workflows, and the texts that models read.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TriggerKind:
    """Files of one kind: why only people change them, as a clause, and their paths by the program that reads them."""

    why: str
    files: Mapping[str, tuple[str, ...]]


def _of(**files: str) -> Mapping[str, tuple[str, ...]]:
    """Paths without spaces, by program."""
    return {program.replace("_", " "): tuple(paths.split()) for program, paths in files.items()}


CLIENTS = TriggerKind(
    "it tells a client of agents which programs to start",
    _of(
        Claude_Code=".mcp.json .claude.json .claude/settings*.json .claude/hooks .claude/plugins",
        Claude_Desktop="claude_desktop_config.json",
        Cline="cline_mcp_settings.json .cline/data/settings .clinerules/hooks",
        Codex=".codex/config.toml .codex/hooks.json .codex/hooks .codex/rules .codex/plugins",
        Copilot=".github/hooks .copilot/*.json",
        Cursor=".cursor/mcp.json .cursor/hooks.json .cursor/hooks .cursor/environment.json .cursor/permissions.json"
        " .cursor/cli*.json .cursor/extensions",
        Gemini_CLI=".gemini/settings.json .gemini/hooks .gemini/extensions .gemini/policies .gemini/*/mcp_config.json",
        Goose=".goose .config/goose application*support/block/goose",
        Windsurf=".codeium/windsurf/mcp_config.json .codeium/windsurf/hooks.json",
        opencode="opencode.json opencode.jsonc .opencode/plugin* .opencode/tool* .opencode/package.json"
        " .config/opencode/plugin* .config/opencode/tool* .config/opencode/package.json",
        other_clients=".*/mcp.json .*/mcp_config.json .*/mcp-config.json .*/hooks.json .continue/config.*"
        " .continue/mcpservers .kiro/settings .kiro/hooks .kiro/agents .amazonq/cli-agents .augment/settings.json"
        " .factory/hooks .factory/settings.json .qwen/settings.json .qwen/extensions .junie/mcp .amp/settings.json"
        " .config/amp .crush.json crush.json .config/crush .aider.conf.yml",
        all_that_have_skills_of_hubbub=".*/skills/hubbub* .config/opencode/skills/hubbub*",
    ),
)

TEAMS = TriggerKind(
    "hubbub runs the hooks in it",
    _of(hubbub="agents.pool.yml session-agents-*.yml"),
)

SHELLS = TriggerKind(
    "it is read by a shell when it starts, or when it comes into the folder",
    _of(
        bash=".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion .bashrc.d .bash_profile.d"
        " .inputrc",
        zsh=".zshrc .zshenv .zprofile .zlogin .zlogout .zshrc.d",
        other_shells=".profile .profile.d .login .logout .cshrc .tcshrc .kshrc .mkshrc .yashrc .shrc .shinit .xonshrc"
        " config.fish .config/fish .config/powershell .config/nushell .config/xonsh .config/elvish .config/zsh"
        " *powershell_profile.ps1",
        what_shells_load=".envrc .direnvrc .config/direnv .autoenv* .mise.toml mise.toml .mise.*.toml mise.*.toml .mise"
        " .config/mise .config/starship.toml .cargo/env",
    ),
)

EDITORS = TriggerKind(
    "an editor runs it, or a program that it names",
    _of(
        VS_Code=".vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/extensions .vscode-server"
        " *.code-workspace .config/code/user application*support/code/user .devcontainer .devcontainer.json",
        JetBrains=".idea/workspace.xml .idea/runconfigurations .idea/tools .idea/watchertasks.xml .idea/startup.xml"
        " .run *.run.xml .fleet/run.json .fleet/settings.json",
        Vim=".vim .vimrc .gvimrc _vimrc _gvimrc .exrc _exrc .nexrc .lvimrc .vimrc.local .nvim.lua .nvimrc .config/vim"
        " .config/nvim .local/share/nvim",
        Emacs=".emacs .emacs.el .emacs.d .config/emacs .dir-locals.el .dir-locals-2.el .doom.d .config/doom .spacemacs"
        " .spacemacs.d",
        Zed=".zed/settings.json .zed/tasks.json .zed/debug.json .config/zed",
        Helix=".helix/config.toml .helix/languages.toml .config/helix",
        other_editors=".nanorc .kakrc .config/kak .config/micro",
    ),
)

DESKTOPS = TriggerKind(
    "a service manager or a desktop starts it",
    _of(
        systemd=".config/systemd .local/share/systemd .config/environment.d",
        launchd="library/launchagents library/launchdaemons",
        cron=".crontab var/spool/cron",
        desktops=".config/autostart .config/autostart-scripts .config/plasma-workspace .local/share/applications"
        " .local/share/dbus-1 .xprofile .xinitrc .xsession .xsessionrc .xsession.d .pam_environment .xmonad"
        " .hammerspoon"
        " .config/i3 .config/sway .config/hypr .config/openbox .config/awesome .config/bspwm .config/karabiner",
    ),
)

TOOLS = TriggerKind(
    "a tool of the machine runs it, or a program that it names, whenever it is used",
    _of(
        git=".gitconfig .config/git .husky .githooks",
        other_version_control=".hgrc .hg/hgrc .config/hg .jjconfig.toml .jj/repo .config/jj",
        Python="sitecustomize.py usercustomize.py site-packages/*.pth dist-packages/*.pth .pythonrc .pythonrc.py"
        " .pythonstartup .pdbrc .ipython .jupyter",
        other_languages=".rprofile .irbrc .pryrc .iex.exs .ghci .perldb .julia/config .octaverc .gradle/init.d"
        " .gradle/init.gradle*",
        debuggers=".gdbinit .gdbearlyinit .config/gdb .lldbinit*",
        terminals=".tmux.conf .config/tmux .screenrc .wezterm.lua .config/wezterm .config/kitty .config/alacritty"
        " .config/ghostty",
        clients_of_networks=".curlrc .wgetrc .mailcap .kube/config .docker/config.json .docker/cli-plugins .aws/config"
        " .gnupg",
        pagers_and_databases=".lessfilter .lesskey .config/lesskey .sqliterc .psqlrc .duckdbrc",
    ),
)

KINDS = (CLIENTS, TEAMS, SHELLS, EDITORS, DESKTOPS, TOOLS)
