import HTTPServer
import TimerLog

/// The header lines of a part request and its answer. Servers send them to each other; from a client they mean nothing, and
/// are not passed on.
enum PartHeader {
    /// The partitions that the part is about: `PartitionScope.text`.
    static let partitions: StaticString = "timerd-partitions"
    /// The fingerprint of the client's request, whose body the part does not have: 32 hexadecimal digits.
    static let fingerprint: StaticString = "timerd-fingerprint"
    /// What the owner of partitions is to write of an export: `ExportPortion.text`; nothing: how they stand.
    static let export: StaticString = "timerd-export"
    /// In an answer, where the part's next page begins; nothing where it has none.
    static let next: StaticString = "Timerd-Next"

    /// Whether a header line of that name is one of these.
    static func isOne(_ name: HeaderValue) -> Bool {
        [partitions, fingerprint, export, next].contains { name.equalsIgnoringCase($0) }
    }

    /// A fingerprint as the header line has it.
    static func text(_ fingerprint: Hash128) -> [UInt8] {
        var text: [UInt8] = []
        for word in [fingerprint.high, fingerprint.low] {
            let digits = String(word, radix: 16)
            text += String(repeating: "0", count: 16 - digits.count).utf8
            text += digits.utf8
        }
        return text
    }

    /// Reads what `text` gives; nil for anything else.
    static func fingerprint(_ text: some Collection<UInt8>) -> Hash128? {
        guard text.count == 32, text.allSatisfy({ $0 &- 0x30 < 10 || $0 &- 0x61 < 6 }) else { return nil }
        let digits = String(decoding: text, as: UTF8.self)
        guard let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16) else {
            return nil
        }
        return Hash128(high: high, low: low)
    }
}
