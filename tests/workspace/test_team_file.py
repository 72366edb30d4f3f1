"""The content of a team file, which the editors' schema describes alike."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hubbub.workspace.strict_yaml import Value, read
from hubbub.workspace.team_errors import TeamError
from hubbub.workspace.team_file import AGENT_KEYS, FILE_KEYS, HOOK_KEYS, parse_team_file

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/agents.schema.json").read_text("utf-8"))

GOOD = [
    "agents: {}",
    "agents: {fe:, be: {}}",
    "agents: {fe: {name: F, emoji: 🎨, tools: [], systemPrompt: Hi}}",
    "agents: {fe: {description: '', tags: [web, ui], language: no, disabled: false, extends: be}}",
    "agents: {fe: {validate_prompt: '', review_checklist: ''}}",
    "agents: {fe: {hooks: false}}",
    "agents: {fe: {hooks: {}}}",
    "agents: {fe: {hooks: {before_task: make, after_task: [make lint, make test]}}}",
    "agents: {fe: {hooks: {before_task: false, after_task: []}}}",
    "agents: {審査員: {}, Prüfer-2: {}, a_b: {}, 1: {}, निरीक्षक: {}}",
    "agents: {}\nlanguage: ja\nreview_checklist: be kind\nshared_blocks: {a-b_1: '', c: text}",
]
BAD = [
    ("", "must be a map"),
    ("- agents", "must be a map"),
    ("language: ja", "agents: is missing"),
    ("agents:", "agents: must be a map"),
    ("agents: [fe]", "agents: must be a map"),
    ("agents: {fe: hello}", "agent 'fe': must be a map"),
    ("agents: {f e: {}}", "agents: 'f e': cannot be the id of an agent: 1 to 64 letters, digits, '-' or '_'"),
    ("agents: {../fe: {}}", "agents: '../fe': cannot be the id of an agent"),
    ("agents: {'': {}}", "agents: '': cannot be the id of an agent"),
    (f"agents: {{{'x' * 65}: {{}}}}", f"agents: '{'x' * 64}…': cannot be the id of an agent"),
    ("agents: {}\nagent: {}", "unknown key 'agent'; did you mean agents?"),
    (
        "agents: {}\nzzz: 1",
        "unknown key 'zzz'; allowed are agents, language, shared_blocks, review_checklist",
    ),
    (
        "agents: {fe: {system_prompt: Hi}}",
        "agent 'fe': unknown key 'system_prompt'; did you mean systemPrompt?",
    ),
    ("agents: {fe: {<<: {}}}", "agent 'fe': unknown key '<<'; allowed are name, emoji, description, tags,"),
    ("agents: {fe: {name: 1}}", "agent 'fe': name: must be text; put it in quotes"),
    ("agents: {fe: {name: true}}", "agent 'fe': name: must be text; put it in quotes"),
    ("agents: {fe: {name: }}", "agent 'fe': name: must be text"),
    ("agents: {fe: {name: ' '}}", "agent 'fe': name: must not be empty"),
    ("agents: {fe: {emoji: []}}", "agent 'fe': emoji: must be text"),
    ("agents: {fe: {systemPrompt: ''}}", "agent 'fe': systemPrompt: must not be empty"),
    ("agents: {fe: {description: 1.5}}", "agent 'fe': description: must be text; put it in quotes"),
    ("agents: {fe: {tools: send_message}}", "agent 'fe': tools: must be a list of text"),
    ("agents: {fe: {tools: [send_message, 1]}}", "agent 'fe': tools: must be a list of text"),
    ("agents: {fe: {tools: ['']}}", "agent 'fe': tools: must be a list of text"),
    ("agents: {fe: {tags: }}", "agent 'fe': tags: must be a list of text"),
    ("agents: {fe: {disabled: yes}}", "agent 'fe': disabled: must be true or false"),
    ("agents: {fe: {disabled: }}", "agent 'fe': disabled: must be true or false"),
    ("agents: {fe: {extends: ''}}", "agent 'fe': extends: must not be empty"),
    ("agents: {fe: {hooks: true}}", "agent 'fe': hooks: must be a map"),
    (
        "agents: {fe: {hooks: {before: x}}}",
        "agent 'fe': hooks: unknown key 'before'; did you mean before_task?",
    ),
    (
        "agents: {fe: {hooks: {before_task: true}}}",
        "hooks: before_task: must be text, a list of text, or false",
    ),
    (
        "agents: {fe: {hooks: {after_task: ['']}}}",
        "hooks: after_task: must be text, a list of text, or false",
    ),
    ("agents: {fe: {hooks: {after_task: ''}}}", "hooks: after_task: must be text, a list of text, or false"),
    ("agents: {fe: {hooks: {after_task: }}}", "hooks: after_task: must be text, a list of text, or false"),
    ("agents: {fe: {validate_prompt: [x]}}", "agent 'fe': validate_prompt: must be text"),
    ("agents: {fe: {review_checklist: 1}}", "agent 'fe': review_checklist: must be text; put it in quotes"),
    ("agents: {}\nlanguage: ''", "language: must not be empty"),
    ("agents: {}\nreview_checklist: [x]", "review_checklist: must be text"),
    ("agents: {}\nshared_blocks: [x]", "shared_blocks: must be a map"),
    ("agents: {}\nshared_blocks: {a b: x}", "shared_blocks: 'a b': cannot name a block"),
    ("agents: {}\nshared_blocks: {a: 1}", "shared_blocks: a: must be text; put it in quotes"),
]
BEYOND_A_SCHEMA = [
    (
        "agents: {fe: {systemPrompt: 'a {{rules}} b'}}",
        "agent 'fe': systemPrompt: no block 'rules' in shared_blocks; there are none",
    ),
    (
        "agents: {fe: {systemPrompt: '{{rules}}'}}\nshared_blocks: {rule: x, end: y}",
        "agent 'fe': systemPrompt: no block 'rules' in shared_blocks; there are rule, end",
    ),
    (
        "agents: {«fe»: {}}",
        "agents: '«fe»': cannot be the id of an agent: 1 to 64 letters, digits, '-' or '_'",
    ),
]


def _content(folder: Path, text: str) -> Value:
    path = folder / "team.yml"
    path.write_text(text, "utf-8")
    return read(path)


def test_the_schema_is_one() -> None:
    """Editors get a JSON Schema of the current draft."""
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("text", GOOD)
def test_what_is_right_is_taken(tmp_path: Path, text: str) -> None:
    """A file that an editor finds nothing wrong with is read."""
    content = _content(tmp_path, text)

    assert Draft202012Validator(SCHEMA).is_valid(content)
    assert isinstance(content, dict)
    assert isinstance(content["agents"], dict)
    assert list(parse_team_file("team.yml", content).agents) == list(content["agents"])


@pytest.mark.parametrize(("text", "problem"), BAD)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, problem: str) -> None:
    """A mistake is refused with its file, agent and key, and an editor underlines it too."""
    content = _content(tmp_path, text)

    assert not Draft202012Validator(SCHEMA).is_valid(content)
    with pytest.raises(TeamError, match=rf"^team\.yml: .*{re.escape(problem)}"):
        parse_team_file("team.yml", content)


@pytest.mark.parametrize(("text", "problem"), BEYOND_A_SCHEMA)
def test_some_mistakes_only_we_see(tmp_path: Path, text: str, problem: str) -> None:
    """Blocks that are not there, and signs in ids that are no letters of any script, are beyond a schema."""
    with pytest.raises(TeamError, match=rf"^team\.yml: {re.escape(problem)}$"):
        parse_team_file("team.yml", _content(tmp_path, text))


def test_the_schema_knows_the_keys() -> None:
    """Every key that an editor offers is one that is read, and the other way round."""
    agent = SCHEMA["$defs"]["agent"]["properties"]

    assert set(SCHEMA["properties"]) == set(FILE_KEYS)
    assert set(agent) == set(AGENT_KEYS)
    assert set(agent["hooks"]["anyOf"][1]["properties"]) == set(HOOK_KEYS)
