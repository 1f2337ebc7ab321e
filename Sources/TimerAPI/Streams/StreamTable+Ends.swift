import HTTPServer

/// The ends of streams and long polls.
extension StreamTable {
    /// Answers and ends a long poll.
    func answerPoll(_ stream: EventStream, _ parked: ParkedAnswer, status: Int) {
        guard let origin = stream.origin else { return }
        parked.response.status = status
        parked.response.add("Request-Id", origin.requestID)
        parked.response.add("Event-Id", examined(stream).id.text)
        parked.response.add("Cache-Control", "no-store")
        if status == 200 { parked.response.add("Content-Type", "application/json") }
        answerPoll(stream, parked, origin)
    }

    /// Refuses a long poll whose client's credential has ended.
    private func refusePoll(_ stream: EventStream, _ parked: ParkedAnswer) {
        guard let origin = stream.origin else { return }
        parked.response.add("Request-Id", origin.requestID)
        Renderer.fill(
            .unknownCredential, &parked.response, target: origin.target, isForwarded: origin.isForwarded,
            requestID: origin.requestID)
        answerPoll(stream, parked, origin)
    }

    private func answerPoll(_ stream: EventStream, _ parked: ParkedAnswer, _ origin: StreamOrigin) {
        remove(stream)
        onPollAnswered(origin, parked.response.status, parked.response.body.count)
        parked.send()
    }

    /// Ends a stream as complete; a poll without an event is answered 204, as is the request of a probe. What the stop of this
    /// server ends is not complete to another one, whose client stays.
    func finish(_ stream: EventStream) {
        if isDraining, stream.isOfPeer, !stream.isHistory, stream.left > 0, let opened = stream.opened {
            return breakOff(stream, opened)
        }
        switch stream.sink {
        case .stream(let detached):
            remove(stream)
            detached.finish()
        case .poll(let parked):
            answerPoll(stream, parked, status: 204)
        case .probe(let ticket):
            answerProbe(stream, ticket, hasEvent: false)
        case .closed:
            break
        }
    }

    /// Ends a probe, so that its request goes on.
    func answerProbe(_ stream: EventStream, _ ticket: UInt64, hasEvent: Bool) {
        remove(stream)
        inbox.post(.probe(ticket: ticket, hasEvent: hasEvent))
    }

    /// Ends a stream as incomplete, so that its client sees that events are missing.
    func cut(_ stream: EventStream) {
        switch stream.sink {
        case .stream(let detached):
            remove(stream)
            detached.abort()
        case .probe(let ticket):
            // The stream that is opened after the probe shows its client what is wrong.
            answerProbe(stream, ticket, hasEvent: true)
        case .poll, .closed:
            finish(stream)
        }
    }

    /// Ends every stream, since the server stops, but for two kinds: a stream with an end, whose answer would look
    /// complete if it were cut, and a stream that has still to show the event that its subscription caused.
    func drain() {
        isDraining = true
        for stream in Array(streams.values) where stream.end == nil {
            guard let owed = stream.owedThrough, !examined(stream).covers(owed) else {
                finish(stream)
                continue
            }
            stream.end = owed
            if stream.mode == .inStep { bounded.append(stream) }
        }
    }

    /// Ends every stream, since this process has lost the log. A stream that another server passes on breaks off, so that it
    /// is asked for again.
    ///
    /// - Parameter goOn: takes the requests of the streams and long polls that another server may go on with.
    func endAll(goOn: (Ticket) -> Void) {
        for stream in Array(streams.values) {
            guard let opened = stream.opened else {
                stop(stream)
                continue
            }
            if stream.isOfPeer {
                breakOff(stream, opened)
            } else if let ticket = stream.ticket {
                // One from the beginning that has shown nothing is still one from there.
                let begin = stream.reportsGaps ? examined(stream).id : .beginning
                ticket.rest = StreamRest(examined: begin, left: stream.left, deadline: stream.deadline)
                ticket.opened = opened
                remove(stream, unsubscribes: false)
                goOn(ticket)
            } else {
                stop(stream)
            }
        }
    }

    /// Ends a stream of another server in a way that is no end of the stream.
    private func breakOff(_ stream: EventStream, _ opened: OpenedAnswer) {
        remove(stream, unsubscribes: false)
        switch opened {
        case .stream(let detached): detached.abort()
        case .poll(let parked): parked.abort()
        }
    }

    /// Ends the streams and long polls whose clients' credentials have ended.
    func end(where hasEnded: (Credential) -> Bool) {
        for stream in Array(streams.values) {
            guard let credential = stream.credential, hasEnded(credential) else { continue }
            if case .poll(let parked) = stream.sink { refusePoll(stream, parked) } else { stop(stream) }
        }
    }

    /// Ends a stream before its end, which it shows if it has one: an answer that is cut must not look complete.
    private func stop(_ stream: EventStream) { stream.end == nil ? finish(stream) : cut(stream) }

    /// Returns the position up to which a stream has examined everything, with its channel or by itself.
    func examined(_ stream: EventStream) -> StreamCursor {
        stream.mode == .inStep ? max(stream.cursor, passed) : stream.cursor
    }
}
