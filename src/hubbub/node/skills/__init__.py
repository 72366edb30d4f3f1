"""Skills: texts that teach an agent how to do one thing, in the form of Agent Skills (`SKILL.md` in a folder)."""
