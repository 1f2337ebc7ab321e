import TimerCore

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

/// The channels of one loop, by filter and format, and by timer for those whose filter names one.
struct StreamChannels {
    private var byKey: [StreamChannel.Key: StreamChannel] = [:]
    private var byTimer: [UInt64: [StreamChannel]] = [:]
    /// The channels whose filter names no timer.
    private(set) var general: [StreamChannel] = []

    /// Whether the filter of any channel names a timer.
    var hasTimers: Bool { !byTimer.isEmpty }

    /// Returns the channels of the timer whose key has `hash`; also those of another timer, if the hashes are equal.
    func ofTimer(_ hash: UInt64) -> [StreamChannel] { byTimer[hash] ?? [] }

    /// Returns the channel of `key`, with one more reader.
    mutating func retain(_ key: StreamChannel.Key) -> StreamChannel {
        let channel: StreamChannel
        if let known = byKey[key] {
            channel = known
        } else {
            channel = StreamChannel(key)
            byKey[key] = channel
            if let timer = key.filter.timer {
                byTimer[timer.hash, default: []].append(channel)
            } else {
                channel.place = general.count
                general.append(channel)
            }
        }
        channel.readers += 1
        return channel
    }

    /// Counts one reader less. A channel without readers is removed.
    mutating func release(_ channel: StreamChannel) {
        channel.readers -= 1
        guard channel.readers == 0 else { return }
        byKey[channel.key] = nil
        guard let hash = channel.key.filter.timer?.hash else {
            let last = general.removeLast()
            guard last !== channel else { return }
            last.place = channel.place
            return general[last.place] = last
        }
        byTimer[hash]?.removeAll { $0 === channel }
        if byTimer[hash]?.isEmpty ?? false { byTimer[hash] = nil }
    }
}
