"""The shipped policy, that of a new machine: its questions to a person, with the reasons."""

import re
from collections.abc import Mapping, Sequence

from shellgate import paths
from shellgate.floor.arguments.actions import CHANGES, CommandContext, TouchPath, Use
from shellgate.floor.arguments.usage_tables import names
from shellgate.floor.dataflow.path_resolution import PathLead, leads
from shellgate.protected_names import components, may_be_secret
from shellgate.shell.program import Glob, Word
from shellgate.world import World

_INSTALLS = "it installs packages"
_ENDS = "it ends other processes"
_SCHEDULES = "it schedules commands"
_RAISES = "it raises privilege"
_SERVICES = "it changes the machine's services"
_MACHINE = "it changes the machine's settings"
_DISKS = "it changes disks"
_REMOTE = "it acts on other machines"
_CONTAINERS = "it runs containers"

_OF_PROGRAMS: Mapping[str, str] = {
    "printenv": "it dumps the environment",
    **dict.fromkeys(names("kill pkill killall killall5 skill xkill"), _ENDS),
    **dict.fromkeys(names("crontab at batch atq atrm anacron"), _SCHEDULES),
    **dict.fromkeys(names("su sudo doas pkexec runuser setpriv gosu su-exec sudoedit"), _RAISES),
    **dict.fromkeys(
        names("systemctl service launchctl rc-service initctl supervisorctl systemd-run"),
        _SERVICES,
    ),
    **dict.fromkeys(names("shutdown reboot halt poweroff init telinit"), "it stops the machine"),
    **dict.fromkeys(
        names("useradd userdel usermod groupadd groupdel passwd chpasswd chsh visudo"),
        "it changes users",
    ),
    **dict.fromkeys(
        names("sysctl modprobe insmod rmmod setenforce iptables nft ufw ip ifconfig route"),
        _MACHINE,
    ),
    **dict.fromkeys(
        names("mkfs mkswap fdisk parted wipefs blkdiscard losetup mount umount swapon swapoff"),
        _DISKS,
    ),
    **dict.fromkeys(names("docker podman nerdctl docker-compose kubectl helm minikube kind"), _CONTAINERS),
    **dict.fromkeys(
        names("ssh scp sftp rsync mosh sshfs ansible aws gcloud az terraform"),
        _REMOTE,
    ),
    **dict.fromkeys(
        names("npx bunx pnpx uvx pipx easy_install cpan cpanm"),
        "it fetches packages and runs them",
    ),
    **dict.fromkeys(
        names("telnet ftp tftp nmap dig nslookup host ping openvpn"),
        "it speaks to other machines",
    ),
    **dict.fromkeys(names("strace ltrace gdb lldb dtruss perf"), "it looks into other processes"),
    **dict.fromkeys(["chroot", "unshare", "nsenter", "bwrap"], "it runs in a place of its own"),
}
_MANAGERS = names(
    "apt apt-get aptitude yum dnf zypper pacman apk brew port snap flatpak emerge nix nix-env dpkg rpm "
    "npm yarn pnpm bun pip uv poetry pdm pipenv conda mamba micromamba gem bundle composer luarocks cargo "
    "go rustup choco winget scoop"
)
_INSTALLING = names("install i add ci update upgrade get remove uninstall sync dist-upgrade require -S -i -U")
OUTSIDE = "it reaches outside the folders that agents work in"
_MOVES = frozenset({"cd", "pushd", "popd"})
_LOOKED_AT = re.compile(r"(?:^|\s)(?:-[abcdefghkprstuwxGLNOS]|-nt|-ot|-ef)\s+(\S+)")  # by tests of files
LOOKED_AT = 20_000  # names in a folder that is read as a whole, at most
_DEVICE = re.compile(
    r"/dev/(null|zero|full|tty|stdin|stdout|stderr|u?random|fd/\d+)"
)  # whose use is no matter


def concern(name: str, arguments: Sequence[Word]) -> str | None:
    """Return why the use of a program is a matter for people, by its name and subcommand: one clause."""
    words = [word.value or "" for word in arguments]
    if name in _MANAGERS and _INSTALLING.intersection(words[:3]):
        return _INSTALLS
    if name in ("compgen", "declare", "typeset") and {"-p", "-v", "-e", "-x"} & set(words):
        return "it dumps the environment"
    return _OF_PROGRAMS.get(name)


def concern_of(touch: TouchPath, scene: CommandContext) -> str | None:
    """Return why touching a path is a matter for people: secrets, places outside the roots, changes."""
    if touch.use is Use.TEXT or touch.is_guess:
        return None
    found = leads(touch.word, scene)
    for lead in found.paths:
        if clause := _of_path(lead.path, touch, scene):
            return clause
    if not found.is_known and not _is_output(touch.word):
        return "only running it tells which files it uses"
    if touch.use is Use.READ and scene.is_swept and _is_anything(touch.word):
        return "it reads all files in a folder"
    return _secret_within(found.paths, scene) if touch.use is Use.READ and touch.descends else None


def concern_of_folder(scene: CommandContext) -> str | None:
    """Return why the folder of a command is a matter for people, if the program itself has gone there."""
    name = scene.command.name
    if scene.cwd == scene.world.cwd or (name is not None and name.value in _MOVES):
        return None
    if scene.cwd is None:
        return "only running it tells which folder it runs in"
    return None if paths.is_inside(scene.cwd, scene.world) else OUTSIDE


def concern_of_test(expression: Word, world: World) -> str | None:
    """Return why a path in `[[ … ]]` is a matter for people."""
    for path in _LOOKED_AT.findall(expression.value or ""):
        bare = path.strip("\"'")
        if "$" in bare or "`" in bare:
            return "only running it tells which files it uses"
        if not paths.is_inside(paths.with_home(bare, world), world):
            return OUTSIDE
    return None


def _comes_back(touch: TouchPath, scene: CommandContext) -> bool:
    """Tell whether this `cd ..` leaves only if the `cd` before it fails: it reads nothing itself."""
    command, world = scene.command, scene.world
    if touch.use is not Use.LIST or command.name is None or command.name.value != "cd":
        return False
    alike = (
        each for each in scene.program.commands if each.source == command.source and each.cwd is not None
    )
    return any(
        each.cwd != scene.cwd and paths.is_inside(world.absolute(touch.word.value or "/", each.cwd), world)
        for each in alike
    )


def _is_output(word: Word) -> bool:
    """Tell whether it is the output of a command that is judged on its own: `<(…)`."""
    return len(word.parts) == 1 and word.source.startswith("<(")


def _of_path(path: str, touch: TouchPath, scene: CommandContext) -> str | None:
    if touch.use is not Use.LIST and paths.is_secret(path, scene.world):
        return "it reads or changes a file that may hold secrets"
    if _DEVICE.fullmatch(path) or (touch.use is Use.EITHER and touch.word.known_start.startswith("-")):
        return None
    if not paths.is_inside(path, scene.world):
        return None if _comes_back(touch, scene) else OUTSIDE
    return "it changes files" if touch.use in CHANGES else None


def _is_anything(word: Word) -> bool:
    last = word.parts[-1] if word.parts else None
    return isinstance(last, Glob) and not last.text.strip("*?")


def _secret_within(found: Sequence[PathLead], scene: CommandContext) -> str | None:
    for lead in found:
        files = scene.world.files.beneath(lead.path, LOOKED_AT)
        if files is None:
            return "it reads more files than can be looked at"
        if any(may_be_secret(components(path)) for path in files):
            return "it reads a folder with a file that may hold secrets"
    return None
