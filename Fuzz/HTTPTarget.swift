import Glibc

/// Input: what a client sends on a connection, in pieces: a byte 0xFF, which no request needs, ends a piece.
///
/// The server is a real one, with its threads and its store in memory. Each input finds the server without timers,
/// and one input in sixteen checks the server's health even where it left no timers.
func fuzzHTTP(_ input: [UInt8]) {
    let pieces = input.split(separator: 0xFF).map { Array($0) }
    var answers = Answers(exchange(pieces), to: Array(pieces.joined()))
    answers.readAll()
    guard LiveServer.shared.timerCount > 0 || input.count % 16 == 0 else { return }
    requireClean()
}

/// Deletes every timer, and requires that the server is healthy.
private func requireClean() {
    let selector = #"{"states":["idle","running","suspended","cancelled","completed"]}"#
    let requests = """
        POST /v1/timers/bulk/delete HTTP/1.1\r
        Host: localhost\r
        Content-Type: application/json\r
        Content-Length: \(selector.utf8.count)\r\n\r
        \(selector)GET /healthz HTTP/1.1\r
        Host: localhost\r
        Connection: close\r\n\r\n
        """
    var answers = Answers(exchange([Array(requests.utf8)]), to: Array(requests.utf8))
    answers.readAll()
    require(answers.statuses == [200, 200], "deletion and health give \(answers.statuses)")
    require(LiveServer.shared.timerCount == 0, "timers are left that were to be deleted")
}

/// Sends `pieces` on a new connection, closes its sending side, and returns everything that comes back. A stream and a
/// `wait` go on after that: of them what has come is returned.
private func exchange(_ pieces: [[UInt8]]) -> [UInt8] {
    let mayWait = has("%", in: pieces) || has("wait", in: pieces)
    let client = LiveServer.shared.connect()
    defer { close(client) }
    for piece in pieces {
        let sent = retrying { unsafe send(client, piece, piece.count, Int32(MSG_NOSIGNAL)) }
        guard sent == piece.count else { break }
        waitUntilRead(client)
    }
    shutdown(client, Int32(SHUT_WR))
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        var wanted = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
        let ready = retrying { unsafe Int(poll(&wanted, 1, mayWait ? 500 : 5000)) }
        if ready == 0 && mayWait { return received }
        require(ready == 1, "neither answered nor closed: \(String(decoding: received, as: UTF8.self))")
        let count = retrying { unsafe recv(client, &buffer, buffer.count, 0) }
        guard count > 0 else { return received }
        received += buffer[..<count]
        if endsInStream(received) { return received }
    }
}

private func has(_ word: String, in pieces: [[UInt8]]) -> Bool {
    String(decoding: pieces.joined(), as: UTF8.self).contains(word)
}

/// Whether the last answer is a stream, whose head is whole.
private func endsInStream(_ received: [UInt8]) -> Bool {
    let text = String(decoding: received, as: UTF8.self)
    guard let head = text.ranges(of: "X-Accel-Buffering: no").last else { return false }
    return text[head.upperBound...].contains("\r\n\r\n")
}

/// Repeats a call that a signal interrupted: the fuzzer uses an alarm.
private func retrying(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

/// Waits a short time until the server has read what was sent: pieces must arrive one by one.
private func waitUntilRead(_ client: Int32) {
    var unread: Int32 = 1
    for _ in 0..<10_000 where unread > 0 {
        sched_yield()
        guard unsafe ioctl(client, UInt(TIOCOUTQ), &unread) == 0 else { return }
    }
}
