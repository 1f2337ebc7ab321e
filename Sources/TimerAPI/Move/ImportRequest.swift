import Primitives
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// A request to import a part of an export: its parameters and its lines.
struct ImportRequest {
    /// The export's id, and its text.
    let export: Hash128
    let exportText: String
    let part: Int
    let policy: Turn.ConflictPolicy
    let isCopy: Bool
    let dropsSecrets: Bool
    /// The hash of the body.
    let fingerprint: Hash128
    let body: [UInt8]
    /// The principal that sends the request, by whose rights keys are taken.
    var grantor = KeyGrantor.nobody

    /// The most lines of a part.
    private static let mostLines = 100_000

    init(_ target: Target, _ body: [UInt8], siphash: SipHash) throws(Problem) {
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
        fingerprint = Hash128(body.span, siphash: siphash, tweak: 5)
    }

    /// Reads an export's id; nil unless it is 32 hexadecimal digits, lower-case.
    static func id(_ text: some Collection<UInt8>) -> Hash128? {
        guard let high = Hexadecimal.word(text.prefix(16)), let low = Hexadecimal.word(text.dropFirst(16)) else {
            return nil
        }
        return Hash128(high: high, low: low)
    }

    /// Returns the ranges of the lines in the body, without the blank ones.
    func lines() throws(Problem) -> [Range<Int>] {
        guard let ranges = BatchForm.lines(of: body, most: Self.mostLines) else {
            throw Problem(.tooLarge, "a part has at most \(Self.mostLines) lines")
        }
        guard !ranges.isEmpty else { throw Problem(.invalidRequest, "a part needs at least one line") }
        return ranges
    }

    /// Adds the number of the line at fault to a problem.
    func problem(_ problem: Problem, line: Int) -> Problem {
        var problem = problem
        problem.line = line + 1
        return problem
    }
}

/// A request that asks which part of an export is to be imported next.
struct ImportState {
    /// The export's id.
    let export: Hash128
    private let exportText: [UInt8]

    init(_ text: [UInt8]) throws(Problem) {
        guard let export = ImportRequest.id(text) else {
            throw Problem(.notFound, "an export's id is 32 hexadecimal digits, lower-case")
        }
        self.export = export
        exportText = text
    }

    /// Returns the answer.
    ///
    /// - Parameter progress: the progress of the import; nil if it was not begun.
    func outcome(_ progress: ImportProgress?) -> Outcome {
        return .object { json in
            json.member("export", text: exportText)
            json.member("next", Int64(progress.nextPart))
            json.member("complete", progress?.isComplete ?? false)
        }
    }
}
