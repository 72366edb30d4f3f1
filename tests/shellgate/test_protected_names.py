import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from shellgate import protected_names, triggers
from tests.support.each_row import each_row

HOME, MAC_HOME, ROOT_HOME = "/home/ada", "/Users/ada", "/root"
PROTECTED = (".env", ".git", ".ssh", ".bashrc", ".mcp.json", "Keychains")
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e"


@each_row(
    "path",
    [
        "/w/.env",
        "/w/.env.local",
        "/w/.env.production.local",
        "/w/.env.example.local",
        "/w/.env/bin/python",
        "/w/.git",
        "/w/.git/hooks/pre-commit",
        "/w/sub/.git/config",
        "/w/git~1/config",
        "/w/.git./config",
        "/w/.git ::$INDEX_ALLOCATION/config",
        "/w/.bashrc",
        f"{HOME}/.zshenv",
        f"{HOME}/.profile",
        f"{HOME}/.bashrc.d/x.sh",
        f"{HOME}/.config/fish/conf.d/x.fish",
        f"{HOME}/.config/powershell/profile.ps1",
        "/w/.mcp.json",
        f"{HOME}/.claude.json",
        "/w/.claude/settings.json",
        "/w/.claude/settings.local.json",
        *(
            f"{folder}/{path.replace('*', 'x')}"
            for folder in ("/w", HOME)
            for kind in triggers.KINDS
            for paths in kind.files.values()
            for path in paths
        ),
        "/w/deep/down/.envrc",
        "/w/.claude",
        "/w/.vscode",
        "/w/.claude/hooks/deep/h.sh",
        "/w/.VSCODE/Tasks.JSON",
        "/w/.cur\u200bsor/mcp.json",
        "/w/.relay/agents.pool.yml",
        "/w/.relay/session-agents-r1.yml",
        "/w/.windsurf/mcp_config.json",
        "/w/.amazonq/cli-agents/x.json",
        "/w/.kiro/agents/x.json",
        "/w/.augment/settings.json",
        f"{HOME}/.gemini/antigravity/mcp_config.json",
        f"{HOME}/.config/Code/User/tasks.json",
        f"{HOME}/Library/Application Support/Code/User/mcp.json",
        f"{HOME}/Library/LaunchAgents/x.plist",
        "/w/.venv/lib/python3.13/site-packages/x.pth",
    ],
)
def test_what_people_only_write(path: str) -> None:
    """F4: environment files, Git's own, what shells start with, and what clients of agents start; at any depth."""
    assert protected_names.unwritten(protected_names.components(path))
    assert protected_names.unwritten(protected_names.components(path.upper()))


@each_row(
    "path",
    [
        "/w/.env.example",
        "/w/.env.sample",
        "/w/.env.template",
        "/w/.env.dist",
        "/w/.env.local.example",
        "/w/docs/.env.md",
        "/w/.env.production.rst",
        "/w/.environment",
        "/w/env.py",
        "/w/config.env",
        "/w/.gitignore",
        "/w/.gitkeep",
        "/w/.gitattributes",
        "/w/.github/workflows/test.yml",
        "/w/project.git.md",
        "/w/git/config",
        "/w/bashrc",
        "/w/mcp.json",
        "/w/.claude/commands/x.md",
        "/w/.claude/agents/x.md",
        "/w/.cursor/rules/style.mdc",
        "/w/.github",
        "/w/.github/copilot-instructions.md",
        "/w/.vscode/extensions.json",
        "/w/.editorconfig",
        "/w/.relay/memory/project.md",
        "/w/.config",
        "/w/CLAUDE.md",
        "/w/AGENTS.md",
        "/w/Makefile",
        "/w/package.json",
        "/w/.pre-commit-config.yaml",
        "/w/.npmrc",
        "/w/model.pth",
        "/w/src/code/user/mcp.json",
        "/w/click.py",
        "/w/hubbub/__main__.py",
        "/w/fish/menu.py",
    ],
)
def test_what_only_looks_alike_may_be_written(path: str) -> None:
    """Templates, and names that merely begin or end like protected ones."""
    assert protected_names.unwritten(protected_names.components(path)) is None


@each_row(
    "path",
    [
        "/etc",
        "/etc/passwd",
        "//etc//passwd",
        "/./etc/passwd",
        "/usr/../etc/passwd",
        "/private/etc/hosts",
        "/System/Library",
        f"{HOME}/.ssh",
        f"{ROOT_HOME}/.ssh/id_rsa",
        "/mnt/old/home/bob/.ssh/config",
        f"{MAC_HOME}/Library/Keychains/login.keychain-db",
        "/Library/Keychains",
        f"{HOME}/.config/hubbub/node.toml",
        f"{HOME}/.local/share/hubbub/owner-token",
        f"{MAC_HOME}/Library/Application Support/hubbub/x",
        "/proc/self/environ",
        "/proc/1/mem",
        "/proc/self/fd/3",
        "/proc/self/task/1/environ",
        "/proc/thread-self/root/home",
        "/proc/123/cwd",
    ],
)
def test_what_is_closed(path: str) -> None:
    """F5: the system's configuration, keys, hubbub's own, and the insides of processes."""
    assert protected_names.unread(protected_names.components(path))
    assert protected_names.unread(protected_names.components(path.swapcase()))


@each_row(
    "path",
    [
        "/",
        f"{HOME}/proj/src/etc/settings.py",
        "/w/etc",
        "/w/ssh/config",
        "/w/.sshconfig",
        "/w/System/a",
        "/usr/local/etc/x",
        f"{HOME}/.config/hub",
        f"{HOME}/hubbub/README.md",
        f"{HOME}/Library/Caches",
        "/proc/cpuinfo",
        "/proc/self/status",
        "/proc/self/exe",
        "/w/proc/self/environ",
        "/etcetera",
    ],
)
def test_what_only_looks_alike_may_be_read(path: str) -> None:
    """Names elsewhere than where they mean something, and longer ones."""
    assert protected_names.unread(protected_names.components(path)) is None


@each_row("path", ["/w/.env", "/w/.env.local", "/w/id_rsa", "/w/a/server.pem", "/h/.aws/credentials"])
def test_what_may_hold_secrets(path: str) -> None:
    """Environment files and keys, so that a person is asked before they are read."""
    assert protected_names.may_be_secret(protected_names.components(path))


@each_row("path", ["/", "/w/.env.example", "/w/id_rsa.pub", "/w/pem.py", "/w/credentials.py", "/w/keys"])
def test_what_holds_none(path: str) -> None:
    """Templates, public keys, and code about them."""
    assert not protected_names.may_be_secret(protected_names.components(path))


def spellings(name: str) -> st.SearchStrategy[str]:
    """Ways to write a name that some file system takes for the same."""
    cased = st.tuples(*(st.sampled_from([each.lower(), each.upper()]) for each in name)).map("".join)
    blanks = st.lists(st.sampled_from(INVISIBLE), min_size=len(name) + 1, max_size=len(name) + 1)
    return st.tuples(cased, st.booleans(), blanks).map(
        lambda made: (
            "".join(a + b for a, b in zip(made[2], [*made[0], ""], strict=True)) if made[1] else made[0]
        )
    )


@given(st.sampled_from(PROTECTED).flatmap(lambda name: st.tuples(st.just(name), spellings(name))))
def test_capitals_and_invisible_signs_make_no_other_name(pair: tuple[str, str]) -> None:
    """However a name is written, it is folded to the same."""
    name, spelling = pair

    assert protected_names.folded(spelling) == protected_names.folded(name)


@given(st.text(alphabet="aäéÅåſK\u0301\u030aßΣσς", max_size=8))
def test_composition_makes_no_other_name(name: str) -> None:
    """A letter with its accent is the same in one piece or two, and folding twice changes nothing more."""
    forms = {protected_names.folded(unicodedata.normalize(form, name)) for form in ("NFC", "NFD")}

    assert forms == {protected_names.folded(name)}
    assert protected_names.folded(protected_names.folded(name)) == protected_names.folded(name)


noise = st.sampled_from(["/", "//", "/./", "/x/../", "/x/y/../../", "/././/"])


@given(
    st.lists(st.tuples(noise, st.sampled_from(["etc", "w", ".git", "a.b"])), max_size=5),
    st.sampled_from(["", "/", "/."]),
)
def test_ways_to_write_a_path_make_no_other_path(steps: list[tuple[str, str]], end: str) -> None:
    """Double slashes, `.`, `x/..` and a slash at the end are nothing."""
    path = "".join(f"{between}{name}" for between, name in steps) + end

    assert protected_names.components(path) == tuple(name for _, name in steps)
