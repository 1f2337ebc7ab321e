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
                guard (1...4).contains(part.utf8.count), part.first != "+", let word = UInt16(part, radix: 16) else {
                    return nil
                }
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
