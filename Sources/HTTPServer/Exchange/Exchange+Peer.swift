import Primitives

// The reports of a peer's connection about a request that it forwards, in the order in which they come.
extension Exchange {
    package func forwardedHeadBegan() {
        enter(.head)
        startedAt = loop.now
        response.reset()
        target.removeAll(keepingCapacity: true)
        headers.reset()
        absoluteAuthority.removeAll(keepingCapacity: true)
        isHTTP11 = true
        method = .get
        methodText = []
    }

    /// The most bytes that a head may have: those of a client's, and those that the servers add.
    private var mostHeaderBytes: Int { loop.limits.headerBytes + Self.addedHeaderBytes }
    private static let addedHeaderBytes = 1024
    private static let addedHeaders = 8

    /// Adds a field of the head. Once the head is over its bound, further fields are dropped, and the request is
    /// then refused.
    package func forwardedFieldCame(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        guard stage == .head else { return }
        // The library lets in no field that begins with a colon but the pseudo fields of RFC 9113.
        switch name.count > 1 && name[0] == UInt8(ascii: ":") ? name[1] : 0 {
        case UInt8(ascii: "m"): readMethod(value)
        case UInt8(ascii: "p"): target.append(copying: value)
        case 0 where headers.bytes.count <= mostHeaderBytes: headers.append(name: name, value: value)
        default: break
        }
    }

    package func forwardedHeadEnded(isLate: Bool) {
        guard stage == .head else { return }
        do throws(Refusal) {
            if isLate { throw .late }
            guard headers.bytes.count <= mostHeaderBytes,
                headers.count <= loop.limits.headerCount + Self.addedHeaders
            else { throw .headersTooLarge }
            guard target.count <= loop.limits.targetBytes else { throw .targetTooLong }
            _ = try RequestCheck.target(target, method: method)
            // The host was judged where the client's request came in.
            _ = admit(try RequestCheck.headers(headers, isHTTP11: false))
        } catch {
            loop.handler.renderRefusal(error, into: self)
            _ = answerAndLeave()
        }
    }

    /// Whether the head was accepted, and the body follows.
    package var isAdmitted: Bool { stage == .body }

    /// Whether the request is not complete yet.
    package var isReceiving: Bool { stage == .head || stage == .body || stage == .discarding }

    /// Answers the request with `response`, which leaves together with all else that the loop's round has for that
    /// server.
    func answer(by channel: any AnswerChannel) {
        guard stage != .sending, stage != .idle, stage != .left else { return }
        enter(.sending)
        countAnswer(response.body.count)
        channel.send(&response, isHead: method == .head)
    }

    /// Answers HEAD with the head of an answer whose length is not known.
    func answerHead(by channel: any AnswerChannel) {
        enter(.sending)
        channel.sendHead(response)
    }

    /// Sends the header lines of `response` to the server that has forwarded the request, ahead of the answer.
    package func announce(_ response: Response) {
        var response = response
        response.status = Self.earlyHints
        channel?.sendInterim(response)
    }

    /// The status of an interim response that has header lines of the later answer (RFC 8297).
    private static let earlyHints = 103

    /// Ends the request, as its stream is over or has become a sink's. Returns whether the exchange may serve
    /// another request: nobody is about to answer this one.
    package func forwardEnded() -> Bool {
        let isAnswered = stage != .owed && stage != .left
        if !isAnswered { context = nil }
        if stage != .idle { reset() }
        channel = nil
        return isAnswered
    }
}
