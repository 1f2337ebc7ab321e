import TimerCore

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
