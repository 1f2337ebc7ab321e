/// The streams of one loop that are shown the same events in the same format, and have seen all that the loop has.
final class StreamChannel {
    /// What its members have in common.
    struct Key: Hashable {
        var filter: StreamFilter
        var format: StreamFormat
    }

    let key: Key
    /// Streams and polls that hold on to it, members or not.
    var readers = 0
    /// Those in step.
    private(set) var members: [EventStream] = []
    /// Its place among its loop's channels that are not of one timer.
    var place = 0

    init(_ key: Key) { self.key = key }

    func join(_ stream: EventStream) {
        stream.mode = .inStep
        stream.seat = members.count
        members.append(stream)
    }

    /// Lets a member go, for what it does now instead.
    ///
    /// Its seat goes to the last member: whoever walks the members from the last to the first misses none.
    func leave(_ stream: EventStream, for mode: EventStream.Mode) {
        stream.mode = mode
        let last = members.removeLast()
        guard last !== stream else { return }
        last.seat = stream.seat
        members[last.seat] = last
    }
}
