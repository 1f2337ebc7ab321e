/// The streams of one loop with the same filter and format. Those in step are its members: a row's events are written
/// once for all of them.
final class StreamChannel {
    /// Filter and format.
    struct Key: Hashable {
        var filter: StreamFilter
        var format: StreamFormat
    }

    let key: Key
    /// How many streams and polls use the channel, members or not.
    var readers = 0
    /// The streams in step.
    private(set) var members: [EventStream] = []
    /// Its index among its loop's channels that are not of one timer.
    var place = 0

    init(_ key: Key) { self.key = key }

    func join(_ stream: EventStream) {
        stream.mode = .inStep
        stream.seat = members.count
        members.append(stream)
    }

    /// Removes a member, which does `mode` from now on.
    ///
    /// Its seat goes to the last member, so that a walk from the last member to the first misses none.
    func leave(_ stream: EventStream, for mode: EventStream.Mode) {
        stream.mode = mode
        let last = members.removeLast()
        guard last !== stream else { return }
        last.seat = stream.seat
        members[last.seat] = last
    }
}
