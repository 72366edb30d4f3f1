"""Metering: a client reports its use to the hub, if it can, by OTLP, to the hub's own addresses.

Many clients report to another receiver already. If any of our places is taken, nothing is changed, and a note says so:
an existing receiver takes precedence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hubbub.clients.install.client_installer import InstallRequest, bearer
from hubbub.clients.install.install_plan import ConfigEntry, InstallPlan
from spliceconf import MISSING, Keys, find

LOGS = "/v1/logs"


@dataclass(frozen=True, slots=True)
class Offer:
    """Entries made together, and only if all their places, and those `beside`, are free."""

    client: str
    file: Path
    language: str
    says: str  # its entries, in the words of its file
    entries: Sequence[tuple[Keys, object]]
    beside: Sequence[Keys] = ()

    def make(self, plan: InstallPlan) -> None:
        made = [
            ConfigEntry(self.file, self.language, keys, value, private=True) for keys, value in self.entries
        ]
        if any(self._is_taken(plan, each) for each in made) or any(
            find(plan.loaded(made[0]), keys) is not MISSING for keys in self.beside
        ):
            plan.notes.append(
                f"{self.client} exports its use elsewhere already, and goes on with that; the hub says unmetered"
            )
            return
        for each in made:
            each.make(plan)
        plan.notes.append(
            f"{self.client} reports its tokens and cost to the hub, by {self.says} in {self.file}; see hubbub cost"
        )

    @staticmethod
    def _is_taken(plan: InstallPlan, entry: ConfigEntry) -> bool:
        """Tell whether a foreign value stands there: neither ours, nor that of an earlier install of ours."""
        present = find(plan.loaded(entry), entry.keys)
        return present not in (MISSING, entry.value) and (entry.file, entry.keys) not in plan.held


def claude_code(request: InstallRequest, settings: Path) -> Offer:
    """Return Claude Code's entries, in its environment; events are enough, and are sent within seconds."""
    told = {
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/json",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": request.url.rstrip("/") + LOGS,
        "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization={bearer(request.token)}",
    }
    others = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_HEADERS", "OTEL_METRICS_EXPORTER")
    return Offer(
        "Claude Code",
        settings,
        "json",
        "the OTEL variables",
        [(("env", name), value) for name, value in told.items()],
        [("env", name) for name in others],
    )


def codex(request: InstallRequest, file: Path) -> Offer:
    """Return Codex's entries, in its own table; it holds the token itself, so the file is private from then on."""
    exporter = {
        "endpoint": request.url.rstrip("/") + LOGS,
        "protocol": "json",
        "headers": {"Authorization": bearer(request.token)},
    }
    return Offer(
        "Codex",
        file,
        "toml",
        "[otel]",
        [(("otel", "exporter", "otlp-http"), exporter)],
        [("otel", "exporter")],
    )
