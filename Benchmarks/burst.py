#!/usr/bin/env python3
"""A burst: timers that are all due at one instant, and how it delays a client that reads one timer.

    burst.py PORT COUNT FOLLOWERS    on a server without timers: makes COUNT timers due at one instant, and follows all
                                     events with so many streams meanwhile. Prints, in milliseconds: the burst from the
                                     due instant to its last fire; until all of them are on disk; lateness p50, p99,
                                     most; p50, p99 and most of a GET in the second before, then during the burst. Ends
                                     with 1 when a fire is lost.

A GET is sent each 2.5 ms over 4 connections, and is counted from when it was to be sent: a request behind a slow one counts its
wait too.
"""

import http.client
import multiprocessing
import re
import sys
import threading
import time

from timers import LINES_A_BATCH, instant, request, send_all

CONNECTIONS = 4
GET_INTERVAL = 0.01
MADE_A_SECOND = 30_000  # on a busy machine
LONGEST_SECONDS = 120
FIRED = re.compile(rb'"type":"fired","timer":"b-(\d+)"')
LATENESS = re.compile(rb'"latenessUs":(\d+)')


def probe(port, begin, ended, results):
    """Reads one timer from each connection until `ended`; returns (when it was to be sent, seconds) of each GET."""
    def work(number, found):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        planned = begin + number * GET_INTERVAL / CONNECTIONS
        while not ended.is_set():
            time.sleep(max(0, planned - time.time()))
            request(connection, "GET", "/v1/timers/far")
            found.append((planned, time.time() - planned))
            planned += GET_INTERVAL

    found = [[] for _ in range(CONNECTIONS)]
    threads = [threading.Thread(target=work, args=(number, found[number])) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put([get for each in found for get in each])


def pieces(port, target):
    """The body of an event stream as it comes, each piece with the end of the one before, in which an event may begin."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_SECONDS)
    connection.request("GET", target)
    answer, rest = connection.getresponse(), b""
    while piece := answer.read1(1 << 20):
        whole, _, rest = (rest + piece).rpartition(b"\n")
        yield whole


def follow(port, count, results):
    """Follows all events from now on; returns how many timers were seen to fire, and when the last one did."""
    seen = bytearray(count)
    total = 0
    for piece in pieces(port, "/v1/events?types=fired"):
        for number in map(int, FIRED.findall(piece)):
            total += 1
            seen[number] = 1
        if total >= count:
            break
    results.put((total, sum(seen), time.time()))


def history(port, count):
    """Of all kept fires: their number, the number of their timers, and the sorted lateness in microseconds."""
    seen, lateness = bytearray(count), []
    for piece in pieces(port, "/v1/events?types=fired&since=0&follow=false"):
        for number in map(int, FIRED.findall(piece)):
            seen[number] = 1
        lateness += map(int, LATENESS.findall(piece))
    return len(lateness), sum(seen), sorted(lateness)


def await_fires(port, count):
    """Returns once that many fires are counted."""
    deadline = time.time() + LONGEST_SECONDS
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_SECONDS)
    pattern = re.compile(rb'timerd_fires_total\{reason="[a-z]+"\} (\d+)')
    while (fired := sum(map(int, pattern.findall(request(connection, "GET", "/metrics")[1])))) < count:
        if time.time() > deadline:
            sys.exit(f"{fired} of {count} fired")
        time.sleep(0.01)


def quantiles(values):
    values = sorted(values)
    return f"{values[len(values) // 2]:.2f} {values[len(values) * 99 // 100]:.2f} {values[-1]:.2f}"


def main():
    port, count, followers = map(int, sys.argv[1:])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    request(connection, "PUT", "/v1/timers/far", '{"after":"30d"}', "application/json")
    due = int(time.time() + 4 + count / MADE_A_SECOND)
    lines = ['{"id":"b-%d","at":"%sZ"}\n' % (number, instant(due)) for number in range(count)]
    send_all(port, ["".join(lines[start:start + LINES_A_BATCH]) for start in range(0, count, LINES_A_BATCH)])
    if time.time() > due - 2:
        sys.exit("the timers were due before all were made")
    ended, gets, followed = multiprocessing.Event(), multiprocessing.Queue(), multiprocessing.Queue()
    readers = [multiprocessing.Process(target=follow, args=(port, count, followed)) for _ in range(followers)]
    prober = multiprocessing.Process(target=probe, args=(port, due - 1, ended, gets))
    for process in [*readers, prober]:
        process.start()
    time.sleep(max(0, due - time.time()))
    await_fires(port, count)
    # The log is in order: an answer from now on rests on all of them.
    request(connection, "PUT", "/v1/timers/last", '{"after":"30d"}', "application/json")
    durable = time.time() - due
    ended.set()
    found = gets.get()
    for total, timers, last in [followed.get() for _ in readers]:
        if (total, timers) != (count, count):
            sys.exit(f"a stream saw {total} fires of {timers} timers, not {count}")
        print(f"a stream had all {(last - due) * 1000:.0f} ms after the due instant", file=sys.stderr)
    total, timers, lateness = history(port, count)
    if (total, timers) != (count, count):
        sys.exit(f"{total} fires of {timers} timers, not {count}")
    end = due + lateness[-1] / 1e6
    print(f"{lateness[-1] / 1000:.0f} {durable * 1000:.0f}", quantiles([late / 1000 for late in lateness]),
          quantiles([seconds * 1000 for sent, seconds in found if sent < due]),
          quantiles([seconds * 1000 for sent, seconds in found if due <= sent <= end]))


if __name__ == "__main__":
    main()
