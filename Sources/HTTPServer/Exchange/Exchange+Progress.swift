import Glibc
import Primitives

// The library's reports about a connection, in the order in which they come. A function that returns a Bool
// returns false to make the library drop the connection.
extension Exchange {
    func requestLineArrived(target bytes: UnsafeRawBufferPointer) {
        let begunAt = hasBegun ? since : loop.now
        enter(.head)
        since = begunAt
        startedAt = loop.now
        if !hasRequested {
            // The time of a first request counts from the connection's start.
            since = min(since, acceptedAt)
            hasRequested = true
        }
        target.removeAll(keepingCapacity: true)
        targetStart = UInt(bitPattern: bytes.baseAddress)
        unsafe target.append(contentsOf: bytes)
    }

    func headArrived(method name: UnsafePointer<CChar>, version: UnsafePointer<CChar>) -> Bool {
        guard let connection else { return false }
        response.reset()
        unsafe readMethod(name)
        isHTTP11 = unsafe strcmp(version, "HTTP/1.0") != 0
        headers.reset()
        absoluteAuthority.removeAll(keepingCapacity: true)
        let headSize = connection.headSize
        count(requestBytes: headSize)
        var reader = unsafe HeadReader(
            headers, method: name, target: (targetStart, target.count), version: version, headSize: headSize)
        headers = RequestHeaders()
        unsafe withUnsafeMutablePointer(to: &reader) { reader in unsafe connection.readHeaders(into: reader) }
        reader.finish()
        headers = reader.headers
        do throws(Refusal) {
            guard headSize <= loop.limits.headerBytes, headers.count <= loop.limits.headerCount else {
                throw .headersTooLarge
            }
            guard target.count <= loop.limits.targetBytes else { throw .targetTooLong }
            guard reader.isWellFormed else { throw .badRequest("the request's head is malformed") }
            guard methodText.allSatisfy(HTTPToken.allows) else { throw .badRequest("the method is no word") }
            let (authority, origin) = try RequestCheck.target(target, method: method)
            let facts = try RequestCheck.headers(headers, isHTTP11: isHTTP11)
            if origin > 0 { reduceTarget(authority: authority, origin: origin) }
            return admit(facts)
        } catch {
            loop.handler.renderRefusal(error, into: self)
            return answerAndLeave()
        }
    }

    package func bodyArrived(_ bytes: Span<UInt8>) -> Bool {
        loop.noteProgress()
        count(requestBytes: bytes.count)
        if stage == .body {
            let isTooLarge = body.count + bytes.count > bodyLimit
            if !isTooLarge, mayHold(body.count + bytes.count) {
                body.append(copying: bytes)
                return true
            }
            dropBody()
            isBodyTooLarge = isTooLarge
            if !isTooLarge { loop.handler.renderRefusal(.overloaded, into: self) }
            enterKeepingTime(.discarding)
        }
        guard stage == .discarding else { return stage != .left && stage != .broken }
        discarded += bytes.count
        return discarded <= loop.limits.drainBodyBytes || refuseAndLeave()
    }

    /// Takes room for the body to grow to `size` bytes. Returns false where all bodies under way hold as much as
    /// they may.
    private func mayHold(_ size: Int) -> Bool {
        guard size > loop.limits.smallBodyBytes else { return true }
        guard loop.quota.bodies.take(size - bodyCounted, for: peer?.owner) else { return false }
        bodyCounted = size
        return true
    }

    package func requestIsComplete() -> Bool {
        switch stage {
        case .body:
            loop.noteProgress()
            takeKernelCount()
            enter(.owed)
            loop.handler.handle(self, Answer(self, serial: serial))
        case .discarding:
            loop.noteProgress()
            takeKernelCount()
            enter(.owed)
            if isBodyTooLarge && loop.handler.handlesTooLarge(self) {
                loop.handler.handle(self, Answer(self, serial: serial))
            } else {
                refuseTooLarge()
                sendResponse()
            }
        case .idle, .head, .owed, .sending, .left, .broken: break  // called again while the answer is awaited
        }
        return stage == .owed || stage == .sending
    }

    func requestEnded() {
        loop.noteProgress()
        reset()
        awaitBeginning()
        mayHaveEnded = true
    }

    /// Whether the client has ended its side and the library has not noticed.
    ///
    /// The library watches the socket edge-triggered, and takes a read that returns less than it has room for to
    /// be the last; a FIN that came together with the bytes is never read. A later FIN is an edge of its own, so
    /// one look after each request is enough.
    var hasUnreadEnd: Bool {
        guard stage == .idle || stage == .head || stage == .body || stage == .discarding, mayHaveEnded else {
            return false
        }
        mayHaveEnded = stage != .idle || !hasRequested
        return connection?.isAtEnd ?? false
    }

    func connectionClosed() {
        if stage != .idle { reset() }
        connection = nil
        context = nil
        loop.connectionClosed(self)
    }

    // MARK: Answering

    /// Gives `response` to the library, or makes it drop the connection where it can't take the response.
    func sendResponse() {
        if let channel { return answer(by: channel) }
        guard stage == .owed, let connection else { return }
        enter(.sending)
        countAnswer(response.body.count)
        let closes = response.closesConnection || loop.isDraining || isFromReserve
        let bytes = unsafe reply.load(&response.body)
        if unsafe !connection.queue(response, body: bytes, closes: closes) { enter(.broken) }
        loop.noteWork()
        secured?.noteAnswer()
    }

    /// Takes the socket over, answers with `response` and closes the socket after a while, in which bytes that the
    /// client still sends are read: a reset would keep the client from reading the answer. Returns false, as the
    /// library must drop the connection.
    func answerAndLeave() -> Bool {
        if let channel {
            answer(by: channel)
            return false
        }
        let head = ResponseHead(response, framing: .length(response.body.count), date: loop.date())
        if let socket = takeSocket() {
            socket.write(head.bytes + (sendsContent ? response.body : []))
            socket.finish()
        }
        return false
    }

    /// Takes the connection's socket over from the library. Returns nil when no descriptor is left, or the kernel
    /// can't watch one more; then the library still has the socket.
    func takeSocket() -> DetachedSocket? {
        guard let connection, let claim else { return nil }
        let taken = if let secured { secured.detach(claim) } else { adopt(connection, claim) }
        guard let socket = taken else { return nil }
        enter(.left)
        loop.noteWork()
        self.claim = nil
        return socket
    }

    private func adopt(_ connection: LibraryConnection, _ claim: SocketClaim) -> DetachedSocket? {
        let descriptor = connection.duplicateSocket()
        guard descriptor >= 0 else { return nil }
        let socket = loop.adopt(SocketTransport(descriptor: descriptor), claim)
        if socket == nil { close(descriptor) }
        return socket
    }

    /// Takes over the destination of the answer's bytes, and counts it as a stream. Returns nil where there are
    /// too many streams, or the socket can't be taken over.
    ///
    /// - Parameter goesOn: whether the stream began at another server: it is taken however many there are.
    func takeSink(goesOn: Bool) -> (any StreamSink)? {
        guard let channel else { return takeSocketForStream() }
        return loop.quota.takeStream(isForced: goesOn) ? channel.takeSink() : nil
    }

    /// Takes the socket over, and counts it as a stream. Returns nil where there are too many streams, on a
    /// connection of the reserve, and where `takeSocket` does.
    func takeSocketForStream() -> DetachedSocket? {
        guard !isFromReserve, loop.quota.takeStream() else { return nil }
        guard let socket = takeSocket() else {
            loop.quota.returnStream()
            return nil
        }
        socket.becomeStream()
        return socket
    }

    // MARK: Parts of a head

    func admit(_ facts: RequestCheck.Facts) -> Bool {
        discarded = 0
        isBodyTooLarge = false
        if facts.framing == .chunked { markCountUnknown() }
        let limit: Int
        switch loop.handler.admit(self) {
        case .refuse: return refuse(facts)
        case .accept(let bodyLimit): limit = bodyLimit
        }
        bodyLimit = limit
        switch facts.framing {
        case .length(let length) where length > limit:
            isBodyTooLarge = true
            return refuse(facts)
        case .length(let length): body.reserveCapacity(min(length, Response.keptBytes))
        case .none, .chunked: break
        }
        enterKeepingTime(.body)
        return true
    }

    /// Answers with the refusal in `response`, or that of a body that is too large: after the body where that is short, else
    /// now, and closes the connection.
    private func refuse(_ facts: RequestCheck.Facts) -> Bool {
        let isShort =
            switch facts.framing {
            case .none: true
            case .length(let length): length <= loop.limits.drainBodyBytes && !facts.expectsContinue
            case .chunked: !facts.expectsContinue
            }
        guard isShort else { return refuseAndLeave() }
        enterKeepingTime(.discarding)
        return true
    }

    private func refuseAndLeave() -> Bool {
        refuseTooLarge()
        return answerAndLeave()
    }

    /// Fills the response with the refusal of a body that is too large, if it is.
    private func refuseTooLarge() {
        if isBodyTooLarge { loop.handler.renderRefusal(.bodyTooLarge(limit: bodyLimit), into: self) }
    }

    /// Enters `stage` and keeps `since`: one time limit holds from the request line to the last byte of the body.
    private func enterKeepingTime(_ stage: Stage) {
        let since = since
        enter(stage)
        self.since = since
    }

    private func readMethod(_ name: UnsafePointer<CChar>) {
        let bytes = unsafe UnsafeRawBufferPointer(start: name, count: strlen(name))
        readMethod(unsafe bytes.assumingMemoryBound(to: UInt8.self).span)
    }

    func readMethod(_ bytes: Span<UInt8>) {
        method = HTTPMethod(bytes)
        methodText = method == .other ? [UInt8](copying: bytes) : []
    }

    private func reduceTarget(authority: Range<Int>, origin: Int) {
        absoluteAuthority.append(contentsOf: target[authority])
        target.removeSubrange(..<origin)
        if target.first != UInt8(ascii: "/") { target.insert(UInt8(ascii: "/"), at: 0) }
    }
}
