"""The languages of configuration files, by name: the name is what the record of installs keeps."""

from hubbub.clients.install.editors.editor import Editor
from hubbub.clients.install.editors.env import EnvEditor
from hubbub.clients.install.editors.json import JsonEditor
from hubbub.clients.install.editors.toml import TomlEditor
from hubbub.clients.install.editors.yaml import YamlEditor

EDITORS: dict[str, Editor] = {
    "json": JsonEditor(strict=True),
    "jsonc": JsonEditor(strict=False),
    "toml": TomlEditor(),
    "yaml": YamlEditor(),
    "env": EnvEditor(),
}
