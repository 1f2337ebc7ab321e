"""The checks of histories can fail: a sound history passes, and each kind of defect gets its sentence."""

import json

import pytest

import check_streams
from handmade import NOW, Handmade, line, story, view
from record import Broken, Record
from run import check
from tell import tell
from timers import shown


def spoilt(spoil):
    """The story's record with one defect."""
    part = story()
    spoil(part)
    for hook in part.hooks:
        hook["body"] = hook["body"] if isinstance(hook["body"], str) else json.dumps(hook["body"])
    return part.hand.build()


def verdict(record):
    with pytest.raises(Broken) as broken:
        check(record)
    return broken.value


def drop(part, *events):
    """Neither in the history nor shown."""
    part.hand.events = [event for event in part.hand.events if event not in events]
    part.hand.seen = [(when, event) for when, event in part.hand.seen if event not in events]


def move(event, **fields):
    event.update(fields)


def show(part, place, when=None, **fields):
    """Changes what the follower saw at that place."""
    then, event = part.hand.seen[place]
    part.hand.seen[place] = when or then, event | fields


def swap(one, other):
    """Swaps two webhooks."""
    for name in ("id", "body"):
        one[name], other[name] = other[name], one[name]


def give_up(part):
    """The last webhook is refused, and its delivery given up for those that wait behind it."""
    part.hooks[2].update(answer=500)
    part.hand.event("deliveryDead", 7, delivery="107", reason="backlog")


def test_a_webhook_that_too_many_wait_behind_need_not_come(monkeypatch):
    monkeypatch.setattr(check_streams, "MOST_PENDING", 0)
    check(spoilt(give_up))


def test_a_sound_history_passes():
    check(spoilt(lambda part: None))


def test_a_record_is_the_same_once_read_again(tmp_path):
    record = spoilt(lambda part: None)
    record.write(tmp_path / "record.ndjson")
    again = Record.read(tmp_path / "record.ndjson")
    assert (again.entries, again.history, again.follows) == (record.entries, record.history, record.follows)
    assert [tuple(seen) for seen in again.seen["f"]] == record.seen["f"]
    check(again)


SPOILT = {
    "a lost answered change": (lambda part: drop(part, part.cancelled), "v7, which is not in the history: an answered change is lost"),
    "an answered version that something else took": (lambda part: move(part.cancelled, type="suspended"),
                                                     "was answered v7, where the history has suspended"),
    "a version jump": (lambda part: move(part.cancelled, version=8), "its version jumps from v6 to v8"),
    "a version that goes back": (lambda part: move(part.cancelled, version=3), "its version goes back: v3 after v6"),
    "ids that do not grow": (lambda part: move(part.cancelled, id="100"), "event id 100 comes after 107: ids do not grow"),
    "an early fire": (lambda part: move(part.first, at=shown(NOW + 100)), "fire 1 is early"),
    "a fire before its due instant": (lambda part: move(part.first, scheduledAt=shown(NOW + 90)), "is early: 11 ms before"),
    "a double fire": (lambda part: move(part.second, scheduledAt=part.first["scheduledAt"]), "is twice for one due instant"),
    "a fire out of order": (lambda part: move(part.second, scheduledAt=shown(NOW + 50)), "is out of order"),
    "a skipped due instant": (lambda part: drop(part, part.first) or move(part.second, fire=1, version=2), "skips a due instant"),
    "a fire number left out": (lambda part: move(part.second, fire=3), "fire 3 follows fire 1"),
    "a fire after an answered suspend": (
        lambda part: move(part.resumed, type="fired", fire=3, scheduledAt=shown(NOW + 301), latenessUs=0, missed=0, reason="due"),
        "it fired (event 106) while it is suspended"),
    "a fire after an answered cancel": (
        lambda part: part.hand.event("fired", 8, fire=4, scheduledAt=shown(NOW + 401), latenessUs=0, missed=0, reason="due"),
        "while it is cancelled"),
    "an illegal transition": (lambda part: move(part.resumed, type="activated"), "`activated`"),
    "a change that nobody asked for": (lambda part: part.hand.event("deleted", 8, reason="request"), "`delete` that nobody asked for"),
    "labels of a change to come": (lambda part: move(part.third, labels={"n": "2"}), "has the labels of change 2"),
    "a stale read": (lambda part: part.read.update(body=json.dumps(view(6, next=501, fires=3))),
                     "was shown v6, and v7 had been answered before it was sent"),
    "a read that its history does not bear out": (lambda part: part.read.update(body=json.dumps(view(7, "cancelled", 4))),
                                                  "its history says {'state': 'cancelled', 'fireCount': 3"),
    "a wrong next fire": (lambda part: part.create.update(body=json.dumps(view(1, next=150))), "as next fire at v1"),
    "an Event-Id that skips an event": (lambda part: part.create["headers"].update({"event-id": "102"}), "is not after"),
    "an Event-Id that is too old": (lambda part: part.cancel["headers"].update({"event-id": "105"}), "older than its last event"),
    "a refusal that fits no moment": (
        lambda part: part.refusal.update(body=json.dumps({"type": "/problems/illegal-transition", "state": "idle"})),
        "was answered 409 illegal-transition, and at no moment since v4 does that fit"),
    "an answer that the contract does not know": (lambda part: part.read.update(status=500, body="{}"), "was answered 500"),
    "a repeat answered otherwise": (lambda part: part.replayed_again.update(body=json.dumps(view(4, "suspended", 3))),
                                    "was answered otherwise than the first time"),
    "a repeat done twice": (lambda part: part.replayed_again["headers"].clear(), "with Idempotency-Key k was done twice"),
    "a repeat that was none": (lambda part: part.create["headers"].update({"idempotency-replayed": "true"}), "never sent before"),
    "a request that hangs": (lambda part: part.lost.update(why="no answer within 20 s"), "no answer within 20 s"),
    "a change outside of its request": (lambda part: move(part.cancelled, at=shown(NOW + 9000)), "not between its sending and its answer"),
    "an unclean exit": (lambda part: part.exit.update(code=1), "exit code 1"),
    "a gap in a stream": (lambda part: part.hand.seen.pop(3), "a gap: event 103 (fired of t) is missing before 104"),
    "a repeat in a stream": (lambda part: part.hand.seen.insert(4, part.hand.seen[3]), "event 103 (fired of t) came again"),
    "an event that was shown and vanished": (
        lambda part: part.hand.seen.append((NOW + 999, part.cancelled | {"id": "999"})), "event 999 (cancelled of t) was shown and is not"),
    "an event id reused": (lambda part: show(part, 3, type="resumed"), "an event id was reused"),
    "a stream that never came to its end": (lambda part: part.hand.seen.pop(), "event 108 (cancelled of t) never came"),
    "a stream cut with a gap": (lambda part: part.hand.seen.insert(4, (NOW, {"type": "gap", "since": "103"})), "a gap after 103"),
    "a fire that arrives before it is due": (lambda part: show(part, 2, when=NOW + 100.5), "arrived before it was due"),
    "a webhook of no fire": (lambda part: part.hooks[0].update(id="101"), "it is no fire of that timer"),
    "a webhook that is not the event": (lambda part: part.hooks[0].update(body="{}"), "its body is not the event"),
    "a webhook wrongly signed": (lambda part: part.hooks[0].update(is_signed=False), "its signature is wrong"),
    "webhooks out of order": (lambda part: swap(*part.hooks[:2]), "out of order"),
    "a forgotten webhook": (lambda part: part.hooks[2].update(answer=500), "webhook 107 of t: it was never delivered"),
    "a webhook given up too early": (lambda part: give_up(part), "given up though fewer than 1000 were pending"),
    "a delivery told twice": (lambda part: part.hand.event("delivered", 7, delivery=part.first["id"]), "was told twice"),
}


@pytest.mark.parametrize("defect", SPOILT)
def test_a_defect_is_found(defect):
    spoil, sentence = SPOILT[defect]
    assert sentence in verdict(spoilt(spoil)).sentence


def created(hand, id="t", mark=1, **fields):
    """A timer of an hour, created and answered."""
    op = hand.ask("create", id, {"id": id, "every": "3600000ms", "labels": {"n": str(mark)}, **fields})
    hand.event("created", 1, id, mark)
    hand.event("activated", 1, id, mark)
    hand.tell(op, 201, view(1, next=3_600_000 + hand.now - NOW, n=mark, id=id,
                            **({"allowed": WATCHED} if "watchdog" in fields else {})))


WATCHED = ["suspend", "cancel", "kick", "fire", "reschedule"]


@pytest.mark.parametrize("is_done", [True, False])
def test_a_change_without_an_answer_may_be_done_or_not(is_done):
    hand = Handmade()
    created(hand)
    op = hand.ask("cancel")
    if is_done:
        hand.event("cancelled", 2)
    hand.note("lost", op=op, why="reset")
    hand.die()
    check(hand.build())


def test_a_change_without_an_answer_is_done_once_at_most():
    hand = Handmade()
    created(hand)
    op = hand.ask("reschedule")
    hand.event("rescheduled", 2)
    hand.event("rescheduled", 3)
    hand.note("lost", op=op, why="reset")
    assert "v3 is a `reschedule` that nobody asked for, or one request was done twice" in verdict(hand.build()).sentence


def test_one_step_is_not_answered_to_two():
    hand = Handmade()
    created(hand)
    first, second = hand.ask("cancel"), hand.ask("cancel")
    hand.event("cancelled", 2)
    hand.tell(first, 200, view(2, "cancelled"))
    hand.tell(second, 200, view(2, "cancelled"))
    assert "v2 was answered to request 3 (cancel) and to request 2" in verdict(hand.build()).sentence


@pytest.mark.parametrize("after, is_false", [(200, False), (150, True)])
def test_a_false_alarm_is_found(after, is_false):
    hand = Handmade()
    op = hand.ask("create", body={"id": "t", "watchdog": "100ms", "labels": {"n": "1"}})
    hand.event("created", 1)
    hand.event("activated", 1)
    hand.tell(op, 201, {"id": "t", "version": 1})
    op = hand.ask("kick")
    hand.now = NOW + 90
    hand.tell(op, 200, view(2, next=190, allowed=WATCHED, lastKickedAt=shown(NOW + 90)))
    hand.fired(3, 1, after, reason="stalled")
    record = hand.build()
    if is_false:
        assert "a false alarm at v3" in verdict(record).sentence
    else:
        check(record)


@pytest.mark.parametrize("alarms, sentence", [(True, None), (False, "without an alarm before it")])
def test_a_stalled_watchdog_that_is_put_recovers_first(alarms, sentence):
    hand = Handmade()
    op = hand.ask("create", body={"id": "t", "watchdog": "100ms", "labels": {"n": "1"}})
    hand.event("created", 1)
    hand.event("activated", 1)
    hand.tell(op, 201, {"id": "t", "version": 1})
    hand.now = NOW + 150
    if alarms:
        hand.fired(2, 1, 150, reason="stalled")
    op = hand.ask("put", body={"watchdog": "3600000ms", "labels": {"n": "2"}})
    for type in ("recovered", "updated", "activated"):
        hand.event(type, 3 if alarms else 2, n=2)
    hand.tell(op, 200, {"id": "t", "version": 3 if alarms else 2})
    record = hand.build()
    if sentence:
        assert sentence in verdict(record).sentence
    else:
        check(record)


@pytest.mark.parametrize("done, is_prefix", [(("a", "b"), True), (("a",), True), ((), True), (("b",), False)])
def test_of_a_batch_without_an_answer_a_prefix_stands(done, is_prefix):
    hand = Handmade()
    created(hand)
    lines = [{"id": id, "every": "3600000ms", "labels": {"n": str(mark)}} for mark, id in ((2, "a"), (3, "b"))]
    op = hand.ask("batch", ["a", "b"], "".join(json.dumps(line) + "\n" for line in lines))
    for id in done:
        hand.event("created", 1, id, 2 + "ab".index(id))
        hand.event("activated", 1, id, 2 + "ab".index(id))
    hand.note("lost", op=op, why="reset")
    record = hand.build()
    if is_prefix:
        check(record)
    else:
        assert "what stands of it is no prefix" in verdict(record).sentence


@pytest.mark.parametrize("fires, told, sentence", [
    (3, (2, 3, 4), None),
    (4, (3, 4, 5), "v2 is a `fire` that nobody asked for, or one request was done twice"),
    (3, (2, 2, 4), "v3 is a `fire` that nobody asked for, or one request was done twice"),
    (2, (2, 3, 4), "which is not in the history"),
])
def test_a_batch_with_a_key_that_a_crash_cuts_is_done_once_a_line(fires, told, sentence):
    hand = Handmade()
    created(hand)
    body = '{"command": "fire", "id": "t"}\n' * 3
    op = hand.ask("batch", ["t"], body, key="k")
    hand.event("fired", 2, scheduledAt=shown(hand.now), latenessUs=0, fire=1, missed=0, reason="manual")
    hand.note("lost", op=op, why="reset")
    hand.die()
    hand.ask("batch", ["t"], body, key="k", op=op)
    for fire in range(2, fires + 1):
        hand.event("fired", fire + 1, scheduledAt=shown(hand.now), latenessUs=0, fire=fire, missed=0, reason="manual")
    hand.tell(op, 200, "".join(json.dumps({"status": 200, "id": "t", "version": version}) + "\n" for version in told))
    record = hand.build()
    if sentence:
        assert sentence in verdict(record).sentence
    else:
        check(record)


@pytest.mark.parametrize("found, sentence", [(["t", "u"], None), (["t"], "did not show it"), (["t", "u", "t"], "showed t twice")])
def test_a_list_shows_what_is_there_once(found, sentence):
    hand = Handmade()
    created(hand)
    created(hand, "u", 2)
    op = hand.ask("page", ["t", "u"])
    hand.tell(op, 200, {"timers": [], "next": None})
    hand.note("listed", op=op, found=found)
    record = hand.build()
    if sentence:
        assert sentence in verdict(record).sentence
    else:
        check(record)


def test_sigterm_lets_a_running_request_finish():
    hand = Handmade()
    created(hand)
    op = hand.ask("get")
    hand.note("term")
    hand.note("lost", op=op, why="reset")
    assert "was under way when SIGTERM came and got no answer" in verdict(hand.build()).sentence


@pytest.mark.parametrize("how, is_broken", [("kill", False), ("term", True)])
def test_sigterm_ends_a_stream_with_its_last_chunk(how, is_broken):
    hand = Handmade()
    created(hand)
    hand.die(how)
    hand.note("cut", follower="f", opened=1)
    record = hand.build()
    if is_broken:
        assert "stream f ended without a last chunk on SIGTERM" in verdict(record).sentence
    else:
        check(record)


@pytest.mark.parametrize("stop_ms, is_broken", [(9_000, True), (10_000, False)])
def test_a_stop_waits_so_long_for_readers(stop_ms, is_broken):
    hand = Handmade()
    created(hand)
    hand.note("term")
    hand.now += stop_ms
    hand.note("cut", follower="f", opened=1)
    hand.note("exit", code=0)
    record = hand.build()
    if is_broken:
        assert "stream f ended without a last chunk on SIGTERM" in verdict(record).sentence
    else:
        check(record)


@pytest.mark.parametrize("shown, is_broken", [(49, False), (51, True)])
def test_a_stream_shows_no_more_than_its_limit(shown, is_broken):
    hand = Handmade()
    created(hand)
    hand.note("ended", follower="f", opened=1, shown=shown, limit=50)
    record = hand.build()
    if is_broken:
        assert "stream f showed 51 events and was to show 50" in verdict(record).sentence
    else:
        check(record)


def test_what_is_told_is_about_the_timer_alone():
    hand = Handmade()
    created(hand, "other", 2)
    created(hand)
    hand.die()
    hand.die()
    cancel = hand.ask("cancel")
    hand.tell(cancel, 200, view(2, "cancelled"))
    record = hand.build()
    told = tell(record, verdict(record)).splitlines()
    assert told[0] == "BROKEN: t: request 3 (cancel) was answered v2, which is not in the history: an answered change is lost"
    assert told[1] == "seed 0"
    assert [text.split(None, 2)[2] for text in told[3:]] == [
        'c -> 2 POST /create {"id": "t", "every": "3600000ms", "labels": {"n": "1"}}',
        "event   102 created v1 at 2023-11-14T22:13:20.003Z  n=1",
        "event   103 activated v1 at 2023-11-14T22:13:20.003Z  n=1",
        "<- 2 201 v1 running fires 0 next 2023-11-14T23:13:20.003Z",
        "-- life 1: kill",
        "-- life 3: up",
        "c -> 3 POST /cancel",
        "<- 3 200 v2 cancelled fires 0 next None"]
