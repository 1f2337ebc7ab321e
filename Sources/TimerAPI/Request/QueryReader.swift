import TimerCore
import WireJSON

/// Reads a request's query parameters. Parameters that were not read are refused, and so are those without a value.
struct QueryReader {
    private var rest: [(name: String, value: [UInt8])]

    init(_ target: Target) { rest = target.parameters }

    /// Reads every value of the parameter `name`.
    mutating func all(_ name: String) throws(Problem) -> [[UInt8]] {
        let values = rest.filter { $0.name == name }.map(\.value)
        rest.removeAll { $0.name == name }
        guard !values.contains([]) else { throw Self.invalid(name, "`\(name)` has no value") }
        return values
    }

    /// Reads the value of the parameter `name`, which may come once.
    mutating func one(_ name: String) throws(Problem) -> [UInt8]? {
        let values = try all(name)
        guard values.count <= 1 else { throw Self.invalid(name, "`\(name)` may come once") }
        return values.first
    }

    /// Reads a whole number in `range`.
    mutating func number(_ name: String, in range: ClosedRange<Int64>, default fallback: Int64) throws(Problem) -> Int64
    {
        guard let text = try one(name) else { return fallback }
        guard let value = DecimalText.parse(text), range.contains(value) else {
            throw Self.invalid(name, "`\(name)` is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Reads a number of items: 1 to `most`.
    mutating func count(_ name: String, upTo most: Int, default fallback: Int) throws(Problem) -> Int {
        Int(try number(name, in: 1...Int64(most), default: Int64(fallback)))
    }

    /// Reads `true` or `false`.
    mutating func flag(_ name: String, default fallback: Bool) throws(Problem) -> Bool {
        try flag(name) ?? fallback
    }

    /// Reads `true` or `false`; nil if the parameter is absent.
    mutating func flag(_ name: String) throws(Problem) -> Bool? {
        guard let text = try one(name) else { return nil }
        if text.elementsEqual("true".utf8) { return true }
        if text.elementsEqual("false".utf8) { return false }
        throw Self.invalid(name, "`\(name)` is true or false")
    }

    /// Reads a word, one of `words`.
    mutating func word<Value>(_ name: String, _ words: [(String, Value)]) throws(Problem) -> Value? {
        guard let text = try one(name) else { return nil }
        return try Self.value(of: text[...], among: words, name)
    }

    private static func value<Value>(
        of text: ArraySlice<UInt8>, among words: [(String, Value)], _ name: String
    ) throws(Problem) -> Value {
        let word = String(decoding: text, as: UTF8.self)
        guard let value = words.first(where: { $0.0 == word })?.1 else {
            throw invalid(name, "`\(name)` takes \(words.map { "`\($0.0)`" }.joined(separator: ", "))")
        }
        return value
    }

    /// Reads a list of words, each one of `words`; empty if the parameter is absent.
    mutating func words<Value>(_ name: String, _ words: [(String, Value)]) throws(Problem) -> [Value] {
        guard let text = try one(name) else { return [] }
        var values: [Value] = []
        for part in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            values.append(try Self.value(of: part, among: words, name))
        }
        return values
    }

    /// Reads the labels to match, each `key=value`, into encoded form.
    mutating func labels() throws(Problem) -> [[UInt8]] {
        var labels: [[UInt8]] = []
        for text in try all("label") {
            guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
                throw Self.invalid("label", "`label` is `key=value`, the `=` written as %3D")
            }
            let key = Array(text[..<equals])
            let value = Array(text[(equals + 1)...])
            guard FieldReader.isLabelKey(key), value.count <= APILimits.labelValueBytes else {
                throw Self.invalid("label", "no label can have this key or value")
            }
            var encoded: [UInt8] = []
            Definition.appendLabel(key: key.span, value: value.span, to: &encoded)
            labels.append(encoded)
        }
        guard labels.count <= APILimits.labels else {
            throw Self.invalid("label", "at most 16 labels can be asked for")
        }
        return labels
    }

    /// Reads an instant.
    mutating func instant(_ name: String) throws(Problem) -> Int64? {
        guard let text = try one(name) else { return nil }
        do throws(TextError) { return try RFC3339.parse(text) } catch { throw Self.invalid(name, error.message) }
    }

    /// Reads a duration in milliseconds.
    mutating func duration(
        _ name: String, in range: ClosedRange<Int64>, default fallback: Int64
    ) throws(Problem) -> Int64 {
        guard let text = try one(name) else { return fallback }
        do throws(TextError) {
            let value = try DurationText.parse(text)
            guard range.contains(value) else {
                let (least, most) = (DurationText.text(range.lowerBound), DurationText.text(range.upperBound))
                throw TextError(message: "`\(name)` is from \(least) to \(most)")
            }
            return value
        } catch {
            throw Self.invalid(name, error.message)
        }
    }

    /// Reads an event's id.
    mutating func eventID(_ name: String) throws(Problem) -> EventID? {
        guard let text = try one(name) else { return nil }
        guard let id = EventID(text) else { throw Self.invalid(name, "`\(name)` is an event's id") }
        return id
    }

    /// Refuses the parameters that were not read.
    func finish() throws(Problem) {
        guard let extra = rest.first else { return }
        throw Problem(.unknownField, "there is no parameter `\(extra.name)` here", parameter: extra.name)
    }

    static func invalid(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidRequest, detail, parameter: name)
    }
}

/// The text of whole numbers in ids, versions and query parameters.
enum DecimalText {
    /// The most digits: those of `Int64.max`.
    private static let mostDigits = 19

    /// Reads a decimal number without a sign; nil for anything else, and for more digits than `Int64.max` has. A
    /// number that is larger than that reads as `Int64.max`.
    static func parse(_ text: some Collection<UInt8>) -> Int64? {
        guard !text.isEmpty, text.count <= mostDigits else { return nil }
        var value: Int64 = 0
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            value = overflow || carry ? .max : sum
        }
        return value
    }
}
