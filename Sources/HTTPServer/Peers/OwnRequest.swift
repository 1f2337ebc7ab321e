import Platform

/// A request that a server asks itself, as if another server had forwarded it.
///
/// Its answer is told in a later step of the loop, so nobody hears of it before the request's `PeerCall` is known.
final class OwnRequest: AnswerCarrier, OwnAnswer {
    let call: PeerCall
    private let exchange: Exchange
    private let links: LoopLinks
    private var answer = Response()

    /// A request on `loop`, counted for `peer`.
    init(on loop: LoopCore, for peer: SocketAddress?, to receiver: any PeerCallReceiver) {
        exchange = Exchange(loop: loop, forwardedBy: peer)
        links = loop.links
        call = PeerCall(receiver, on: nil)
    }

    /// Has the loop's handler answer it.
    func begin(_ method: HTTPMethod, _ target: [UInt8], _ fields: ForwardedFields, content: [UInt8]) {
        exchange.carrier = self
        exchange.ask(method: method, target: target, fields, content: content)
        links.noteProgress()
    }

    func send(_ response: inout Response, isHead: Bool) {
        swap(&answer, &response)
        if isHead { answer.body = [] }
        links.noteAnswer(self)
    }

    func sendHead(_ response: Response) {
        answer = response
        links.noteAnswer(self)
    }

    func takeSink(_ peer: SocketAddress?, isCounted: Bool) -> (any StreamSink)? {
        let sink = OwnSink(call, exchange.loop, peer)
        call.sink = sink
        _ = exchange.forwardEnded()
        return sink
    }

    func tell() {
        // The exchange, its ticket and this object hold each other.
        _ = exchange.forwardEnded()
        exchange.context = nil
        call.status = answer.status
        for index in answer.fields.indices { call.headers.append(answer, field: index) }
        call.receiver?.headCame(call)
        let body = answer.body
        if !body.isEmpty { call.receiver?.contentCame(call, body.span) }
        call.isComplete = true
        call.receiver?.ended(call)
        call.receiver = nil
    }
}

extension Exchange {
    /// Asks the loop's handler, of the same process, as `PeerConnection` does for another server.
    fileprivate func ask(method: HTTPMethod, target: [UInt8], _ fields: ForwardedFields, content: [UInt8]) {
        forwardedHeadBegan()
        self.method = method
        self.target = target
        for (name, value) in fields.all { headers.append(name: name, value: value) }
        forwardedHeadEnded(isLate: false)
        if !content.isEmpty { _ = bodyArrived(content.span) }
        _ = requestIsComplete()
    }
}

extension Exchange {
    /// Has this server answer a request itself, as if another one had forwarded it: see `PeerLink.forward`.
    ///
    /// - Parameter token: as another server would prove that it may forward.
    public func askItself(
        leavingOut: (HeaderValue) -> Bool, adding: [(name: StaticString, value: [UInt8])], method: HTTPMethod? = nil,
        content: [UInt8]? = nil, token: [UInt8], to receiver: any PeerCallReceiver
    ) -> PeerCall {
        var fields = ForwardedFields(self, leavingOut: leavingOut, adding: adding)
        fields.add("authorization", Array("Bearer ".utf8) + token)
        let request = OwnRequest(on: loop, for: peer, to: receiver)
        request.begin(method ?? self.method, target, fields, content: content ?? body)
        return request.call
    }
}

extension Loop {
    /// Has this server answer a request that no client has made, as if another server had sent it. Nil where the loop has ended.
    ///
    /// - Parameters:
    ///   - adding: the request's header lines.
    ///   - token: as another server would prove that it may ask.
    public func askItself(
        _ method: HTTPMethod, _ target: [UInt8], adding: [(name: StaticString, value: [UInt8])], token: [UInt8],
        to receiver: any PeerCallReceiver
    ) -> PeerCall? {
        guard let core = core.withLock({ $0 }) else { return nil }
        var fields = ForwardedFields(adding)
        fields.add("authorization", Array("Bearer ".utf8) + token)
        let request = OwnRequest(on: core, for: nil, to: receiver)
        request.begin(method, target, fields, content: [])
        return request.call
    }
}
