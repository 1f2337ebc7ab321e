import CMicroHTTPD
import Glibc
import Platform
import TLS

// The way of the bytes between client and library. Each direction holds little: one record that the library has no room
// for, and one read of the library's bytes that the client does not take. Nothing more is read in that direction until
// they are gone, so the slowness of either side reaches the other.
extension SecureConnection {
    /// Records carried in one round, so that other sockets are not starved.
    private static let recordsPerRound = 4

    // MARK: From the client to the library

    /// Reads what the client has sent, and gives it to the library.
    func receive() {
        guard let session else { return }
        for _ in 0..<Self.recordsPerRound where received.isEmpty && !isEnded && isReading {
            let outcome = unsafe sockets.withScratch { bytes in
                let outcome = unsafe session.read(into: bytes)
                if case .done(let count) = outcome { unsafe deliver(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
                return outcome
            }
            switch outcome {
            // After a record that is not full mostly nothing follows; if it does, the socket is readable still.
            case .done(let count) where count < TLSSession.mostRecordBytes: return
            case .done: break
            case .wantsReading: return
            case .wantsWriting:
                readNeedsRoom = true
                return watchBoth()
            case .ended: noteEnd()
            case .failed: noteBroken()
            }
        }
    }

    private var isReading: Bool { phase == .ready || phase == .served }

    /// The socket has room.
    func roomCame() {
        if hasUnsent { sendAnswer() }
        guard readNeedsRoom else { return }
        readNeedsRoom = false
        watchBoth()
        receive()
    }

    /// Notes that no more requests come: the client has ended its side, or its time is over. The library reads the end
    /// after the bytes that it was given.
    func noteEnd() {
        guard phase == .served else { return close() }
        isEnded = true
        shutdown(pair, Int32(SHUT_WR))
        watchBoth()
    }

    /// Notes that nothing can be sent any more. A request that came before is still handled, as without TLS, since a
    /// client that closes before it has read its session ticket resets the connection; the connection ends at the answer.
    func noteBroken() {
        guard phase == .served else { return close() }
        becomeBroken()
        unsent = []
        blockedSince = .max
        if received.isEmpty, !isEnded { noteEnd() } else { watchBoth() }
    }

    /// Gives the library bytes, and keeps those that it has no room for.
    private func deliver(_ bytes: UnsafeRawBufferPointer) {
        if phase == .ready, !serve() { return }
        bytesReceived += UInt64(bytes.count)
        unsafe pass(bytes)
    }

    private func pass(_ bytes: UnsafeRawBufferPointer) {
        let count = unsafe Glibc.send(pair, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        loop.noteWork()
        guard count < bytes.count else { return }
        // A library that has closed its end takes nothing; the end of its bytes is read next.
        guard count >= 0 || errno == EAGAIN || errno == EINTR else { return }
        unsafe received.append(contentsOf: bytes[max(0, count)...])
        watchBoth()
    }

    /// Gives the library what it had no room for, and goes on reading.
    private func passReceived() {
        let bytes = received
        received = []
        unsafe bytes.withUnsafeBytes { bytes in unsafe pass(bytes) }
        guard received.isEmpty else { return }
        watchBoth()
        receive()
    }

    // MARK: From the library to the client

    /// Handles events of the pair's end.
    func pairHappened(_ events: Epoll.Events) {
        guard phase == .served else { return }
        if events.contains(.writable), !received.isEmpty { passReceived() }
        guard phase == .served else { return }
        // Once the library has closed its end, all of its bytes are taken over at once.
        if !events.isDisjoint(with: [.hungUp, .failed]) { return endAnswer() }
        if events.contains(.readable) { sendAnswer() }
    }

    /// Notes that the library is about to write an answer.
    func noteAnswer() { sockets.noteAnswer(self) }

    /// Carries on what the library has written, as far as the client takes it.
    func sendAnswer() {
        guard phase == .served else { return }
        if hasUnsent { sendUnsent() }
        for _ in 0..<Self.recordsPerRound where phase == .served && !hasUnsent {
            let count = readPair(upTo: 1)
            if count < 0 { return finish() }
            // A read with room left has taken all that there is.
            if count < SecureSockets.scratchBytes { return }
        }
    }

    /// Carries on all that the library has written so far, unless the client does not take it.
    func flushAnswer() {
        if hasUnsent, phase == .served { sendUnsent() }
        while phase == .served, !hasUnsent {
            let count = readPair(upTo: 1)
            if count < 0 { return finish() }
            if count < SecureSockets.scratchBytes { return }
        }
    }

    private func sendUnsent() {
        guard let session else { return }
        let count = unsafe unsent.withUnsafeBytes { bytes in unsafe session.writeSome(bytes) }
        guard count >= 0 else { return noteBroken() }
        unsent.removeSubrange(..<count)
        if unsent.isEmpty {
            unsent = []
            blockedSince = .max
            watchBoth()
        }
    }

    /// Takes over all that the library has written before it closed its end.
    private func endAnswer() {
        while phase == .served {
            let count = readPair(upTo: .max)
            if count < 0 { return finish() }
            if count == 0 { return }
        }
    }

    /// Reads once what the library has written, and sends it unless earlier bytes are still unsent.
    ///
    /// - Parameter limit: the number of unsent bytes from which on nothing is read.
    /// - Returns: how many bytes; 0 where there are none yet, −1 where there will be none.
    func readPair(upTo limit: Int) -> Int {
        guard unsent.count < limit, let session else { return 0 }
        return unsafe sockets.withScratch { bytes in
            let count = unsafe recv(pair, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1 }
            guard !isBroken else {
                close()
                return count
            }
            let sent = hasUnsent ? 0 : unsafe session.writeSome(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            guard sent >= 0 else {
                noteBroken()
                return count
            }
            guard sent < count else { return count }
            if !hasUnsent { blockedSince = loop.now }
            unsafe unsent.append(contentsOf: bytes[sent..<count])
            watchBoth()
            return count
        }
    }
}
