"""timerd preview: the next fires of a cron expression, without a server."""

import json
import re

import pytest

from server import run

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def preview(*arguments):
    done = run("preview", *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.splitlines()


def test_ten_fires_of_local_time_and_utc():
    lines = preview("0 9 * * MON-FRI", "--time-zone", "Europe/Berlin")
    assert len(lines) == 10
    for line in lines:
        assert LINE.fullmatch(line), line
        local, utc = line.split()
        assert local[10:] in ("T09:00:00+01:00", "T09:00:00+02:00") and utc[10:] == ("T08:00:00Z" if local.endswith("+01:00") else "T07:00:00Z")


def test_it_is_the_servers_own_answer(api):
    arguments = {"cron": "*/20 2,3 * * *", "timeZone": "America/New_York", "from": "2031-03-08T00:00:00Z"}
    fires = api.post("/v1/schedules/preview?count=30", arguments).expect(200).json["fires"]
    shown = json.loads("\n".join(preview("*/20 2,3 * * *", "--time-zone", "America/New_York", "--count", "30", "--from", "2031-03-08T00:00:00Z", "--json")))
    assert shown["fires"] == fires and len(shown["local"]) == 30


def test_utc_is_the_default_and_from_itself_counts():
    assert preview("@daily", "--count", "2", "--from", "2031-01-01T00:00:00Z") == [
        "2031-01-01T00:00:00Z  2031-01-01T00:00:00Z", "2031-01-02T00:00:00Z  2031-01-02T00:00:00Z"]


def test_offsets_west_and_of_half_an_hour():
    assert preview("30 6 1 1 *", "--count", "1", "--from", "2031-01-01T00:00:00Z", "--time-zone", "Asia/Kolkata") == [
        "2031-01-01T06:30:00+05:30  2031-01-01T01:00:00Z"]
    assert preview("0 0 1 7 *", "--count", "1", "--from", "2031-01-01T00:00:00Z", "--time-zone", "America/New_York") == [
        "2031-07-01T00:00:00-04:00  2031-07-01T04:00:00Z"]


@pytest.mark.parametrize("arguments, told", [
    (["61 * * * *"], "61"), (["* * * *"], "fields"), (["0 0 30 2 *"], "never"), (["@daily", "--time-zone", "Europe/Pariss"], "Europe/Pariss"),
    (["@daily", "--count", "0"], "--count"), (["@daily", "--count", "1001"], "--count"), (["@daily", "--count", "x"], "count"),
    (["@daily", "--from", "soon"], "--from"), ([], "cron"), (["@daily", "--time-zone", "../../etc/passwd"], "time zone"), ([""], "fields"),
    (["@daily", "--time-zone", "europe/berlin"], "did you mean Europe/Berlin"), (["TZ=UTC 0 9 * * *"], "--time-zone"),
    (["0 9 * * 1\u20135"], "'1\u20135'"),
])
def test_what_makes_no_sense_is_one_line_and_exit_64(arguments, told):
    done = run("preview", *arguments)
    assert done.returncode == 64 and done.stdout == "", done
    line, = done.stderr.splitlines()
    assert line.startswith("timerd: ") and told.lower() in line.lower(), line


def test_the_help_has_examples():
    done = run("preview", "--help")
    assert done.returncode == 0 and "--time-zone" in done.stdout and "Europe/Berlin" in done.stdout


def test_create_takes_every_field_from_the_shell(server, name):
    fields = {"cron": "0 9 * * MON-FRI", "timeZone": "Europe/Berlin", "from": "2035-01-01T00:00:00.000Z", "leeway": "1s", "jitter": "2s",
              "onResume": "skip", "misfire": "all", "misfireGrace": "1h", "maxFires": 3, "until": "2036-01-01T00:00:00.000Z", "retain": "2d",
              "start": "subscriber", "clock": "wall"}
    arguments = [part for field, value in fields.items() for part in ("--" + re.sub("[A-Z]", lambda word: "-" + word[0].lower(), field), str(value))]
    done = run("create", "--id", name, *arguments, "--restartable", "--json", "--server", server.url)
    assert done.returncode == 0, done
    timer = json.loads(done.stdout)
    assert {field: timer[field] for field in fields} == fields and timer["restartable"] is True


def test_a_watchdog_from_the_shell(server, name):
    done = run("create", "--id", name, "--watchdog", "1h", "--misses", "2", "--repeat-alarm", "--json", "--server", server.url)
    assert done.returncode == 0, done
    timer = json.loads(done.stdout)
    assert (timer["watchdog"], timer["misses"], timer["repeatAlarm"]) == ("1h", 2, True)
    kicked = run("kick", name, "--json", "--server", server.url)
    assert json.loads(kicked.stdout)["kickCount"] == 1


def test_a_person_reads_that_it_is_stalled(server, name):
    server.client.create(id=name, watchdog="20ms")
    server.client.get(f"/v1/timers/{name}/wait?since=0&timeout=8s").expect(200)
    listed = run("get", name, "--server", server.url)
    assert "stalled" in listed.stdout, listed
    assert "stalled" not in run("kick", name, "--server", server.url).stdout.replace("stalledFor", "")
    watched = run("watch", name, "--since", "0", "--limit", "4", "--server", server.url)
    assert "recovered" in watched.stdout and "stalledFor=" in watched.stdout, watched


@pytest.mark.parametrize("arguments", [["--manual", "--start", "now", "--after", "1h"], ["--body", "{}", "--cron", "@daily"], ["--leeway", "1s"]])
def test_create_options_that_exclude_each_other(arguments):
    done = run("create", *arguments, "--server", "http://127.0.0.1:1")
    assert done.returncode == 64, done
