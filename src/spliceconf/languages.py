"""The languages of configuration files, by the names that the record of installs keeps."""

from spliceconf.editor import Editor
from spliceconf.env import EnvEditor
from spliceconf.json import JsonEditor
from spliceconf.toml import TomlEditor
from spliceconf.yaml import YamlEditor

EDITORS: dict[str, Editor] = {
    "json": JsonEditor(strict=True),
    "jsonc": JsonEditor(strict=False),
    "toml": TomlEditor(),
    "yaml": YamlEditor(),
    "env": EnvEditor(),
}
