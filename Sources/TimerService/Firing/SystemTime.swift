import Platform
import TimerCore
public import TimerLog

/// The kernel's clocks.
public struct SystemTime: TimeSource {
    /// Makes a source of the kernel's clocks.
    public init() {}
    /// Reads `CLOCK_BOOTTIME`.
    public func boottime() -> Int64 { Clocks.boottime() }
    /// Reads `CLOCK_REALTIME`.
    public func realtime() -> Int64 { Clocks.realtime() }
    /// Returns a hash of the kernel's boot id.
    public func boot() -> Hash128 {
        let text = Array(Clocks.bootIdentity().utf8)
        return Hash128(text.span, siphash: SipHash(secret: []), tweak: 0)
    }
}
