#!/usr/bin/env python3
"""Starts a server and fills it with timers.

    timers.py start PORT LOG COMMAND...    starts a server and leaves it running; prints its process id and the seconds
                                           from its start to the first 200 of /readyz
    timers.py fill PORT COUNT              makes COUNT timers due in 30 days, by batch; prints timers a second
    timers.py due PORT COUNT SPREAD        makes COUNT timers due within SPREAD seconds, soon
    timers.py dogs PORT COUNT              makes COUNT watchdogs, dog-0 and so on
    timers.py kicks PORT COUNT SECONDS     kicks those by batch for so long; prints kicks a second, then the megabytes of
                                           the log at the half and at the end
    timers.py fires PORT COUNT TIMES RATE  fires each of COUNT watchdogs TIMES times by batches, RATE fires a second or,
                                           with 0, as many as go; prints how many a second that were
    timers.py every PORT COUNT MS TIMES DELAY
                                           makes timers dog-0 and so on that fire every MS milliseconds, so many times,
                                           the first time spread over the period after DELAY seconds
    timers.py metric PORT NAME             prints a metric without labels
    timers.py watch PID FILE               until SIGTERM; prints the most resident memory of the process in KiB, the most
                                           bytes of the file, and the most memory of all TCP sockets of the machine in
                                           KiB, seen every 50 ms
    timers.py wakeups PORT COUNT LEEWAY    makes COUNT timers that fire every second, with so many milliseconds of
                                           leeway; prints how often a second the server wakes for them
    timers.py herd PORT COUNT JITTER       makes COUNT timers due at one instant, with so many seconds of jitter; prints
                                           how many fired in each of 16 parts of it: least, mean, most
    timers.py secure PORT COUNT            opens COUNT event streams by TLS, says so, and keeps them until it is ended; the
                                           certificate is not looked at
    timers.py hooks PORT RECEIVER COUNT SPREAD HOSTS
                                           makes COUNT timers due within SPREAD seconds (0: at one instant), each with a
                                           webhook to port RECEIVER of one of so many hosts, as receiver.c numbers them
"""

import concurrent.futures
import datetime
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import ssl
import subprocess
import sys
import time

import ports

LINES_A_BATCH = 10_000
SENDERS = 4
BATCHES_A_SECOND = 40
HOSTS_A_BLOCK = 250  # as receiver.c has it
PAYLOAD = "x" * 254


def request(connection, method, path, body=None, content_type="application/x-ndjson"):
    headers = {"Content-Type": content_type} if body else {}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    if answer.status >= 300:
        sys.exit(f"{method} {path}: {answer.status} {content[:300]}")
    return answer, content


def start(port, log, *command):
    # Another server there would be the one that answers.
    if lines := ports.taken([("the server", port)]):
        sys.exit("\n".join(lines))
    with open(log, "a") as output:
        begin = time.monotonic()
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    while time.monotonic() - begin < 120 and server.poll() is None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                print(f"{server.pid} {time.monotonic() - begin:.4f}")
                return
        except OSError:
            pass
        time.sleep(0.0005)
    server.kill()
    sys.exit(f"the server was not ready: see {log}")


def send(port, bodies):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    for body in bodies:
        _, content = request(connection, "POST", "/v1/timers/batch?results=brief", body)
        if b'"problem"' in content:
            sys.exit(f"a timer was refused: {content[:300]}")


def send_all(port, bodies):
    with concurrent.futures.ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(lambda part: send(port, part), [bodies[index::SENDERS] for index in range(SENDERS)]))


def fill(port, count):
    line = json.dumps({"after": "30d", "payload": PAYLOAD}, separators=(",", ":")) + "\n"
    sizes = [min(LINES_A_BATCH, count - start) for start in range(0, count, LINES_A_BATCH)]
    start = time.monotonic()
    send_all(port, [line * size for size in sizes])
    print(f"{count / (time.monotonic() - start):.0f}")


def instant(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]


def make_due(port, lines, begin):
    """Makes timers, not in order of their due instants, the first of which is due at `begin`."""
    random.Random(1).shuffle(lines)
    send_all(port, ["".join(lines[start:start + LINES_A_BATCH]) for start in range(0, len(lines), LINES_A_BATCH)])
    if time.time() > begin:
        sys.exit("the timers were due before all were made")


def due(port, count, spread):
    begin = time.time() + 1 + count / 40_000
    line = '{"at":"%%sZ","payload":"%s"}\n' % PAYLOAD
    make_due(port, [line % instant(begin + spread * index / count) for index in range(count)], begin)


def dogs(port, count):
    lines = ['{"id":"dog-%d","watchdog":"1h","restartable":true}\n' % index for index in range(count)]
    send_all(port, ["".join(lines[start:start + LINES_A_BATCH]) for start in range(0, count, LINES_A_BATCH)])


def paced(bodies, interval):
    """Yields a body each `interval` seconds, or as soon after as it is asked for."""
    begin = time.monotonic()
    for index, body in enumerate(bodies):
        time.sleep(max(0, begin + index * interval - time.monotonic()))
        yield body


def fires(port, count, times, rate):
    lines = ['{"command":"fire","id":"dog-%d"}\n' % index for index in range(count)]
    size = rate // BATCHES_A_SECOND or LINES_A_BATCH
    bodies = ["".join(lines[start:start + size]) for start in range(0, count, size)] * times
    begin = time.monotonic()
    if rate:
        send(port, paced(bodies, size / rate))
    else:
        send_all(port, bodies)
    print(f"{count * times / (time.monotonic() - begin):.0f}")


def every(port, count, period, times, delay):
    generator = random.Random(3)
    lines = [
        '{"id":"dog-%d","every":"%dms","after":"%dms","maxFires":%d}\n'
        % (index, period, delay * 1000 + generator.randrange(period), times)
        for index in range(count)
    ]
    send_all(port, ["".join(lines[start:start + LINES_A_BATCH]) for start in range(0, count, LINES_A_BATCH)])


def watch(process, path):
    status, file = pathlib.Path(f"/proc/{process}/status"), pathlib.Path(path)
    sockets = pathlib.Path("/proc/net/sockstat")
    pages_kib = os.sysconf("SC_PAGE_SIZE") // 1024
    most = [0, 0, 0]

    def tell(*_):
        print(*most, flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, tell)
    while True:
        resident = status.read_text().split("VmRSS:")[1].split()[0]
        tcp = sockets.read_text().split("TCP:")[1].splitlines()[0].split()[-1]
        most = list(map(max, most, (int(resident), file.stat().st_size, int(tcp) * pages_kib)))
        time.sleep(0.05)


def metric(port, name):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    _, content = request(connection, "GET", "/metrics")
    return next(float(line.split()[1]) for line in content.decode().splitlines() if line.startswith(name + " "))


def kicks(port, count, seconds):
    lines = ['{"command":"kick","id":"dog-%d"}\n' % (index * 7919 % count) for index in range(count)]
    bodies = ["".join(lines[start:start + 1000]) for start in range(0, count, 1000)]
    begin = time.monotonic()
    sizes = []

    def work(sender):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        sent = 0
        while time.monotonic() - begin < seconds:
            request(connection, "POST", "/v1/timers/batch?results=brief", bodies[(sender + sent) % len(bodies)])
            sent += 1
            if sender == 0 and not sizes and time.monotonic() - begin > seconds / 2:
                sizes.append(metric(port, "timerd_log_bytes"))
        return sent

    with concurrent.futures.ThreadPoolExecutor(SENDERS) as pool:
        sent = sum(pool.map(work, range(SENDERS)))
    sizes.append(metric(port, "timerd_log_bytes"))
    rate = sent * 1000 / (time.monotonic() - begin)
    print(f"{rate:.0f} {sizes[0] / 1e6:.0f} {sizes[-1] / 1e6:.0f}")


def wakeups(port, count, leeway):
    generator = random.Random(2)
    lines = [
        '{"every":"1s","after":"%dms","leeway":"%dms"}\n' % (generator.randrange(1000, 2000), leeway)
        for _ in range(count)
    ]
    send_all(port, ["".join(lines[start:start + LINES_A_BATCH]) for start in range(0, count, LINES_A_BATCH)])
    time.sleep(3)
    before, begin = metric(port, "timerd_wakeups_total"), time.monotonic()
    time.sleep(5)
    print(f"{(metric(port, 'timerd_wakeups_total') - before) / (time.monotonic() - begin):.1f}")


def herd(port, count, jitter):
    due = datetime.datetime.fromtimestamp(int(time.time()) + 3 + count / 50_000, datetime.UTC)
    line = '{"at":"%sZ","jitter":"%ds"}\n' % (due.strftime("%Y-%m-%dT%H:%M:%S"), jitter)
    send_all(port, [line * LINES_A_BATCH for _ in range(count // LINES_A_BATCH)])
    if time.time() > due.timestamp():
        sys.exit("the timers were due before all were made")
    time.sleep(max(0, due.timestamp() + jitter - time.time()) + 1)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    _, content = request(connection, "GET", "/v1/events?types=fired&since=0&follow=false")
    parts = [0] * 16
    for fire in map(json.loads, filter(None, content.splitlines())):
        parts[min(15, fire["latenessUs"] * 16 // (jitter * 1_000_000))] += 1
    print(f"{min(parts)} {sum(parts) // 16} {max(parts)}")


def secure(port, count):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    streams = []
    for _ in range(count):
        stream = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10))
        stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if not (answer := stream.recv(65536)).startswith(b"HTTP/1.1 200"):
            sys.exit(f"no stream: {answer!r}")
        streams.append(stream)
    print("open", flush=True)
    signal.pause()


def hooks(port, receiver, count, spread, hosts):
    begin = time.time() + 2 + count / 25_000
    lines = []
    for index in range(count):
        host = index % hosts
        url = "http://127.1.%d.%d:%d/" % (host // HOSTS_A_BLOCK, host % HOSTS_A_BLOCK + 1, receiver)
        lines.append('{"at":"%sZ","webhook":"%s"}\n' % (instant(begin + spread * index / count), url))
    make_due(port, lines, begin)


def main():
    command, port, *rest = sys.argv[1:]
    if command == "start":
        start(int(port), *rest)
    elif command == "watch":
        watch(port, *rest)
    elif command == "metric":
        print(f"{metric(int(port), *rest):g}")
    else:
        measure = {"fill": fill, "due": due, "dogs": dogs, "kicks": kicks, "fires": fires, "every": every,
                   "wakeups": wakeups, "herd": herd, "secure": secure, "hooks": hooks}
        measure[command](int(port), *map(int, rest))


if __name__ == "__main__":
    main()
