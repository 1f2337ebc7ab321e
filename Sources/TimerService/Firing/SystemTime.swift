import Platform
import TimerCore
public import TimerLog

/// The kernel's clocks.
public struct SystemTime: TimeSource {
    /// The kernel's clocks.
    public init() {}
    /// `CLOCK_BOOTTIME`.
    public func boottime() -> Int64 { Clocks.boottime() }
    /// `CLOCK_REALTIME`.
    public func realtime() -> Int64 { Clocks.realtime() }
    /// The kernel's boot id.
    public func boot() -> Hash128 {
        let text = Array(Clocks.bootIdentity().utf8)
        return Hash128(text.span, siphash: SipHash(secret: []), tweak: 0)
    }
}
