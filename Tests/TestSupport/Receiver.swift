import Glibc
import Platform

/// A server of a few lines for many connections at once: answers each request as the test says, and counts.
final class Receiver: @unchecked Sendable {  // unchecked: what changes is guarded by `lock`
    /// One request and the way to answer it.
    struct Visit: Sendable {
        /// Head and body as they came.
        let text: String
        fileprivate let socket: Int32

        /// The target of the request line.
        var path: String { text.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

        /// Sends bytes as they are. False once the client is gone.
        @discardableResult
        func send(_ text: String) -> Bool {
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { buffer in
                    unsafe Glibc.send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// Sends a whole answer with a body.
        func answer(_ status: Int, _ headers: [String] = [], body: String = "ok") {
            let lines = ["HTTP/1.1 \(status) Word", "Content-Length: \(body.utf8.count)"] + headers
            send(lines.map { $0 + "\r\n" }.joined() + "\r\n" + body)
        }

        /// Ends the connection by a reset.
        func reset() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        }

        /// Whether the client ends the connection within a time; paces what drips.
        func hasEnded(withinMs: Int32) -> Bool {
            var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            return unsafe Glibc.poll(&poll, 1, withinMs) != 0
        }

        /// Waits until the client ends the connection.
        func waitForEnd() {
            var byte: UInt8 = 0
            while unsafe recv(socket, &byte, 1, 0) > 0 {}
        }
    }

    /// What becomes of the connection after an answer.
    enum After {
        /// It serves the next request.
        case keep
        /// It is closed.
        case close
    }

    let port: UInt16
    private let listener: Int32
    private let handle: @Sendable (Visit) -> After
    private let lock = Lock()
    private var texts: [String] = []
    private var accepted = 0
    private var open: Set<Int32> = []
    /// The one that accepts, then those of the connections.
    private var threads: [Thread] = []
    private var isStopping = false

    /// Listens on a free port of the loopback interface.
    ///
    /// - Parameter handle: answers a request, on a thread of its connection.
    init(_ handle: @escaping @Sendable (Visit) -> After) {
        self.handle = handle
        (listener, port) = Self.listen()
        let thread = Thread(name: "receiver") { [self] in serve() }
        lock.withLock { threads.insert(thread, at: 0) }
    }

    var base: String { "http://127.0.0.1:\(port)" }
    /// What it was sent so far.
    var requests: [String] { lock.withLock { texts } }
    /// How many connections it took.
    var connections: Int { lock.withLock { accepted } }

    /// Ends every connection and waits for every thread.
    func stop() {
        let accepting = lock.withLock {
            isStopping = true
            shutdown(listener, Int32(SHUT_RDWR))
            for socket in open { shutdown(socket, Int32(SHUT_RDWR)) }
            return threads.removeFirst()
        }
        accepting.join()
        for thread in lock.withLock({ threads }) { thread.join() }
        close(listener)
    }

    /// A port of the loopback interface that nobody listens at.
    static func deadPort() -> UInt16 {
        let (socket, port) = listen(backlog: nil)
        close(socket)
        return port
    }

    private static func listen(backlog: Int32? = 1024) -> (Int32, UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                precondition(unsafe bind(listener, generic, length) == 0, "a free port can be bound")
                unsafe getsockname(listener, generic, &length)
            }
            return unsafe UInt16(bigEndian: pointer.pointee.sin_port)
        }
        if let backlog { precondition(Glibc.listen(listener, backlog) == 0, "a bound socket can listen") }
        return (listener, port)
    }

    private func serve() {
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { break }
            let goesOn = lock.withLock {
                if isStopping { return false }
                accepted += 1
                open.insert(socket)
                return true
            }
            guard goesOn else {
                close(socket)
                break
            }
            let thread = Thread(name: "connection") { [self] in
                converse(socket)
                lock.withLock { _ = open.remove(socket) }
                close(socket)
            }
            lock.withLock { threads.append(thread) }
        }
    }

    private func converse(_ socket: Int32) {
        while let text = Self.readRequest(socket) {
            lock.withLock { texts.append(text) }
            if handle(Visit(text: text, socket: socket)) == .close { break }
        }
    }

    /// Head and body of the next request; nil when the client is gone. Clients do not send ahead.
    private static func readRequest(_ socket: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            if let end = headEnd(bytes) {
                let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
                let line = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
                let length = line.flatMap { Int($0.dropFirst("content-length: ".count)) } ?? 0
                if bytes.count - end >= length { return String(decoding: bytes, as: UTF8.self) }
            }
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= mark.count else { return nil }
        return (0...bytes.count - mark.count).first { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
            .map { $0 + mark.count }
    }
}

/// Something that happens once, and can be waited for.
final class Gate: @unchecked Sendable {  // unchecked: the count is guarded by `lock`
    private let lock = Lock()
    private var count = 0

    /// Lets one more through, or everybody from now on.
    func open(_ more: Int = 1_000_000) {
        lock.withLock {
            count += more
            lock.broadcast()
        }
    }

    /// Waits for an opening, and uses it up.
    func pass() {
        lock.withLock {
            while count == 0 { lock.wait() }
            count -= 1
        }
    }
}
