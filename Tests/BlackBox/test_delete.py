"""DELETE /v1/timers/{id}, streams of deleted timers, and how finished timers are deleted by themselves."""

from timers import poll, timer_in, types


def test_a_timer_is_gone_after_204(api, name):
    timer = timer_in(api, "suspended", id=name, labels={"delete": name})
    reply = api.delete(f"/v1/timers/{name}").expect(204)
    assert reply.body == b"" and "Content-Type" not in reply.headers
    api.get(f"/v1/timers/{name}").problem(404, "not-found")
    api.delete(f"/v1/timers/{name}").problem(404, "not-found")
    api.command(name, "activate").problem(404, "not-found")
    assert api.get(f"/v1/timers/{name}/events").expect(200).lines[-1]["type"] == "deleted"
    assert api.get(f"/v1/timers?label=delete%3D{name}").json["timers"] == []
    events = api.history(f"&label=delete%3D{name}")
    last = events[-1]
    assert (last["type"], last["timer"], last["reason"]) == ("deleted", name, "request")
    assert last["version"] > timer["version"]


def test_the_timers_own_stream_ends_after_deleted(api):
    id = api.create()["id"]
    with api.stream(f"/v1/timers/{id}/events").expect(200) as stream:
        api.delete(f"/v1/timers/{id}").expect(204)
        assert types(stream.rest()) == ["deleted"]


def test_a_stream_over_all_timers_goes_on_after_deleted(api, name):
    with api.stream(f"/v1/events?label=delete%3D{name}").expect(200) as stream:
        first = api.create(labels={"delete": name})["id"]
        api.delete(f"/v1/timers/{first}").expect(204)
        api.create(labels={"delete": name})
        assert types(stream.take(5)) == ["created", "activated", "deleted", "created", "activated"]


def test_a_finished_timer_expires_after_retain(api):
    timer = timer_in(api, "completed")
    with api.stream(f"/v1/timers/{timer['id']}/events?types=deleted").expect(200) as stream:
        api.patch(f"/v1/timers/{timer['id']}", {"retain": "50ms"}).expect(200)
        assert [event["reason"] for event in stream.rest()] == ["expired"]
    api.get(f"/v1/timers/{timer['id']}").problem(404, "not-found")


def path_of(name):
    return [f"/v1/timers/{name}/events", f"/v1/events?timer={name}"]


def test_a_deleted_timers_history_stays_while_it_is_kept(new_server, name):
    server = new_server()
    api = server.client
    api.create(id=name, payload={"a": 1})
    api.command(name, "suspend").expect(200)
    api.delete(f"/v1/timers/{name}").expect(204)
    history = api.history(f"&timer={name}")
    assert types(history) == ["created", "activated", "suspended", "deleted"]
    for life in range(2):
        for path in path_of(name):
            # The stream ends, with or without follow: no further event can come.
            and_ = "&" if "?" in path else "?"
            assert api.get(path).expect(200).lines == history
            assert api.get(f"{path}{and_}follow=false").expect(200).lines == history
            assert api.get(f"{path}{and_}since={history[1]['id']}").expect(200).lines == history[2:]
            for nothing in (f"since={history[-1]['id']}", "types=fired", f"since={history[1]['id']}&types=created"):
                assert api.get(f"{path}{and_}{nothing}").expect(204).headers["Event-Id"] >= history[-1]["id"]
                assert api.head(f"{path}{and_}{nothing}").expect(204).body == b""
                assert api.get(f"{path}{and_}{nothing}&follow=false").expect(200).lines == []
            assert api.get(f"{path}{and_}types=deleted,created&limit=1").expect(200).lines == history[:1]
            assert api.head(path).expect(200).body == b""
        api.get(f"/v1/timers/{name}").problem(404)
        api.get(f"/v1/timers/{name}/wait?timeout=0s").problem(404)
        api.get(f"/v1/timers/{name}/events?since=9223372036854775807").problem(410, "events-expired")
        server.kill9()
        api = server.start().client
    again = api.create(id=name)
    with api.stream(f"/v1/timers/{name}/events").expect(200) as stream:
        api.delete(f"/v1/timers/{name}").expect(204)
        assert types(stream.rest()) == ["deleted"]
    # The newest timer of that name.
    second = api.get(f"/v1/timers/{name}/events").expect(200).lines
    assert types(second) == ["created", "activated", "deleted"] and second[0]["version"] == again["version"]


def test_a_deleted_timers_history_is_404_once_it_is_gone(new_server, name):
    api = new_server("--retain-events", "1ms,1KiB").client
    api.create(id=name)
    api.delete(f"/v1/timers/{name}").expect(204)
    filler = [{"id": f"filler-{n}", "after": "1h", "payload": "x" * 20_000} for n in range(100)]

    def is_gone():
        api.batch(filler + [{"command": "delete", "id": line["id"]} for line in filler]).expect(200)
        return api.get(f"/v1/timers/{name}/events").status == 404
    poll(is_gone, timeout=30, pause=0.1)
    for path in path_of(name):
        api.get(path).problem(404, "not-found")
