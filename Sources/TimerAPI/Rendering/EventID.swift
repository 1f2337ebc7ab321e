import WireJSON

/// An event's id as clients see and name it: the position of its record. Its text has a fixed width, so that ids sort
/// as their texts do.
package struct EventID: Sendable, Comparable, Hashable {
    /// The position of the event's record; never negative.
    package let position: Int64

    /// The bytes of the text.
    package static let width = 19
    /// The id before the first event, which a client names to be shown all events that are kept.
    package static let beginning = EventID(0)

    /// Makes the id of the event at `position`.
    package init(_ position: Int64) { self.position = position }

    /// Reads an id; nil unless it is a decimal number of at most `width` digits. A number that no position can reach
    /// reads as the largest position.
    init?(_ text: some Collection<UInt8>) {
        guard let position = DecimalText.parse(text) else { return nil }
        self.position = position
    }

    /// Reads an id in the form in which it is shown; nil for anything else.
    package init?(shown text: some Collection<UInt8>) {
        guard text.count == Self.width else { return nil }
        self.init(text)
    }

    package static func < (left: EventID, right: EventID) -> Bool { left.position < right.position }

    /// The id as it is shown.
    package var text: String {
        var text: [UInt8] = []
        text.append(addingCapacity: Self.width) { append(to: &$0) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the id as it is shown: `width` bytes.
    func append(to text: inout OutputSpan<UInt8>) {
        var digits = InlineArray<19, UInt8>(repeating: 0)
        var rest = UInt64(position)
        for index in digits.indices.reversed() {
            digits[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        for index in digits.indices { text.append(digits[index]) }
    }

    /// Writes a member with the id as a string.
    func write(_ name: StaticString, _ json: inout JSONWriter) {
        json.key(name)
        json.plain(upTo: Self.width) { append(to: &$0) }
    }
}
