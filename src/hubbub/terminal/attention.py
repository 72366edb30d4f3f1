"""Needs of a person in words for a terminal: their kinds, their subjects, and the commands that settle them."""

from typing import Any

from hubbub.model.log.attention import NeedKind
from hubbub.model.people.rights import HUB
from hubbub.model.visible_text import visible
from hubbub.terminal import parties

TITLES = {
    NeedKind.APPROVAL: "Approval",
    NeedKind.QUESTION: "Waiting for you",
    NeedKind.LETTER: "Message to you",
    NeedKind.REVIEW: "Ready for your review",
    NeedKind.STOPPED: "Stuck in a loop",
    NeedKind.BUDGET: "A budget is nearly spent",
    NeedKind.PAUSED: "All accounts are paused",
    NeedKind.EXPIRED: "Expired, ask again",
    NeedKind.STALE: "Went silent",
    NeedKind.CONFLICT: "Same files, two agents",
    NeedKind.FAILED: "Failed",
    NeedKind.LATE: "Late",
}
SHORT = 8  # characters of an approval's id that people type


def about(need: dict[str, Any]) -> str:
    """Describe the subject of a need from `/needs`; others' words are left as they are."""
    card = need["card"]
    match need["noun"]:
        case "approvals":
            return f"{card['who']}: {visible(card['shown'])}"
        case "letters":
            return f"{parties.sender(card)}: {card['text']}"
        case "overlaps":
            return f"{' and '.join(card['agents'])}: {', '.join(card['files'] or card['areas'])}"
        case "stops" | "budgets" | "accounts":
            return str(card.get("reason") or card.get("name") or f"{card['kind']} {card['label']}")
        case "agents":
            return f"{card['name']}: {card['doing'] or card['state']}"
        case _:
            return f"T-{card['number']} {card['title']}"


def remedy(need: dict[str, Any]) -> str:
    """Return the command by which a person settles a need."""
    card, kind = need["card"], need["kind"]
    match need["noun"]:
        case "approvals":
            words = f"approve {card['id'][:SHORT]}" + (" --show" if kind == NeedKind.EXPIRED else "")
        case "letters":
            words = "inbox" if card["recipient"] == HUB else f"inbox {card['recipient']}"
        case "overlaps":
            words = f"why {card['agents'][0]}"
        case "stops":
            words = f"breaker lift {card['id']}"
        case "budgets":
            words = "budget list"
        case "accounts":
            words = "account list"
        case "agents":
            words = f"why {card['name']}"
        case _:
            verbs = {
                NeedKind.FAILED: "task retry",
                NeedKind.QUESTION: "task show",
                NeedKind.REVIEW: "task show",
            }
            words = f"{verbs.get(kind, 'why')} {card['number']}"
    return f"hubbub {words}"
