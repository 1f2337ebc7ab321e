"""Event ids are given once, whatever becomes of the log that held them."""


def test_quick_restarts_without_a_log_on_disk_give_no_id_again(new_server, name):
    seen = []
    server = new_server("--store", "memory")
    for _ in range(4):
        for number in range(50):
            server.client.create(id=f"{name}-{number}", after="1h")
        ids = [event["id"] for event in server.client.history()]
        assert len(ids) == 100 and ids == sorted(ids)
        assert not seen or seen[-1] < ids[0]
        seen += ids
        server.kill9()
        server.start()
    assert len(set(seen)) == len(seen)
