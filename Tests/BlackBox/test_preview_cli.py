"""timerd preview: the next fires of a cron expression, without a server."""

import json
import re

from server import run

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def preview(*arguments):
    done = run("preview", *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.splitlines()


def test_ten_fires_of_local_time_and_utc():
    words, *lines = preview("0 9 * * MON-FRI", "--time-zone", "Europe/Berlin")
    assert words == "every weekday at 09:00, Europe/Berlin" and len(lines) == 10
    for line in lines:
        assert LINE.fullmatch(line), line
        local, utc = line.split()
        assert local[10:] in ("T09:00:00+01:00", "T09:00:00+02:00") and utc[10:] == ("T08:00:00Z" if local.endswith("+01:00") else "T07:00:00Z")


def test_it_is_the_servers_own_answer(api):
    arguments = {"cron": "*/20 2,3 * * *", "timeZone": "America/New_York", "from": "2031-03-08T00:00:00Z"}
    answer = api.post("/v1/schedules/preview?count=30&describe=true", arguments).expect(200).json
    shown = json.loads("\n".join(preview("*/20 2,3 * * *", "--time-zone", "America/New_York", "--count", "30", "--from", "2031-03-08T00:00:00Z", "--json")))
    assert shown["fires"] == answer["fires"] and len(shown["local"]) == 30
    assert answer["description"] == shown["description"] + "; from 2031-03-08 00:00 UTC on"


def test_what_makes_no_sense_is_one_line_and_exit_64():
    done = run("preview", "@daily", "--time-zone", "europe/berlin")
    assert (done.returncode, done.stdout) == (64, ""), done
    line, = done.stderr.splitlines()
    assert line.startswith("timerd: ") and "did you mean Europe/Berlin" in line, line
