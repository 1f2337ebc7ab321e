import TimerLog
import WireJSON

/// What the owner of some partitions is to do with a part of an import. Its content begins with a line that says this; each further
/// line is the number of a line of the client's part, a space, and that line.
struct ImportPart: Equatable {
    /// How far the owner is to go.
    enum Stage: String {
        /// The lines are checked, and nothing is changed.
        case check
        /// They are checked and applied.
        case apply
    }

    let stage: Stage
    /// How many lines the client's part has.
    let total: Int
    /// Hash of the client's part.
    let fingerprint: Hash128

    /// The media type of such content.
    static let type: StaticString = "application/vnd.timerd.import-part"
    /// Most bytes before the lines, and before each of them with the end of a last one that had none.
    static let mostHeadBytes = 64
    static let mostAdded = 8

    /// The first line of the content.
    var head: [UInt8] {
        Array("\(stage.rawValue) \(total) ".utf8) + PartHeader.text(fingerprint) + [UInt8(ascii: "\n")]
    }

    /// Appends a line of the client's part.
    static func append(_ line: ArraySlice<UInt8>, number: Int, to content: inout [UInt8]) {
        content += String(number).utf8
        content.append(UInt8(ascii: " "))
        content += line
        content.append(UInt8(ascii: "\n"))
    }

    /// Makes one; see the members.
    init(stage: Stage, total: Int, fingerprint: Hash128) {
        self.stage = stage
        self.total = total
        self.fingerprint = fingerprint
    }

    /// Reads what `head` and `append` have written. Lines come in their order.
    ///
    /// - Returns: what it says, and where its lines are in `content`.
    static func read(_ content: [UInt8]) throws(Problem) -> (part: ImportPart, lines: [ImportRequest.Line]) {
        let end = content.firstIndex(of: UInt8(ascii: "\n")) ?? content.count
        let words = content[..<end].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, let stage = Stage(rawValue: words[0]), let total = Int(words[1]),
            (1...ImportRequest.mostLines).contains(total), let fingerprint = PartHeader.fingerprint(words[2].utf8)
        else { throw malformed }
        var lines: [ImportRequest.Line] = []
        var start = end + 1
        while start < content.count {
            let end = content.span.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? content.count
            guard let space = content[start..<min(end, start + mostAdded)].firstIndex(of: UInt8(ascii: " ")),
                let number = DecimalText.parse(content[start..<space]), number < Int64(total),
                lines.last.map({ $0.number < number }) ?? true
            else { throw malformed }
            lines.append(ImportRequest.Line(number: Int(number), range: space + 1..<end))
            start = end + 1
        }
        return (ImportPart(stage: stage, total: total, fingerprint: fingerprint), lines)
    }

    private static var malformed: Problem {
        Problem(.invalidRequest, "a part of an import says what is to be done, and numbers its lines")
    }
}
