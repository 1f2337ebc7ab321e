import WireJSON

/// The form of a batch's lines in its body, and of their results in its answer.
enum BatchForm {
    /// One JSON object per line, and one result per line.
    case lines
    /// A JSON array of objects, and an array of results.
    case array

    /// Finds the form of `body`: under the media type of JSON an array if it begins with a bracket. NDJSON is taken
    /// under that type too.
    init(of body: [UInt8], isJSON: Bool) {
        let first = body.first { !Self.isSpace($0) }
        self = isJSON && first == UInt8(ascii: "[") ? .array : .lines
    }

    /// The media type of the answer.
    var mediaType: String { self == .lines ? "application/x-ndjson" : "application/json" }

    // MARK: The body

    /// Returns the ranges in `body` of the lines, or of the array's elements; blank lines are left out.
    ///
    /// - Parameter document: parses the body as far as that is needed to find the ranges.
    /// - Throws: if there are too many lines, or the body has neither form: such a batch is refused as a whole. An
    ///   object that is too large or too deep is left to its own line.
    func ranges(in body: [UInt8], _ document: inout JSONDocument) throws(Problem) -> [Range<Int>] {
        if self == .array { return try Self.elements(of: body, &document) }
        guard let ranges = Self.lines(of: body, most: APILimits.batchLines) else { throw Self.tooMany }
        guard let first = ranges.first, first.count <= APILimits.bodyBytes else { return ranges }
        do throws(Problem) { try parse(body, first, maximumDepth: .max, &document) } catch {
            var problem = error
            if !problem.detail.hasPrefix(Self.rule) { problem.detail = "\(Self.rule): \(problem.detail)" }
            throw problem
        }
        return ranges
    }

    /// Returns the ranges of the lines in `body`, without the blank ones; nil where there are more than `most`.
    static func lines(of body: [UInt8], most: Int) -> [Range<Int>]? {
        var ranges: [Range<Int>] = []
        var start = 0
        while start < body.count {
            let end = body.span.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? body.count
            if (start..<end).contains(where: { body[$0] != 32 && body[$0] != 9 && body[$0] != 13 }) {
                guard ranges.count < most else { return nil }
                ranges.append(start..<end)
            }
            start = end + 1
        }
        return ranges
    }

    /// Parses each element, and what is between them.
    private static func elements(of body: [UInt8], _ document: inout JSONDocument) throws(Problem) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        // The position after the bracket by which the form was found.
        var position = skipSpace(body, 0) + 1
        while true {
            position = skipSpace(body, position)
            if ranges.isEmpty, position < body.count, body[position] == UInt8(ascii: "]") { break }
            guard position < body.count else { throw unreadable("unexpected end", "") }
            guard ranges.count < APILimits.batchLines else { throw tooMany }
            let rest = position..<min(body.count, position + APILimits.bodyBytes)
            do throws(JSONError) {
                ranges.append(position..<(try document.parse(firstOf: body, rest, maximumDepth: .max)))
            } catch {
                // A literal or an escape that the bound cuts off is a few bytes long.
                let isCut = rest.upperBound < body.count && error.offset + 8 >= rest.count
                if isCut { throw tooLong("/\(ranges.count)") }
                throw unreadable(error.message, "/\(ranges.count)\(error.pointer)")
            }
            position = skipSpace(body, ranges[ranges.count - 1].upperBound)
            guard position < body.count, body[position] == UInt8(ascii: ",") else { break }
            position += 1
        }
        guard position < body.count, body[position] == UInt8(ascii: "]") else {
            throw unreadable("expected a comma or ]", "")
        }
        guard skipSpace(body, position + 1) == body.count else {
            throw unreadable("trailing bytes", "")
        }
        return ranges
    }

    private static func skipSpace(_ body: [UInt8], _ start: Int) -> Int {
        var position = start
        while position < body.count, isSpace(body[position]) { position += 1 }
        return position
    }

    /// Whether `byte` is white space of JSON.
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func unreadable(_ reason: String, _ pointer: String) -> Problem {
        Problem(.invalidRequest, "the array can't be parsed: \(reason)", pointer: pointer)
    }

    private static var tooMany: Problem {
        Problem(.tooLarge, "a batch has at most \(APILimits.batchLines) lines")
    }

    private static func tooLong(_ pointer: String) -> Problem {
        Problem(.tooLarge, "a line, or an element, has at most \(APILimits.bodyBytes) bytes", pointer: pointer)
    }

    /// Parses the line, or the element, in `range`: a timer or a command, or an object that wraps a timer, which is
    /// then nested deeper by one.
    ///
    /// - Throws: if the range holds no JSON object, or is too large.
    func parse(_ body: [UInt8], _ range: Range<Int>, _ document: inout JSONDocument) throws(Problem) {
        guard range.count <= APILimits.bodyBytes else { throw Self.tooLong("") }
        do throws(Problem) { try parse(body, range, maximumDepth: JSONDocument.maximumDepth, &document) } catch {
            let isDeeper = (try? document.parse(body, range, maximumDepth: JSONDocument.maximumDepth + 1)) != nil
            guard isDeeper, document.member(document.root, "apply") != nil else { throw error }
        }
    }

    private func parse(
        _ body: [UInt8], _ range: Range<Int>, maximumDepth: Int, _ document: inout JSONDocument
    ) throws(Problem) {
        do throws(JSONError) { try document.parse(body, range, maximumDepth: maximumDepth) } catch {
            // An error inside of the object has a pointer to its place.
            let detail = error.pointer.isEmpty ? "\(Self.rule): \(error.message)" : error.message
            throw Problem(.invalidRequest, detail, pointer: error.pointer)
        }
        guard document.kind(document.root) != .object else { return }
        let detail =
            switch self {
            case .lines where document.kind(document.root) == .array:
                "\(Self.rule); an array is taken as the whole body, with `Content-Type: application/json`"
            case .lines: Self.rule
            case .array: "each element of the array is an object"
            }
        throw Problem(.invalidRequest, detail, pointer: "")
    }

    private static let rule = "one object a line"

    // MARK: The answer

    /// Writes a result after those that `json` has.
    func write(_ result: BatchResult, _ json: inout JSONWriter, requestID: [UInt8], to principal: Principal) {
        if self == .array, json.count == 0 { json.beginArray() }
        result.write(&json, requestID: requestID, to: principal)
        if self == .lines { json.newline() }
    }

    /// Returns the bytes after the last result.
    ///
    /// - Parameter isEmpty: whether there is no result.
    func ending(isEmpty: Bool) -> [UInt8] { self == .lines ? [] : Array((isEmpty ? "[]" : "]").utf8) }
}
