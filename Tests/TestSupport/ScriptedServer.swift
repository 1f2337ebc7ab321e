import Foundation
import Glibc

/// A server of a few lines: answers each request with the next bytes of its script, and keeps what it was sent.
final class ScriptedServer: @unchecked Sendable {  // unchecked: what changes is guarded by `lock`
    /// What to do about one request.
    enum Step: Sendable {
        /// Send this, and keep the connection.
        case answer(String)
        /// Send this, then end the connection.
        case answerAndClose(String)
        /// Send this, then nothing more until the client goes.
        case answerAndHold(String)
    }

    let address: String
    private let listener: Int32
    private let script: [Step]
    private let lock = NSLock()
    private var received: [String] = []
    private var accepted = 0
    private var current: Int32?
    private var isStopping = false
    private let ended = DispatchSemaphore(value: 0)

    /// What it was sent so far, head and body of each request.
    var requests: [String] { lock.withLock { received } }
    /// How many connections it took.
    var connections: Int { lock.withLock { accepted } }

    /// Listens on a free port of the loopback interface, or on a Unix socket.
    init(_ script: [Step], socketPath: String? = nil) {
        self.script = script
        if let socketPath {
            listener = Self.listen(path: socketPath)
            address = "unix:\(socketPath)"
        } else {
            let port: UInt16
            (listener, port) = Self.listen()
            address = "http://127.0.0.1:\(port)"
        }
        precondition(Glibc.listen(listener, 8) == 0, "a bound socket can listen")
        Thread { [self] in serve() }.start()
    }

    /// Ends; what is still in the script is left.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        // A client that keeps its connection must not keep the server.
        lock.withLock {
            isStopping = true
            if let current { shutdown(current, Int32(SHUT_RDWR)) }
        }
        ended.wait()
        close(listener)
    }

    private static func listen() -> (Int32, UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
        return (listener, port)
    }

    private static func listen(path: String) -> Int32 {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let bound = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(listener, generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(bound == 0, "a fresh path can be bound")
        return listener
    }

    private func serve() {
        var steps = script[...]
        while !steps.isEmpty {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            lock.withLock {
                accepted += 1
                current = connection
                if isStopping { shutdown(connection, Int32(SHUT_RDWR)) }
            }
            while let step = steps.first, let request = Self.readRequest(connection) {
                lock.withLock { received.append(request) }
                steps.removeFirst()
                if !Self.carryOut(step, connection) { break }
            }
            lock.withLock { current = nil }
            close(connection)
        }
        ended.signal()
    }

    /// Returns whether the connection stays.
    private static func carryOut(_ step: Step, _ connection: Int32) -> Bool {
        switch step {
        case .answer(let text):
            send(text, connection)
            return true
        case .answerAndClose(let text):
            send(text, connection)
            return false
        case .answerAndHold(let text):
            send(text, connection)
            _ = readRequest(connection)
            return false
        }
    }

    private static func send(_ text: String, _ connection: Int32) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.send(connection, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Head and body of the next request; nil when the client is gone.
    private static func readRequest(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let length = text[..<end.lowerBound].split(separator: "\r\n").compactMap { line -> Int? in
                    guard line.lowercased().hasPrefix("content-length:") else { return nil }
                    return Int(line.split(separator: ":")[1].trimmingCharacters(in: .whitespaces))
                }
                if text[end.upperBound...].utf8.count >= length.first ?? 0 { return text }
            }
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(connection, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }
}
