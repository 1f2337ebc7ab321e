extension Definition {
    /// The properties that a pass over all timers reads of each definition, at a restart above all: a byte in the
    /// timer's slot, as each definition lies elsewhere in memory.
    struct Traits: OptionSet, BitwiseCopyable {
        let rawValue: UInt8
        /// The schedule names a time zone.
        static let zoned = Traits(rawValue: 1)
        /// The timer is planned at its due instant, and a late fire needs no look at its rules: it is no watchdog,
        /// and has no leeway, no jitter and no `misfire: all`.
        static let punctual = Traits(rawValue: 2)
        /// The place of the two bits of the clock.
        static let clockShift: UInt8 = 2
        private static let clockMask: UInt8 = 3
        /// The timer is suspended once its last subscriber has left.
        static let stopsUnsubscribed = Traits(rawValue: 16)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ clock: TimerClock) { rawValue = clock.rawValue << Self.clockShift }

        /// The timer's clock.
        var clock: TimerClock {
            guard let clock = TimerClock(rawValue: rawValue >> Self.clockShift & Self.clockMask) else {
                preconditionFailure("the clock is one that `init` was given")
            }
            return clock
        }
    }

    /// Reads the traits of the whole definition `bytes`, without decoding the rest.
    static func traits(_ bytes: Span<UInt8>) -> Traits {
        guard let traits = RulesCodec.traits(bytes, at: (prefixCount(bytes) ?? 0) + createdAtCount) else {
            preconditionFailure("the table holds only definitions that decode: they are checked on the way in")
        }
        return traits
    }
}
