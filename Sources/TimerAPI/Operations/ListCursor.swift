import TimerCore

/// A position between the timers of a list, in either order.
enum ListCursor {
    case place(UInt64)
    case due(Scheduler.DuePlace)

    var text: String {
        switch self {
        case .place(let place): Self.hex(place)
        case .due(let place): "\(Self.hex(UInt64(bitPattern: place.due)))-\(Self.hex(place.place))"
        }
    }

    init?(_ text: [UInt8], bySoonest: Bool) {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.count == 16 ? UInt64(String(decoding: part, as: UTF8.self), radix: 16) : nil
        }
        guard numbers.count == parts.count, parts.count == (bySoonest ? 2 : 1) else { return nil }
        self =
            bySoonest
            ? .due(Scheduler.DuePlace(due: Int64(bitPattern: numbers[0]), place: numbers[1])) : .place(numbers[0])
        // Numbers may have signs and capital letters, cursors may not.
        guard self.text.utf8.elementsEqual(text) else { return nil }
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
