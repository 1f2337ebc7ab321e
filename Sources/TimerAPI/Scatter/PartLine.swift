import WireJSON

/// A line of a part of a batch: the number of its partition, a space, and the client's line.
enum PartLine {
    /// The media type of such lines.
    static let type: StaticString = "application/vnd.timerd.batch-part"
    /// Most bytes before the client's line, and the end of a last line that had none.
    static let mostAdded = 6

    /// Reads the number, and moves `line` to what is behind it.
    static func partition(_ body: [UInt8], _ line: inout Range<Int>, of scope: PartitionScope) throws(Problem) -> Int {
        var number = 0
        var place = line.lowerBound
        while place < line.upperBound, place - line.lowerBound < 4, body[place] &- 0x30 < 10 {
            number = number * 10 + Int(body[place] - 0x30)
            place += 1
        }
        guard place > line.lowerBound, place < line.upperBound, body[place] == UInt8(ascii: " "),
            scope.contains(number)
        else { throw Problem(.invalidRequest, "a line of a part begins with the number of a partition of the part") }
        line = place + 1..<line.upperBound
        return number
    }

    /// Appends a line.
    static func append(_ line: ArraySlice<UInt8>, of partition: UInt16, to content: inout [UInt8]) {
        content += String(partition).utf8
        content.append(UInt8(ascii: " "))
        content += line
        content.append(UInt8(ascii: "\n"))
    }
}
