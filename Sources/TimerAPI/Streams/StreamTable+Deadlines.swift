import HTTPServer
import Platform

/// Heartbeats, the time limits of long polls, and reads that are tried again.
extension StreamTable {
    /// The next instant at which a heartbeat or the end of a poll is due.
    var nextDeadline: Int64? {
        guard let beat = beats.next else { return polls.next }
        return min(beat, polls.next ?? .max)
    }

    /// Ends the polls whose time is over, and sends heartbeats.
    func deadlineCame(_ now: Int64) {
        for poll in polls.take(now: now) {
            if let deadline = poll.deadline, now < deadline {
                polls.insert(poll, at: deadline)
            } else if poll.mode == .inStep {
                finish(poll)
            } else {
                // An event for it may be among the rows that it has not examined yet.
                poll.isOverdue = true
            }
        }
        beatsDue += beats.take(now: now)
        feed()
    }

    /// Sends a heartbeat on a stream on which nothing was sent for a while. A stream whose client
    /// has vanished is aborted.
    func beat(_ stream: EventStream) {
        guard case .stream(let detached) = stream.sink else { return }
        if detached.isUnacknowledged(milliseconds: heartbeat / 1_000_000) { return detached.abort() }
        let now = Clocks.monotonic()
        if now - stream.lastSent >= heartbeat {
            stream.lastSent = now
            // The client of a paused stream has bytes to read.
            if stream.mode != .paused {
                detached.send(EventJSON.heartbeat(examined: examined(stream), as: stream.channel.key.format))
            }
        }
        beats.insert(stream, at: min(stream.lastSent + heartbeat, now + heartbeat / 2))
    }

    /// Queues the streams whose rows could not be read for another try.
    func retryReads() {
        let again = failed
        failed = []
        for stream in again { goOn(stream) }
    }
}
