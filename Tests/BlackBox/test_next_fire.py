"""nextFireAt in events, over a restart."""


def test_old_events_say_it_too_after_a_restart(new_server):
    server = new_server()
    api = server.client
    id = api.create(every="1h")["id"]
    api.command(id, "fire").expect(200)
    before = api.history_of(id)
    assert [event["nextFireAt"] for event in before] == [api.timer(id)["nextFireAt"]] * 3
    server.kill9()
    assert server.start().client.history_of(id) == before
