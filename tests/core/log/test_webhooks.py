"""Webhooks: what of the log is put into the outbox for them."""

from datetime import timedelta

import pytest

from hubbub.core.log import outbox, webhooks
from hubbub.core.presence import presences
from hubbub.model.errors import Conflict, Invalid, NotFound
from hubbub.model.log.outbox_items import AttemptReport, AttemptResult, DeliveryOutcome, OutboxItem
from hubbub.model.log.webhooks import Webhook
from hubbub.model.records import Condition, Profile
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World

URL = "https://example.org/hook/T0PSECRET"


def add(world: World, *events: str) -> Webhook:
    webhook, _secret = world.do(webhooks.add, world.project, URL, events or ("*",))
    return webhook


def advance(world: World) -> None:
    """Queue all news, as the hub does it."""
    for webhook_id in world.do(webhooks.behind):
        while world.do(webhooks.advance, webhook_id):
            pass


def put(world: World) -> list[OutboxItem]:
    """Everything in the outbox, in order."""
    return list(world.do(outbox.of_project, world.id, limit=500))[::-1]


def test_a_need_is_told_once_however_often_its_moment_shows_it(world: World) -> None:
    """Of several activities of one millisecond that show a new need, the first is told, on whichever page they are."""
    world.report("bob")
    add(world, "needs")
    moment = round(world.clock()) + 1

    def waits(doing: str) -> None:
        """The agent waits for people, and says so in that moment."""
        world.at(
            moment,
            presences.report,
            world.id,
            "bob",
            instance="first",
            condition=Condition.WAITING,
            profile=Profile(doing=doing),
            ttl=timedelta(minutes=10),
        )

    waits("left or right?")
    waits("left?")
    advance(world)
    waits("right?")
    advance(world)

    shown = [each for each in world.log() if each.at == moment and each.patch and '"question"' in each.patch]
    assert (len(shown), [each.activity for each in put(world)]) == (3, [shown[0].seq])


def happen(world: World, *kinds: str) -> None:
    def record(tx: Tx) -> None:
        for kind in kinds:
            tx.record(kind, project_id=world.id)

    world.do(record)


def deliver(world: World, fate: AttemptResult = AttemptResult.DELIVERED) -> list[str | None]:
    """Attempt every due delivery once; return the events."""
    errands = world.do(outbox.take, 100)
    for errand in errands:
        world.do(outbox.note, errand, AttemptReport(fate=fate), 0.0)
    return [errand.parcel.event for errand in errands]


def test_a_webhook_is_told_what_comes_after_it(world: World) -> None:
    """Everything from the webhook's beginning on is put once and in order, with where to find it."""
    happen(world, "task.sent")
    webhook = add(world)
    happen(world, "task.sent", "task.completed")
    advance(world)
    advance(world)
    parcels = put(world)
    assert [parcel.event for parcel in parcels] == ["webhook.added", "task.sent", "task.completed"]
    assert [parcel.activity for parcel in parcels] == [each.seq for each in world.log()[-3:]]
    assert {parcel.webhook_id for parcel in parcels} == {webhook.id}
    assert world.do(webhooks.behind) == []


def test_a_webhook_is_told_what_it_wants(world: World) -> None:
    """Events outside its patterns are skipped, as are the fates of deliveries, and other projects."""
    add(world, "task.*")
    other = world.elsewhere("other")
    happen(world, "agent.met", "task.sent", "message.sent")
    happen(other, "task.failed")
    advance(world)
    assert deliver(world) == ["task.sent"]
    advance(world)
    assert [parcel.event for parcel in put(world)] == ["task.sent"]


def test_hubs_that_read_on_at_once_put_each_thing_once(world: World) -> None:
    """However many hubs read on for a webhook at once, everything is put exactly once."""
    webhook = add(world, "task.*")
    happen(world, *[f"task.{name}" for name in ("sent", "started", "completed")])
    world.race(*[lambda tx: webhooks.advance(tx, webhook.id)] * RACERS)
    assert [parcel.event for parcel in put(world)] == ["task.sent", "task.started", "task.completed"]


def test_a_webhook_is_told_one_thing_after_the_other(world: World) -> None:
    """Later events wait until earlier ones have arrived or are given up; other webhooks go on."""
    add(world, "task.*")
    happen(world, "task.sent", "task.completed")
    advance(world)
    add(world, "agent.*")
    happen(world, "agent.met")
    advance(world)

    assert sorted(filter(None, deliver(world, AttemptResult.FAILED))) == ["agent.met", "task.sent"]
    assert sorted(filter(None, deliver(world, AttemptResult.REFUSED))) == ["agent.met", "task.sent"]
    assert deliver(world) == ["task.completed"]


def test_what_a_webhook_misses_waits_in_the_log(world: World) -> None:
    """While a receiver is away only some parcels are put ahead; nothing of the rest is lost, whatever comes."""
    add(world, "task.*")
    happen(world, *["task.sent"] * (webhooks.PAGE + webhooks.AHEAD))
    happen(world, "task.completed")
    advance(world)
    assert len(put(world)) == webhooks.AHEAD
    assert world.do(webhooks.behind) == []
    told: list[str | None] = []
    while events := deliver(world):
        told += events
        advance(world)
    assert told == ["task.sent"] * (webhooks.PAGE + webhooks.AHEAD) + ["task.completed"]


def test_a_removed_webhook_is_told_no_more(world: World) -> None:
    """Pending deliveries to a removed webhook are withdrawn and cannot be tried again; new events are not queued."""
    webhook = add(world)
    advance(world)
    (parcel,) = put(world)
    world.do(webhooks.remove, world.project, str(webhook.id))
    happen(world, "task.sent")
    advance(world)
    assert [parcel.outcome for parcel in put(world)] == [DeliveryOutcome.WITHDRAWN]
    assert world.do(webhooks.of_project, world.project) == []
    with pytest.raises(NotFound):
        world.do(webhooks.remove, world.project, str(webhook.id))
    with pytest.raises(Conflict):
        world.do(outbox.retry, world.id, str(parcel.id))


def test_of_a_removed_webhook_no_secret_is_kept(world: World) -> None:
    """With it go the secret that signed, and the address, in which there may be one; of another nothing changes."""
    removed, other = add(world), add(world)
    world.do(webhooks.remove, world.project, str(removed.id))
    rows = world.do(lambda tx: tx.all("SELECT id, url, secret FROM webhooks"))
    kept = {row["id"]: (row["url"], row["secret"]) for row in rows}
    assert kept == {removed.id: ("", ""), other.id: (URL, other.secret)}


def test_a_webhook_of_others_is_not_found(world: World) -> None:
    """A webhook of another project, or what is none, cannot be removed."""
    webhook = add(world)
    other = world.elsewhere("other")
    for ref in (str(webhook.id), "nonsense"):
        with pytest.raises(NotFound):
            other.do(webhooks.remove, other.project, ref)


def test_the_log_does_not_hold_the_address(world: World) -> None:
    """The log has the host and the events of a webhook: its address may hold a secret."""
    webhook = add(world, "task.*")
    advance(world)
    happen(world, "task.sent")
    advance(world)
    deliver(world)
    world.do(webhooks.remove, world.project, str(webhook.id))
    told = {each.kind: each.detail for each in world.log() if each.kind.startswith(("webhook", "outbox"))}
    assert set(told) == {"webhook.added", "outbox.delivered", "webhook.removed"}
    assert told["webhook.added"]["host"] == "example.org"
    assert told["outbox.delivered"]["target"] == "example.org"
    assert "T0PSECRET" not in str(told)
    assert webhook.secret not in str(told)


def test_a_bad_webhook_is_not_added(world: World) -> None:
    """An address or an event that will not do is refused, as is one webhook too many; nothing is kept of it."""
    for url, events in (
        ("example.org", ["*"]),
        (URL, ["task"]),
        (URL, ["task.zz"]),
        (URL, ["zz.*"]),
        (URL, []),
    ):
        with pytest.raises(Invalid):
            world.do(webhooks.add, world.project, url, events)
    assert "webhook.added" not in world.kinds()
    for _ in range(webhooks.MOST):
        add(world)
    with pytest.raises(Conflict):
        add(world)
