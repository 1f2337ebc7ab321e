"""What the tests know about webhooks: quick retries, firing, and the events of deliveries."""

import base64

from timers import instant

# Three attempts within a tenth of a second.
FAST = {"initial": "10ms", "max": "50ms", "maxAttempts": 3}
# As many attempts as there may be, at once.
STUBBORN = {"initial": "1ms", "max": "5ms", "maxAttempts": 100}
# After a first failure no second attempt comes within a test.
LATER = {"initial": "1h", "max": "2h", "maxAttempts": 3}

ERRORS = {"unresolved", "refused", "unreachable", "untrusted", "timedOut", "interrupted", "malformed"}
DELIVERY = ("delivered", "deliveryFailed", "deliveryDead")
KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(bytes(range(100, 140))).decode()


def hooked(api, url, id=None, retry=FAST, timer=None, **webhook):
    """Creates a timer of an hour that delivers its fires to `url`; `timer` has further fields of it."""
    fields = {"every": "1h", **(timer or {})}
    if id:
        fields["id"] = id
    return api.create(**fields, webhook={"url": url, "retry": retry, **webhook})["id"]


def fire(api, id, count=1):
    """Fires a running timer that many times by command."""
    lines = api.batch([{"command": "fire", "id": id}] * count, "?results=brief").expect(200).lines
    assert [line["status"] for line in lines] == [200] * count, lines


def events(api, id, *types, count=1):
    """The timer's events of these types from its beginning on, once there are `count` of them."""
    query = f"&types={','.join(types)}" if types else ""
    with api.stream(f"/v1/timers/{id}/events?since=0&limit={count}{query}").expect(200) as stream:
        return stream.rest()


def event(api, id, *types):
    """The timer's first event of these types."""
    return events(api, id, *types)[0]


def fired(api, id):
    """The ids of the timer's fires up to now, in order."""
    return [event["id"] for event in api.history_of(id) if event["type"] == "fired"]


def is_delivery_event(event, id, of=None):
    """Whether the event about a delivery has every member it must have, and none it can't have."""
    assert event["type"] in DELIVERY and event["timer"] == id, event
    assert event["id"] > event["delivery"] and len(event["delivery"]) == len(event["id"]), event
    assert isinstance(event["version"], int) and isinstance(event["labels"], dict), event
    assert isinstance(event["attempt"], int), event
    instant(event["at"])
    if event["type"] == "delivered":
        assert 200 <= event["status"] <= 299 and "error" not in event, event
    elif event.get("reason") not in ("backlog", "age"):
        assert ("status" in event) != ("error" in event), event
    if "error" in event:
        assert event["error"] in ERRORS, event
    assert ("nextAttemptAt" in event) == (event["type"] == "deliveryFailed"), event
    assert ("reason" in event) == (event["type"] == "deliveryDead"), event
    if "reason" in event:
        assert event["reason"] in ("attempts", "backlog", "status", "age", "gone"), event
    if of:
        assert event["delivery"] == of, event
    return True


def attempts(api, id, count):
    """The first `count` events about deliveries of the timer, each checked for its shape."""
    found = events(api, id, *DELIVERY, count=count)
    assert all(is_delivery_event(event, id) for event in found)
    return found


def deliveries(api, query=""):
    """What `GET /v1/deliveries` lists, page by page."""
    found, cursor = [], ""
    while cursor is not None:
        page = api.get(f"/v1/deliveries?{query}" + (f"&cursor={cursor}" if cursor else "")).expect(200).json
        found += page["deliveries"]
        cursor = page["next"]
    return found
