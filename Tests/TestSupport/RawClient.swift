import Glibc

/// A blocking client socket for requests as raw bytes; every read ends after `Patience`.
package final class RawClient {
    package struct Answer {
        package var status = 0
        package var headers: [(name: String, value: String)] = []
        package var body: [UInt8] = []
        package var text: String { String(decoding: body, as: UTF8.self) }
        package func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }
        package var closes: Bool { header("connection")?.lowercased() == "close" }
    }

    package let descriptor: Int32
    package private(set) var pending: [UInt8] = []
    package private(set) var sawReset = false
    /// The TLS over the socket; nil for none.
    private let tls: TLSClient?
    /// Whether the handshake is done, where there is TLS.
    package private(set) var isSecured = false

    /// Connects from the address 127.0.0.`source`, and shakes hands where there is `tls`: see `isSecured`.
    package init(port: UInt16, from source: UInt8 = 1, tls: TLSClient? = nil) {
        self.tls = tls
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(source)).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe bind(descriptor, address, size)
            }
        }
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        connect(&address)
        if let tls { isSecured = shakeHands(tls) }
    }

    package init(path: String) {
        tls = nil
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = RawSocket.unixName(path)
        connect(&address)
    }

    private func connect<Address>(_ address: inout Address) {
        var limit = timeval(tv_sec: Patience.seconds, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let length = socklen_t(MemoryLayout<Address>.size)
        unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe Glibc.connect(descriptor, address, length)
            }
        }
    }

    deinit { close(descriptor) }

    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends bytes. Returns false when the peer takes no more.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        guard let tls else { return RawSocket.send(bytes, to: descriptor) }
        return tls.write(bytes) && RawSocket.send(tls.takeOutput(), to: descriptor)
    }

    /// Sends what `tls` has to say by itself.
    package func flush(_ tls: TLSClient) { _ = RawSocket.send(tls.takeOutput(), to: descriptor) }

    /// Ends the side of the client; TLS reports so first.
    package func endSending() {
        if let tls {
            tls.closeNotify()
            flush(tls)
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private func shakeHands(_ tls: TLSClient) -> Bool {
        while true {
            let step = tls.handshake()
            flush(tls)
            guard step == .waits else { return step == .done(1) }
            guard let bytes = receiveBytes() else { return false }
            tls.give(bytes)
        }
    }

    /// Closes the connection with a reset.
    package func reset() {
        var hard = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
        var nothing = sockaddr()
        nothing.sa_family = sa_family_t(AF_UNSPEC)
        _ = unsafe Glibc.connect(descriptor, &nothing, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Receives bytes. Returns false at the end, after a reset, and when nothing comes.
    private func receive() -> Bool {
        while true {
            if let tls, let bytes = tls.read() {
                pending.append(contentsOf: bytes)
                return true
            }
            if tls?.isEnded == true { return false }
            guard let bytes = receiveBytes() else { return false }
            if let tls {
                tls.give(bytes)
            } else {
                pending.append(contentsOf: bytes)
                return true
            }
        }
    }

    /// Receives bytes as they come; nil at the end, after a reset, and when nothing comes.
    package func receiveBytes() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count < 0, errno == ECONNRESET { sawReset = true }
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    package func take(_ count: Int) -> [UInt8]? {
        while pending.count < count { guard receive() else { return nil } }
        defer { pending.removeFirst(count) }
        return Array(pending[..<count])
    }

    /// Reads the bytes up to and without CR LF.
    package func line() -> String? {
        while true {
            if let end = pending.indices.dropLast().first(where: { pending[$0] == 13 && pending[$0 + 1] == 10 }) {
                defer { pending.removeFirst(end + 2) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            guard receive() else { return nil }
        }
    }

    /// Reads everything until the peer closes.
    package func rest() -> [UInt8] {
        while receive() {}
        defer { pending = [] }
        return pending
    }

    /// Whether the peer closed or reset the connection and sent nothing more.
    package func isClosedByPeer() -> Bool { rest().isEmpty }

    package func head() -> Answer? {
        guard let first = line(), first.hasPrefix("HTTP/1.1 ") else { return nil }
        var answer = Answer()
        answer.status = Int(first.dropFirst(9).prefix(3)) ?? 0
        while let line = line() {
            if line.isEmpty { return answer }
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            answer.headers.append((String(parts[0]), String(parts[1].drop { $0 == " " })))
        }
        return nil
    }

    /// Reads the next answer; nil when none comes.
    ///
    /// - Parameter isHead: whether the answer has no body, whatever its head says.
    package func answer(isHead: Bool = false) -> Answer? {
        guard var answer = head() else { return nil }
        if isHead || answer.status == 204 || answer.status == 304 || answer.status == 100 { return answer }
        if answer.header("transfer-encoding") == "chunked" {
            while let chunk = chunk() {
                if chunk.isEmpty { return answer }
                answer.body += chunk
            }
            return nil
        }
        guard let length = answer.header("content-length").flatMap(Int.init), let body = take(length) else {
            return nil
        }
        answer.body = body
        return answer
    }

    /// Reads the next chunk; empty for the last.
    package func chunk() -> [UInt8]? {
        guard let size = line().flatMap({ Int($0, radix: 16) }), let chunk = take(size), take(2) == [13, 10] else {
            return nil
        }
        return chunk
    }

    /// The statuses of all answers in `text`, interim ones included.
    package static func statuses(in text: String) -> [Int] {
        text.split(separator: "\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }.compactMap { Int($0.dropFirst(9).prefix(3)) }
    }

    package func get(_ target: String, headers: String = "") -> Answer? {
        send("GET \(target) HTTP/1.1\r\nHost: test\r\n\(headers)\r\n")
        return answer()
    }
}
