import TimerCore
import TimerLog
import TimerService
import WireJSON

/// What a request to import a part says beside its lines.
struct ImportRequest {
    /// The export's id, and as it is written.
    let export: Hash128
    let exportText: String
    let part: Int
    let policy: Turn.ConflictPolicy
    let isCopy: Bool
    let dropsSecrets: Bool
    /// Hash of the body.
    let fingerprint: Hash128
    let body: [UInt8]
    /// The lines, in their order; blank ones are left out.
    let lines: [Line]
    /// How many lines the client's part has: of an owner's part, those for other owners too.
    let total: Int
    /// Whether the lines are to be checked alone.
    let isCheck: Bool

    /// A line of the body.
    struct Line: Equatable {
        /// Its number among those of the client's part, from 0.
        let number: Int
        /// Where it is in the body.
        let range: Range<Int>
    }

    /// Most lines of a part.
    static let mostLines = 100_000

    /// - Parameter isPart: whether it is another server's, with the lines of some partitions: see `ImportPart`.
    init(_ target: Target, _ body: [UInt8], isPart: Bool = false, siphash: SipHash) throws(Problem) {
        var query = QueryReader(target)
        guard let text = try query.one("export") else {
            throw QueryReader.invalid("export", "`export` is needed: the id that the export's first line has")
        }
        guard let export = Self.id(text) else {
            throw QueryReader.invalid("export", "an export's id is 32 hexadecimal digits, lower-case")
        }
        self.export = export
        exportText = String(decoding: text, as: UTF8.self)
        part = Int(try query.number("part", in: 0...Int64(ImportProgress.mostParts - 1), default: -1))
        guard part >= 0 else { throw QueryReader.invalid("part", "`part` is needed, from 0") }
        policy =
            try query.word("onConflict", [("fail", .fail), ("skip", .skip), ("replace", .replace)]) ?? .fail
        isCopy = try query.flag("copy", default: false)
        dropsSecrets = try query.word("secrets", [("drop", true)]) ?? false
        try query.finish()
        guard !body.isEmpty else { throw Problem(.invalidRequest, "a part needs at least one line") }
        self.body = body
        if isPart {
            let (part, lines) = try ImportPart.read(body)
            (fingerprint, total, isCheck) = (part.fingerprint, part.total, part.stage == .check)
            self.lines = lines
        } else {
            fingerprint = Hash128(body.span, siphash: siphash, tweak: 5)
            lines = try Self.lines(body)
            (total, isCheck) = (lines.count, false)
        }
    }

    /// Reads an export's id.
    static func id(_ text: some Collection<UInt8>) -> Hash128? {
        guard text.count == 32 else { return nil }
        var words: [UInt64] = [0, 0]
        for (index, byte) in text.enumerated() {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            words[index / 16] = words[index / 16] << 4 | UInt64(digit)
        }
        return Hash128(high: words[0], low: words[1])
    }

    private static func lines(_ body: [UInt8]) throws(Problem) -> [Line] {
        var lines: [Line] = []
        var start = 0
        while start < body.count {
            let end = body.span.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? body.count
            if (start..<end).contains(where: { body[$0] != 32 && body[$0] != 9 && body[$0] != 13 }) {
                guard lines.count < mostLines else {
                    throw Problem(.tooLarge, "a part has at most \(mostLines) lines")
                }
                lines.append(Line(number: lines.count, range: start..<end))
            }
            start = end + 1
        }
        guard !lines.isEmpty else { throw Problem(.invalidRequest, "a part needs at least one line") }
        return lines
    }

    /// A problem with a line of the part.
    func problem(_ problem: Problem, line: Int) -> Problem {
        var problem = problem
        problem.line = line + 1
        return problem
    }
}
