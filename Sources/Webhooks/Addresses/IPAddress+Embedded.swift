extension IPAddress {
    /// The IPv4 addresses that are embedded in an IPv6 address, where packets to it may end up; none for most.
    ///
    /// | prefix | what | where |
    /// |---|---|---|
    /// | `::ffff:0:0/96` | mapped (RFC 4291) | the last 32 bits |
    /// | `::/96` | compatible (RFC 4291); not `::` and `::1` | the last 32 bits |
    /// | `::ffff:0:0:0/96` | translated (RFC 2765) | the last 32 bits |
    /// | `64:ff9b::/96` | NAT64 (RFC 6052) | the last 32 bits |
    /// | `64:ff9b:1::/48` | NAT64 of the local network (RFC 8215) | by the prefix's length, the operator's choice |
    /// | `2002::/16` | 6to4 (RFC 3056) | bits 16 to 47 |
    /// | `2001::/32` | Teredo (RFC 4380) | server in bits 32 to 63, client inverted in the last 32 |
    var embedded: [UInt32] {
        guard case .v6(let high, let low) = self else { return [] }
        let last = UInt32(truncatingIfNeeded: low)
        if high == 0 {
            switch low >> 32 {
            case 0: return low > 1 ? [last] : []
            case 0xFFFF, 0xFFFF_0000: return [last]
            default: return []
            }
        }
        if high == 0x0064_FF9B_0000_0000 && low >> 32 == 0 { return [last] }
        if high >> 16 == 0x0064_FF9B_0001 { return Self.localNAT64(high, low) }
        if high >> 48 == 0x2002 { return [UInt32(truncatingIfNeeded: high >> 16)] }
        if high >> 32 == 0x2001_0000 { return [UInt32(truncatingIfNeeded: high), ~last] }
        return []
    }

    /// Returns the addresses that are embedded under each length of prefix in `64:ff9b:1::/48` that RFC 6052 has:
    /// /48, /56, /64, /96.
    ///
    /// Only the operator knows the length, so each reading counts. Readings within 0.0.0.0/8 mostly come from a
    /// wrong length, and lead nowhere; one is kept where there is no other.
    private static func localNAT64(_ high: UInt64, _ low: UInt64) -> [UInt32] {
        let readings = [
            UInt32(truncatingIfNeeded: high & 0xFFFF) << 16 | UInt32(truncatingIfNeeded: low >> 40 & 0xFFFF),
            UInt32(truncatingIfNeeded: high & 0xFF) << 24 | UInt32(truncatingIfNeeded: low >> 32 & 0xFF_FFFF),
            UInt32(truncatingIfNeeded: low >> 24),
            UInt32(truncatingIfNeeded: low),
        ]
        let likely = readings.filter { $0 >> 24 != 0 }
        return likely.isEmpty ? [readings[3]] : likely
    }
}
