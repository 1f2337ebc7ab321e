/// The parts of an answer's head that are kept. The head comes line by line.
struct AnswerHead {
    /// The most bytes of header lines that are read, interim answers and trailers included.
    static let limit = 64 * 1024
    /// The most bytes of a value that are kept. A longer value makes no sense, and what is kept is long enough to
    /// show that.
    static let valueLimit = 256

    /// The status once the head is complete; 0 before.
    private(set) var status = 0
    /// The value of `Retry-After`.
    private(set) var retryAfter: [UInt8]?
    /// The value of `Timer-Command`.
    private(set) var timerCommand: [UInt8]?
    /// Whether the lines have more than `limit` bytes.
    private(set) var isTooLong = false
    /// The status of the head that is being read.
    private var announced = 0
    private var count = 0
    /// Whether any byte came.
    var hasBegun: Bool { count > 0 }

    /// Takes a line with its line end. Returns false where the transfer is to be aborted.
    mutating func take(_ line: Span<UInt8>) -> Bool {
        count += line.count
        guard count <= Self.limit else {
            isTooLong = true
            return false
        }
        // Trailers, after the body, are no part of the head.
        guard status == 0 else { return true }
        if line.begins(with: "http/") {
            // A new status line: what came before was interim, 100 or 103.
            retryAfter = nil
            timerCommand = nil
            announced = Self.status(line)
        } else if line.isBlank {
            if announced >= 200 { status = announced }
        } else if line.begins(with: "retry-after:") {
            if retryAfter == nil { retryAfter = Self.value(line) }
        } else if line.begins(with: "timer-command:") {
            if timerCommand == nil { timerCommand = Self.value(line) }
        }
        return true
    }

    /// Returns the three-digit number after the first space; 0 where there is none.
    private static func status(_ line: Span<UInt8>) -> Int {
        var index = 0
        while index < line.count, line[index] != 0x20 { index += 1 }
        guard index + 3 < line.count else { return 0 }
        var number = 0
        for place in index + 1...index + 3 {
            let digit = line[place] &- UInt8(ascii: "0")
            guard digit < 10 else { return 0 }
            number = number * 10 + Int(digit)
        }
        return number
    }

    /// Returns the text after the colon, without white space around it.
    private static func value(_ line: Span<UInt8>) -> [UInt8] {
        var start = 0
        while line[start] != UInt8(ascii: ":") { start += 1 }
        start += 1
        var end = line.count
        while start < end, line[start] <= 0x20 { start += 1 }
        while start < end, line[end - 1] <= 0x20 { end -= 1 }
        return (start..<min(end, start + valueLimit)).map { line[$0] }
    }
}

extension Span<UInt8> {
    /// Whether the bytes begin with `text`, which is in lower case, ignoring case.
    fileprivate func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in text.indices {
                let byte = self[index]
                guard (byte &- 0x41 < 26 ? byte | 0x20 : byte) == (unsafe text[index]) else { return false }
            }
            return true
        }
    }

    /// Whether the bytes are only a line end.
    fileprivate var isBlank: Bool {
        for index in indices where self[index] > 0x20 { return false }
        return true
    }
}
