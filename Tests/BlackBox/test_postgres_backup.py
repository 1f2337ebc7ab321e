"""PostgreSQL's own backup: a base backup and the archived log bring the log back to one instant."""

import subprocess

import pytest

from patience import PATIENCE
from postgres import Postgres, as_user, folder, programs
from server import Server, run
from timers import poll

pytestmark = pytest.mark.xdist_group("postgres")


def timers(api):
    """All timers as they are shown, but for what goes on by itself."""
    page = api.get("/v1/timers?limit=1000").expect(200).json
    assert page["next"] is None
    return {timer["id"]: {**timer, "remaining": None} for timer in page["timers"]}


def change(api, stem):
    """Creates timers, and changes some: in several batches, so in many rows."""
    for n in range(40):
        api.create(id=f"{stem}-{n}", payload={"n": n}, labels={"stem": stem})
    for n in range(0, 40, 4):
        api.command(f"{stem}-{n}", "suspend").expect(200)
        api.command(f"{stem}-{n + 1}", "fire").expect(200)
        api.delete(f"/v1/timers/{stem}-{n + 2}").expect(204)


@pytest.mark.thorough
def test_a_restore_to_an_instant_has_exactly_what_stood_then():
    archive, backup = folder(), folder()
    command = f"test ! -f {archive}/%f && cp %p {archive}/%f.part && mv {archive}/%f.part {archive}/%f"
    with Postgres("archive_mode=on", f"archive_command={command}") as postgres:
        with Server("--store", postgres.schema("timers"), "--migrate") as server:
            api = server.client
            change(api, "early")
            copy = as_user(programs() / "pg_basebackup", "-h", postgres.folder, "-U", "postgres", "-D", backup / "data",
                           "-c", "fast", "-X", "none", "--no-manifest")
            subprocess.run(copy, check=True, timeout=PATIENCE, stderr=subprocess.DEVNULL, cwd="/")
            change(api, "middle")
            stood, seen = timers(api), api.history()
            postgres.execute("SELECT pg_create_restore_point('noon')")
            change(api, "late")
            api.delete("/v1/timers/early-3").expect(204)
            api.command("middle-3", "cancel").expect(200)
            newest = int(api.history()[-1]["id"])
            # What is archived holds the restore point.
            wanted, = postgres.execute("SELECT pg_walfile_name(pg_switch_wal())")
            poll(lambda: (archive / wanted).exists(), PATIENCE)

    (backup / "data" / "recovery.signal").touch()
    recovery = (f"restore_command=cp {archive}/%f %p", "recovery_target_name=noon", "recovery_target_action=promote")
    with Postgres(*recovery, data=backup / "data") as restored:
        poll(lambda: restored.execute("SELECT pg_is_in_recovery()") == ["f"], PATIENCE)
        uri = restored.uri("timers")
        done = run("log", "verify", "--store", uri)
        assert done.returncode == 0, done
        assert f"{len(stood)} timers" in done.stdout, done
        with Server("--store", uri) as server:
            # The server that was alive at that instant counts as alive until its beats are missed.
            poll(lambda: server.client.get("/readyz").status == 200, PATIENCE)
            api = server.client
            assert timers(api) == stood
            assert api.history() == seen
            made = api.create(id="anew")
            assert int(api.history_of(made["id"])[0]["id"]) > newest
            api.command("early-0", "resume").expect(200)
            server.stop()
        done = run("log", "verify", "--store", uri)
        assert done.returncode == 0 and f"{len(stood) + 1} timers" in done.stdout, done
