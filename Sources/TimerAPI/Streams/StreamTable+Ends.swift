import HTTPServer
import TimerService

/// How streams and long polls end.
extension StreamTable {
    func answerPoll(_ stream: EventStream, _ parked: ParkedAnswer, status: Int) {
        guard let origin = stream.origin else { return }
        parked.response.status = status
        parked.response.add("Request-Id", origin.requestID)
        parked.response.add("Event-Id", examined(stream).id.text)
        parked.response.add("Cache-Control", "no-store")
        if status == 200 { parked.response.add("Content-Type", "application/json") }
        remove(stream)
        onPollAnswered(origin, status, parked.response.body.count)
        parked.send()
    }

    /// Ends a stream properly; a poll that has nothing gets 204.
    func finish(_ stream: EventStream) {
        switch stream.sink {
        case .stream(let detached):
            remove(stream)
            detached.finish()
        case .poll(let parked):
            answerPoll(stream, parked, status: 204)
        case .closed:
            break
        }
    }

    /// Ends a stream so that its client sees that something is missing.
    func cut(_ stream: EventStream) {
        guard case .stream(let detached) = stream.sink else { return finish(stream) }
        remove(stream)
        detached.abort()
    }

    /// Ends every stream but those that read a past of known length, theirs being an answer under way that would look
    /// complete, and those that have still to show what they brought about.
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

    /// Up to where a stream has examined everything.
    func examined(_ stream: EventStream) -> StreamCursor {
        stream.mode == .inStep ? max(stream.cursor, passed) : stream.cursor
    }
}
