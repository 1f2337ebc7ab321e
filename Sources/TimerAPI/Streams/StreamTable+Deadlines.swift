import HTTPServer
import Platform

/// Heartbeats, and the ends of long polls whose time is over.
extension StreamTable {
    /// When something is due next.
    var nextDeadline: Int64? {
        guard let beat = beats.next else { return polls.next }
        return min(beat, polls.next ?? .max)
    }

    /// Ends the polls whose time is over, and sends signs of life.
    func deadlineCame(_ now: Int64) {
        for poll in polls.take(now: now) {
            if let deadline = poll.deadline, now < deadline {
                polls.insert(poll, at: deadline)
            } else if poll.mode == .inStep {
                finish(poll)
            } else {
                // What it asked for may have happened already.
                poll.isOverdue = true
            }
        }
        beatsDue += beats.take(now: now)
        feed()
    }

    /// Sends a stream that was silent a sign of life. One whose client has gone without a word is closed.
    func beat(_ stream: EventStream) {
        guard case .stream(let detached) = stream.sink else { return }
        if detached.isForsaken(milliseconds: heartbeat / 1_000_000) { return detached.abort() }
        let now = Clocks.monotonic()
        if now - stream.lastSent >= heartbeat {
            stream.lastSent = now
            // One that can't take more has enough to read.
            if stream.mode != .paused {
                detached.send(EventJSON.heartbeat(examined: examined(stream), as: stream.channel.key.format))
            }
        }
        beats.insert(stream, at: min(stream.lastSent + heartbeat, now + heartbeat / 2))
    }

    /// Has those read again whose rows could not be read.
    func retryReads() {
        let again = failed
        failed = []
        for stream in again { goOn(stream) }
    }
}
