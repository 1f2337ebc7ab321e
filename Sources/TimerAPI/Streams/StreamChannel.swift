/// The streams of one loop with the same filter and format. The streams in step are the channel's members: a row's
/// events are written once for all of them.
final class StreamChannel {
    /// The filter and the format that the channel's streams share.
    struct Key: Hashable {
        var filter: StreamFilter
        var format: StreamFormat
    }

    let key: Key
    /// The number of streams and polls that use the channel, members or not.
    var readers = 0
    /// The streams in step.
    private(set) var members: [EventStream] = []
    /// The channel's index in `StreamChannels.general`; unused for a channel of one timer.
    var place = 0

    init(_ key: Key) { self.key = key }

    func join(_ stream: EventStream) {
        stream.mode = .inStep
        stream.seat = members.count
        members.append(stream)
    }

    /// Removes a member, whose mode becomes `mode`.
    ///
    /// The member's seat goes to the last member, so that a walk from the last member to the first misses none.
    func leave(_ stream: EventStream, for mode: EventStream.Mode) {
        stream.mode = mode
        let last = members.removeLast()
        guard last !== stream else { return }
        last.seat = stream.seat
        members[last.seat] = last
    }
}
