/// An IPv4 or IPv6 address, without port and scope.
public enum IPAddress: Sendable, Hashable {
    /// The four bytes, the first one highest.
    case v4(UInt32)
    /// The sixteen bytes as two numbers, the first byte highest.
    case v6(high: UInt64, low: UInt64)

    /// Reads four or sixteen bytes in network order, as socket addresses hold them; nil for another count.
    public init?(bytes: [UInt8]) {
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self = .v4(UInt32(number(0..<4)))
        case 16: self = .v6(high: number(0..<8), low: number(8..<16))
        default: return nil
        }
    }

    /// The four or sixteen bytes in network order.
    public var bytes: [UInt8] {
        func parts(_ number: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
        }
        switch self {
        case .v4(let bits): return parts(UInt64(bits), 4)
        case .v6(let high, let low): return parts(high, 8) + parts(low, 8)
        }
    }

    /// Reads `192.0.2.1` or `2001:db8::1`, as `inet_pton` does: no other spelling of IPv4, no scope, no brackets.
    public init?(_ text: String) {
        if let v4 = Self.readV4(text[...]) {
            self = .v4(v4)
        } else if let words = Self.readV6(text) {
            let halves = [words[..<4], words[4...]].map { $0.reduce(0) { $0 << 16 | UInt64($1) } }
            self = .v6(high: halves[0], low: halves[1])
        } else {
            return nil
        }
    }

    /// The bits of an address of this kind: 32 or 128.
    var width: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// Returns the address with all but its first `bits` bits zero.
    func masked(_ bits: Int) -> IPAddress {
        switch self {
        case .v4(let address): .v4(address & Self.mask(bits))
        case .v6(let high, let low): .v6(high: high & Self.mask(min(bits, 64)), low: low & Self.mask(max(bits - 64, 0)))
        }
    }

    private static func mask<Number: FixedWidthInteger>(_ bits: Int) -> Number { ~0 << (Number.bitWidth - bits) }

    private static func readV4(_ text: Substring) -> UInt32? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            // A leading zero means octal to some readers and nothing to others.
            guard (1...3).contains(part.count), part.count == 1 || part.first != 0x30,
                part.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = UInt8(Substring(part))
            else { return nil }
            address = address << 8 | UInt32(number)
        }
        return address
    }

    private static func readV6(_ text: String) -> [UInt16]? {
        guard text.utf8.count <= 45, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        guard let gap = text.firstGap() else {
            let words = readWords(text[...])
            return words?.count == 8 ? words : nil
        }
        let before = text[..<gap.lowerBound]
        let after = text[gap.upperBound...]
        // The gap stands for one group at least, and the IPv4 form may come at the end only.
        guard !before.contains("."), let head = before.isEmpty ? [] : readWords(before),
            let tail = after.isEmpty ? [] : readWords(after), head.count + tail.count <= 7
        else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    private static func readWords(_ text: Substring) -> [UInt16]? {
        var words: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(".") {
                guard let v4 = readV4(part) else { return nil }
                words += [UInt16(v4 >> 16), UInt16(truncatingIfNeeded: v4)]
            } else {
                // The number's own reader takes a sign, also that of `-0`.
                guard (1...4).contains(part.utf8.count), part.allSatisfy(\.isHexDigit),
                    let word = UInt16(part, radix: 16)
                else { return nil }
                words.append(word)
            }
        }
        return words
    }
}

extension String {
    /// Returns the range of the first `::`.
    fileprivate func firstGap() -> Range<String.Index>? {
        var index = startIndex
        while index < endIndex {
            let next = self.index(after: index)
            if self[index] == ":", next < endIndex, self[next] == ":" { return index..<self.index(after: next) }
            index = next
        }
        return nil
    }
}

extension IPAddress: CustomStringConvertible {
    /// The text as RFC 5952 has it: lower case, the longest run of zeros as `::`.
    public var description: String {
        switch self {
        case .v4(let address):
            return stride(from: 24, through: 0, by: -8).map { "\(address >> $0 & 255)" }.joined(separator: ".")
        case .v6(let high, let low):
            let words = [high, low].flatMap { half in stride(from: 48, through: 0, by: -16).map { half >> $0 & 0xFFFF }
            }
            func text(_ range: Range<Int>) -> String {
                words[range].map { String($0, radix: 16) }.joined(separator: ":")
            }
            let gap = Self.longestGap(words)
            return gap.isEmpty ? text(0..<8) : "\(text(0..<gap.lowerBound))::\(text(gap.upperBound..<8))"
        }
    }

    /// Returns the first longest run of two zeros or more; empty where there is none.
    private static func longestGap(_ words: [UInt64]) -> Range<Int> {
        var longest = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || words[index] != 0 {
            if index - start > max(longest.count, 1) { longest = start..<index }
            start = index + 1
        }
        return longest
    }
}

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
