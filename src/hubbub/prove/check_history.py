"""`python check_history.py FILE…`: finds what is impossible in a recorded history of calls and answers.

A history is lines of JSON, in any order and over any number of files. A call is asked, and perhaps answered:

    {"call": "a-1", "at": 3.1, "do": "send", "who": "a", "to": "b", "text": "x"}
    {"call": "a-1", "at": 3.2, "answer": "yes"}

The deeds are `send` (of a `text`, `to` an inbox; if it is `work`, whoever acknowledges it holds it), `offer` (of a text
to everybody, which is work for whoever takes it), `look` (answered with the `texts` in their order, and whether they
are the `whole` inbox), `ack` (of `texts`), `come` (as somebody new, whom the work held before may reach again), `take`
and `give` (of a `thing`, perhaps with a `fence` that rises, perhaps for some seconds, `lasts`), `finish` (of a `thing`,
once) and `order` (of a `mark`, to be made once). An answer is yes, no or unknown; a call without an answer is unknown;
unless it says that it does not (`"shows": false`), it shows that the caller is there. `{"gone": […], "at": …}` says
that nobody relies on these agents' things any more; if they are `absent`, they may count as gone, as after a long
silence: then each may come once more, at the latest by its next call that shows it. They may have counted so before,
`since` a time, and shown themselves meanwhile. `{"kept": […]}` lists the texts at the end, `{"marks": […]}` the marks,
and `{"broken": […]}` malformed answers.

Nothing here knows the answering program: it needs only the standard library, and the meaning of the words.
"""

import gzip
import json
import sys
from bisect import bisect, bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

NEVER = float("inf")
SILENCE = 120.0  # seconds without an answer after which an agent may count as gone
Call = dict[str, Any]
Span = tuple[float, float]  # from when something may have happened, and when it had happened
Holdings = dict[
    str, list[tuple[float, float, Call]]
]  # by thing: relied on from when until when, by which call


def read(lines: Iterable[str]) -> tuple[list[Call], dict[str, list[Any]]]:
    """Return the calls, and the state at the end. A line that was cut by its writer's death is skipped."""
    calls: dict[str, Call] = {}
    rest: dict[str, list[Any]] = {"kept": [], "marks": [], "gone": [], "absent": [], "broken": []}
    for line in lines:
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if "call" in said:
            call = calls.setdefault(said["call"], {"asked": NEVER, "told": NEVER, "answer": "unknown"})
            call["asked" if "do" in said else "told"] = said.pop("at")
            call.update(said)
        elif "gone" in said:
            rest["gone"] += [(who, said["at"]) for who in said["gone"]]
            if said.get("absent"):
                rest["absent"] += [(who, (said.get("since", said["at"]), said["at"])) for who in said["gone"]]
        for name in ("kept", "marks", "broken"):
            rest[name] += said.get(name, [])
    return [call for call in calls.values() if "do" in call], rest


def findings(calls: list[Call], rest: dict[str, list[Any]]) -> Iterator[str]:
    """Yield everything that is impossible if all answers were true."""
    by_deed: dict[str, list[Call]] = defaultdict(list)
    for call in sorted(calls, key=lambda each: float(each["asked"])):
        by_deed[call["do"]].append(call)
    yield from once("text", "was sent", [*by_deed["send"], *by_deed["offer"]], Counter(rest["kept"]))
    yield from once("mark", "was ordered", by_deed["order"], Counter(rest["marks"]))
    by_deed["come"] += comings(calls, rest["absent"])
    yield from mail(by_deed)
    holdings = held(by_deed, rest["gone"])
    yield from overlaps(holdings)
    yield from finishes(by_deed, holdings)
    yield from (f"broken: {answer}" for answer in rest["broken"])


def once(name: str, done: str, calls: list[Call], found: Counter[str]) -> Iterator[str]:
    """Yield what is not there once though answered yes, is there though answered no, or is there twice."""
    for call in calls:
        count, answer = found.pop(call[name], 0), call["answer"]
        if count > 1:
            yield f"doubled: {call[name]} {done} by {call['call']} and is there {count} times"
        if count == 0 and answer == "yes":
            yield f"lost: {call[name]} {done} by {call['call']}, which was told yes, and is not there"
        if count and answer == "no":
            yield f"refused, and there: {call[name]} {done} by {call['call']}, which was told no"
    yield from (f"from nowhere: {each} is there, and nobody asked for it" for each in found)


def mail(by_deed: dict[str, list[Call]]) -> Iterator[str]:
    """Yield faults of inboxes: each holds the unacknowledged texts sent to it, in the order of sending, each once."""
    sent = {call["text"]: call for call in by_deed["send"]}
    letters = {(call["to"], call["text"]): call for call in by_deed["send"]}
    looks = [call for call in by_deed["look"] if call["answer"] == "yes"]
    acks, comes = defaultdict[tuple[str, str], list[Call]](list), defaultdict[str, list[Call]](list)
    for ack in by_deed["ack"]:
        for text in ack["texts"]:
            acks[ack["who"], text].append(ack)
    for take in begun(by_deed):
        letters.setdefault((take["who"], take["thing"]), {**take, "work": True})
        acks[take["who"], take["thing"]].append({**take, "told": take["asked"], "answer": "yes"})
    for come in by_deed["come"]:
        comes[come["who"]].append(come)
    for look in looks:
        mine = {text: (look["who"], text) for text in look["texts"] if (look["who"], text) in letters}
        puts = {
            text: arrivals(look, letters[letter], acks[letter], comes[look["who"]])
            for text, letter in mine.items()
        }
        yield from strange(look, letters, puts)
        yield from disorder(look, puts)
    yield from stale(looks, sent, acks)
    seen = {text for look in looks for text in look["texts"]}
    for text, call in sent.items():
        if call["answer"] == "yes" and text not in seen:
            yield f"never came: {text} was sent by {call['call']}, and {call['to']} never saw it"


def begun(by_deed: dict[str, list[Call]]) -> Iterator[Call]:
    """Yield the calls that may have begun work offered to everybody; it may come again like work acknowledged."""
    offered = {call["text"] for call in by_deed["offer"]}
    yield from (call for call in by_deed["take"] if call["thing"] in offered and call["answer"] != "no")


def comings(calls: list[Call], absent: list[tuple[str, Span]]) -> Iterator[Call]:
    """Yield how agents that may have counted as gone came back: from then on, until the next answer that shows them.

    Who counted as gone twice came twice, unless no call was made meanwhile that may have shown it.
    """
    shown, unsure = defaultdict[str, list[Call]](list), defaultdict[str, list[float]](list)
    for call in sorted(calls, key=lambda each: float(each["asked"])):
        if call["answer"] == "unknown":
            unsure[call["who"]].append(call["asked"])
        elif call.get("shows", True):
            shown[call["who"]].append(call)
    left = defaultdict[str, list[Span]](list)
    for who, span in absent:
        left[who].append(span)
    for who in shown.keys() | unsure.keys():
        left[who] += ((at, at) for at in silences(sorted(call["told"] for call in shown[who]), unsure[who]))
    for who, spans in left.items():
        asked = [call["asked"] for call in shown[who]]
        first_told = [*accumulate((call["told"] for call in reversed(shown[who])), min, initial=NEVER)][::-1]
        ways: dict[tuple[float, int], float] = {}
        for since, at in sorted(spans):
            seen = first_told[bisect_left(asked, at)]
            ways.setdefault((seen, bisect(unsure[who], at)), since)
        for (seen, _), at in ways.items():
            yield {"who": who, "asked": at, "told": seen, "answer": "unknown"}


def silences(told: list[float], unsure: list[float]) -> Iterator[float]:
    """Yield when an agent may have become silent for long: after an answer that shows it, or an unanswered call.

    An unanswered call may have been heard, at once or later, so that one may also end a silence.
    """
    last = -NEVER
    for at in sorted([*told, *unsure]):
        shown = next(iter(told[bisect(told, at) :]), NEVER)
        is_heard_again = shown < NEVER or (bool(unsure) and unsure[-1] > at)
        if is_heard_again and shown - at >= SILENCE and at - last >= SILENCE:
            last = at
            yield at


def arrivals(look: Call, sent: Call, acks: list[Call], comes: list[Call]) -> list[Span]:
    """Return when a text may have been put into an inbox so that a look finds it there.

    It is put there when it is sent, and its acknowledgement takes it away. Work that its holder had acknowledged may be
    put there once more with each coming; so it comes back at most as often as its holder, and not before.
    """
    taken = [ack for ack in acks if ack["answer"] == "yes" and ack["told"] < look["asked"]]
    found = [] if taken else [(sent["asked"], sent["told"])]
    if not sent.get("work"):
        return found
    since = min((ack["asked"] for ack in acks if ack["answer"] != "no"), default=NEVER)
    back = [
        each
        for each in comes
        if each["answer"] != "no" and since < each["told"] and each["asked"] < look["told"]
    ]
    if len(taken) <= len(back):
        found += [
            (each["asked"], each["told"])
            for each in back
            if all(ack["asked"] < each["told"] for ack in taken)
        ]
    return found


def strange(look: Call, letters: dict[tuple[str, str], Call], puts: dict[str, list[Span]]) -> Iterator[str]:
    """Yield texts that were delivered twice, again, to another agent, or without being sent."""
    counts: Counter[str] = Counter(look["texts"])
    for text, count in counts.items():
        if count > 1:
            yield f"doubled: {text} lies {count} times in the inbox that {look['call']} was told"
        if not puts.get(text, [()]):
            yield f"came back: {text} was acknowledged, and {look['call']} was told it again"
        letter = letters.get((look["who"], text))
        if letter is None or letter["asked"] > look["told"]:
            yield f"from nowhere: {look['call']} was told {text}, which nobody had sent to {look['who']}"


def stale(looks: list[Call], sent: dict[str, Call], acks: dict[tuple[str, str], list[Call]]) -> Iterator[str]:
    """Yield texts that were sent before a look and not acknowledged, but are missing in it."""
    hidden = {
        text: min((ack["asked"] for ack in acks[call["to"], text]), default=NEVER)
        for text, call in sent.items()
    }
    due: dict[str, list[Call]] = defaultdict(list)
    for call in sorted(sent.values(), key=lambda each: float(each["told"]), reverse=True):
        if call["answer"] == "yes":
            due[call["to"]].append(call)
    waiting: dict[str, set[str]] = defaultdict(set)
    for look in looks:
        who = look["who"]
        while due[who] and due[who][-1]["told"] < look["asked"]:
            waiting[who].add(due[who].pop()["text"])
        waiting[who] = {text for text in waiting[who] if hidden[text] > look["told"]}
        missed = waiting[who].difference(look["texts"]) if look["whole"] else set[str]()
        yield from (f"stale: {look['call']} was not told {each}" for each in missed)


def disorder(look: Call, puts: dict[str, list[Span]]) -> Iterator[str]:
    """Yield texts before others that had been put there before they were begun."""
    earliest, first = NEVER, ""
    for text in reversed(look["texts"]):
        begun = min((asked for asked, _ in puts.get(text, [])), default=0.0)
        done = max((told for _, told in puts.get(text, [])), default=NEVER)
        if earliest < begun:
            yield f"reordered: {look['call']} was told {text} before {first}, which had been sent first"
        if done < earliest:
            earliest, first = done, text


def held(by_deed: dict[str, list[Call]], gone: list[tuple[str, float]]) -> Holdings:
    """Return for each thing from when until when a call's maker could rely on it."""
    ends: dict[tuple[str, str], list[float]] = defaultdict(list)
    for call in (*by_deed["give"], *by_deed["finish"]):
        ends[call["who"], call["thing"]].append(call["asked"])
    for who, at in gone:
        ends[who, ""].append(at)
    found: Holdings = defaultdict(list)
    for call in (each for each in by_deed["take"] if each["answer"] == "yes"):
        who, thing = call["who"], call["thing"]
        ended = [at for at in (*ends[who, thing], *ends[who, ""]) if at > call["asked"]]
        until = min([*ended, call["asked"] + call.get("lasts", NEVER)])
        found[thing].append((call["told"], until, call))
    return {thing: sorted(those, key=lambda each: each[:2]) for thing, those in found.items()}


def overlaps(holdings: Holdings) -> Iterator[str]:
    """Yield things that two agents relied on at once, or that a later holder got with a smaller fence."""
    for thing, those in holdings.items():
        latest, holder = -NEVER, ""
        for begun, until, call in those:
            if begun < min(latest, until) and holder != call["who"]:
                yield f"overlap: {call['who']} took {thing} by {call['call']} while {holder} held it"
            if until > latest:
                latest, holder = until, call["who"]
        fences = [call for _, _, call in those if "fence" in call]
        for one, other in pairwise(fences):
            if one["told"] < other["asked"] and one["who"] != other["who"] and one["fence"] >= other["fence"]:
                yield f"fence: {other['call']} took {thing} after {one['call']}, whose fence is not less"


def finishes(by_deed: dict[str, list[Call]], holdings: Holdings) -> Iterator[str]:
    """Yield things that were finished twice, or while another held them, or taken after their finish."""
    ended: dict[str, Call] = {}
    for call in (each for each in by_deed["finish"] if each["answer"] == "yes"):
        thing = call["thing"]
        if thing in ended:
            yield f"done twice: {thing} by {ended[thing]['call']} and by {call['call']}"
        ended.setdefault(thing, call)
        for begun, until, take in holdings.get(thing, ()):
            if begun < call["asked"] and call["told"] < until and take["who"] != call["who"]:
                yield f"done by another: {thing} by {call['call']}, while {take['who']} held it"
            if take["asked"] > call["told"]:
                yield f"taken when it was over: {thing} by {take['call']}"


def lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file, which may be packed."""
    with (
        gzip.open(file, "rt", encoding="utf-8")
        if file.suffix == ".gz"
        else file.open(encoding="utf-8") as opened
    ):
        yield from opened


def main(files: list[str]) -> int:
    """Print the findings; return 1 if there are any."""
    calls, rest = read(line for file in files for line in lines(Path(file)))
    found = list(findings(calls, rest))
    answers = Counter(f"{call['do']} {call['answer']}" for call in calls)
    told = ", ".join(f"{count} {name}" for name, count in sorted(answers.items()))
    sys.stdout.write("\n".join([*found, f"{len(calls)} calls ({told}): {len(found)} findings"]) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
