import HTTPServer

extension Exchange {
    /// Returns the value of a header that is a list, its lines joined to one (RFC 9110, 5.3); nil if
    /// the request has none.
    func list(_ name: StaticString) -> ArraySlice<UInt8>? {
        guard let first = header(name)?.bytes else { return nil }
        guard headers.count(of: name) > 1 else { return first }
        return Array(headers.all(name).map(\.bytes).joined(separator: [UInt8(ascii: ",")]))[...]
    }

    /// Whether `Accept` gives `type` a higher weight than `other`, or the same and names it. Both are in lower case.
    func prefers(_ type: String, to other: String) -> Bool {
        let ranges = mediaRanges
        let weight = Self.weight(of: type, in: ranges)
        let otherWeight = Self.weight(of: other, in: ranges)
        if weight != otherWeight { return weight > otherWeight }
        return weight > 0 && ranges.contains { $0.name == type }
    }

    /// A range of media types and its weight, in thousandths.
    private struct MediaRange {
        var name: String
        var weight: Int
    }

    private var mediaRanges: [MediaRange] {
        guard let accept = list("accept") else { return [] }
        return String(decoding: accept, as: UTF8.self).lowercased().split(separator: ",").map { part in
            let words = part.split(separator: ";", omittingEmptySubsequences: false).map {
                String($0.filter { $0 != " " && $0 != "\t" })
            }
            let weight = words.dropFirst().first { $0.hasPrefix("q=") }.map { Self.thousandths($0.dropFirst(2)) }
            return MediaRange(name: words.first ?? "", weight: weight ?? 1000)
        }
    }

    /// Returns the weight of a type by the most specific range that it is in (RFC 9110, 12.5.1); 0 if it is in none.
    private static func weight(of type: String, in ranges: [MediaRange]) -> Int {
        let family = type.prefix { $0 != "/" } + "/*"
        for name in [type, String(family), "*/*"] {
            if let range = ranges.first(where: { $0.name == name }) { return range.weight }
        }
        return 0
    }

    /// Reads a weight from 0 to 1 with up to three decimals (RFC 9110, 12.4.2); any other text counts as 1.
    private static func thousandths(_ text: Substring) -> Int {
        let digits = text.utf8.dropFirst(2)
        guard text.first == "0", text.utf8.count <= 5, text.utf8.count == 1 || text.dropFirst().first == "." else {
            return 1000
        }
        var value = 0
        var scale = 100
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return 1000 }
            value += Int(digit - UInt8(ascii: "0")) * scale
            scale /= 10
        }
        return value
    }
}
