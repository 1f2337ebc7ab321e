import TimerCore

/// The channels of one loop, by what they show and by whom they concern.
struct StreamChannels {
    private var byKey: [StreamChannel.Key: StreamChannel] = [:]
    private var byTimer: [UInt64: [StreamChannel]] = [:]
    /// Those that are not of one timer.
    private(set) var general: [StreamChannel] = []

    /// Whether some are of one timer.
    var hasTimers: Bool { !byTimer.isEmpty }

    /// Those of the timer whose key has `hash`; of another too, where hashes are alike.
    func ofTimer(_ hash: UInt64) -> [StreamChannel] { byTimer[hash] ?? [] }

    /// The channel of `key`, for one reader more.
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

    /// Lets a reader's channel go, which is forgotten with its last one.
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
