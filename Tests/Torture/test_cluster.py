"""The checks of what several nodes did can fail too."""

import json

import pytest

from cluster.chain import check_chain
from cluster.clients import Gate, owner_of
from cluster.faults import OF_DATABASE, OF_LINKS, OF_NODES, faults
from cluster.nodes import Node
from cluster.report import takeovers
from handmade import NOW, Handmade, view
from record import Broken, Record
from run import check
from wire import Answer

# (previous, first, last, epoch)
CHAIN = [(-1, 0, 0, 0), (0, 10, 20, 1), (20, 30, 30, 2), (30, 31, 40, 2)]


def test_a_chain_of_rising_epochs_passes():
    assert check_chain(CHAIN) == (4, 2)


@pytest.mark.parametrize("row, said", [
    ((20, 30, 30, 0), "epoch 0 of row 30 follows epoch 1"),
    ((10, 30, 30, 2), "follows 10, and the one before it ends at 20"),
    ((20, 20, 30, 2), "row 20 to 30 follows 20"),
])
def test_a_broken_chain_is_found(row, said):
    with pytest.raises(Broken, match=said):
        check_chain([*CHAIN[:2], row, *CHAIN[3:]])


def running():
    """A timer that was made, and the instant of its first fire in ms after NOW."""
    hand = Handmade()
    op = hand.ask("create", "t", {"id": "t", "every": "3600000ms", "labels": {"n": "1"}})
    hand.event("created", 1)
    hand.now -= 1
    hand.event("activated", 1)
    due = hand.now - NOW + 3_600_000
    hand.tell(op, 201, view(1, "running", next=due))
    return hand, due


def suspended(state, version):
    """A timer that one node suspends; a read at another one, sent after that answer, shows this state and version."""
    hand, due = running()
    op = hand.ask("suspend", "t")
    hand.event("suspended", 2)
    hand.tell(op, 200, view(2, "suspended"))
    op = hand.ask("get", "t")
    hand.record.entries[-1]["process"] = "n1#1"
    hand.tell(op, 200, view(version, state, next=due if state == "running" else None))
    return hand.build()


def test_a_read_of_what_stands_passes():
    check(suspended("suspended", 2))


def test_a_read_by_a_node_past_its_lease_is_found():
    with pytest.raises(Broken, match="was shown v1, and v2 had been answered before it was sent"):
        check(suspended("running", 1))


def test_sigterm_binds_only_the_node_that_got_it():
    for process, is_owed in (("n1#1", True), ("n2#1", False)):
        hand, _ = running()
        op = hand.ask("get", "t")
        hand.record.entries[-1]["process"] = "n1#1"
        hand.note("term", process=process)
        hand.note("lost", op=op, why="closed")
        if is_owed:
            with pytest.raises(Broken, match="under way when SIGTERM came"):
                check(hand.build())
        else:
            check(hand.build())


@pytest.mark.parametrize("how", ["cut", "ended"])
@pytest.mark.parametrize("process, is_broken", [("n1#1", False), ("n1#2", True)])
def test_a_stream_ends_with_its_server_alone(how, process, is_broken):
    hand, _ = running()
    hand.record.forwards = True
    hand.note("kill", process="n1#1")
    hand.note(how, follower="f", opened=process, shown=3, limit=None)
    if is_broken:
        with pytest.raises(Broken, match="stream f ended at n1#2, which went on"):
            check(hand.build())
    else:
        check(hand.build())


def test_a_client_that_gave_up_is_owed_nothing():
    hand, _ = running()
    op = hand.ask("get", "t")
    hand.note("term")
    hand.note("lost", op=op, why="given up")
    check(hand.build())


@pytest.mark.parametrize("is_abandoned, times, fails", [(True, 1, False), (False, 1, True), (True, 2, True)])
def test_an_abandoned_attempt_may_come_after_its_repeat_was_refused(is_abandoned, times, fails):
    """A refusal frees the key: what a cut-off server still held is a request like any other, and done once at most."""
    hand, _ = running()
    op = hand.ask("resume", "t", key="k")
    if is_abandoned:
        hand.note("lost", op=op, why="given up")
        hand.ask("resume", "t", key="k", op=op)
    hand.tell(op, 409, {"type": "/problems/illegal-transition", "state": "running"})
    for turn in range(times):
        op = hand.ask("suspend", "t")
        hand.event("suspended", 2 * turn + 2)
        hand.tell(op, 200, view(2 * turn + 2, "suspended"))
        hand.event("resumed", 2 * turn + 3)
    record = hand.build()
    record.is_cluster = True
    if fails:
        with pytest.raises(Broken, match="that nobody asked for, or one request was done twice"):
            check(record)
    else:
        check(record)


@pytest.mark.parametrize("told, fails", [(1, False), (2, False), (0, True), (3, True)])
def test_a_bulk_change_may_look_as_if_it_had_done_the_next_request_too(told, fails):
    """Calendars differ by up to two seconds: a timer's next change may seem to lie within a request that has ended."""
    hand = Handmade()
    for id in ("t", "u"):
        op = hand.ask("create", id, {"id": id, "every": "3600000ms", "labels": {"n": "1"}})
        hand.event("created", 1, timer=id)
        hand.now -= 1
        hand.event("activated", 1, timer=id)
        hand.tell(op, 201, view(1, next=hand.now - NOW + 3_600_000) | {"id": id})
    op = hand.ask("bulk-suspend", ["t", "u"])
    hand.event("suspended", 2)
    hand.tell(op, 200, {"changed": told})
    op = hand.ask("suspend", "u")
    hand.event("suspended", 2, timer="u")
    hand.note("lost", op=op, why="given up")
    record = hand.build()
    record.is_cluster, record.skew_ms = True, 2200
    if fails:
        with pytest.raises(Broken, match=f"was answered {told} changed, and the history has"):
            check(record)
    else:
        check(record)


@pytest.mark.parametrize("faults, fails", [
    ([], True), ([("offset", "n1", 321), ("offset", "n1", 0)], True), ([("offset", "n1", 318)], True), ([("offset", "n1", 321)], False), ([("offset", "n1", -200), ("offset", "n2", 121)], False),
    ([("offset", "n1", 321), ("offset", "n1", 100)], True),
])
def test_a_taker_whose_calendar_is_a_period_behind_shows_an_instant_again(faults, fails):
    hand = Handmade()
    hand.now -= 2
    op = hand.ask("create", "t", {"id": "t", "every": "321ms", "labels": {"n": "1"}})
    hand.event("created", 1)
    hand.now -= 1
    hand.event("activated", 1)
    hand.tell(op, 201, view(1, next=321))
    for what, node, ms in faults:
        hand.note("fault", what=what, where=node, ms=ms)
    hand.fired(2, 1, 321)
    hand.fired(3, 2, 321)
    record = hand.build()
    record.is_cluster, record.skew_ms = True, 2200
    if fails:
        with pytest.raises(Broken, match="is twice for one due instant"):
            check(record)
    else:
        check(record)


def test_the_same_seed_gives_the_same_faults():
    kinds = {**OF_NODES, **OF_DATABASE, **OF_LINKS}
    runs = []
    for _ in range(2):
        sequence = faults(7, kinds)
        runs.append([(pause, [(fault.name, fault.dice.random()) for fault in at_once])
                     for pause, at_once in (next(sequence) for _ in range(200))])
    assert runs[0] == runs[1]
    assert {name for _, at_once in runs[0] for name, _ in at_once} == set(kinds)


def test_a_client_goes_to_the_owner_that_it_is_told():
    nodes = [Node.__new__(Node) for _ in range(3)]
    for number, node in enumerate(nodes):
        node.address = ("127.0.0.1", 1000 + number)
    gate = Gate(nodes)
    told = Answer(503, {}, json.dumps({"owner": "http://127.0.0.1:1002"}).encode())
    assert owner_of(told, gate.nodes) == ("127.0.0.1", 1002)
    gate.turn(("127.0.0.1", 1000), told)
    assert gate.current == ("127.0.0.1", 1002)
    gate.turn(("127.0.0.1", 1000))  # a late refusal by a node that the clients have left
    assert gate.current == ("127.0.0.1", 1002)
    gate.turn(("127.0.0.1", 1002), Answer(503, {}, b"{}"))
    assert gate.current == ("127.0.0.1", 1000)


class Told:
    def __init__(self, name, url, lines):
        self.name, self.cluster_url, self.lines = name, url, lines

    def told(self):
        return iter(self.lines)


def test_a_take_over_has_its_parts():
    record = Record(0)
    record.entries.append({"kind": "fault", "wall": 1000.0, "life": 1, "what": "kill", "where": "n1", "owner": True})
    nodes = [Told("n1", "http://a", []), Told("n2", "http://b", [
        (3500.0, "a node's beats have stopped; its session is ended", {"node": "http://a"}),
        (3700.0, "took the timers over", {})])]
    assert list(takeovers(record, nodes, [(3750.0, "n2")])) == [pytest.approx((2.5, 0.2, 2.75))]
