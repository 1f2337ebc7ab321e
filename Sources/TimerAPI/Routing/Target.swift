import Primitives
import WireJSON

/// A request's path and query, split and percent-decoded.
struct Target {
    /// The path's components.
    private(set) var parts = PathParts()
    /// The query's parameters in their order, decoded.
    private(set) var parameters: [(name: String, value: [UInt8])] = []

    /// The reason for which a target can't be read.
    struct Malformed: Error {
        var detail: String
        /// The name of the query parameter whose value it is; nil for another part.
        var parameter: String?
    }

    /// Makes a target with no path and no query.
    init() {}

    /// Reads an origin-form target. A trailing slash or an empty component names nothing.
    init(_ target: [UInt8]) throws(Malformed) { try read(target) }

    /// Reads a target in place of the present one, whose memory is reused. A target that can't be read leaves no path
    /// and no query.
    mutating func read(_ target: [UInt8]) throws(Malformed) {
        clear()
        do throws(Malformed) {
            let question = target.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
            try readPath(target[..<question])
            if question < target.endIndex { try readQuery(target[(question + 1)...]) }
        } catch {
            clear()
            throw error
        }
    }

    private mutating func clear() {
        parts.removeAll()
        parameters.removeAll()
    }

    private mutating func readPath(_ path: ArraySlice<UInt8>) throws(Malformed) {
        guard path.first == UInt8(ascii: "/"), path.count > 1 else { return }
        var start = 1
        for index in 1...path.endIndex where index == path.endIndex || path[index] == UInt8(ascii: "/") {
            parts.append(try Self.decode(path[start..<index], plusIsSpace: false))
            start = index + 1
        }
    }

    private mutating func readQuery(_ query: ArraySlice<UInt8>) throws(Malformed) {
        for pair in query.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = String(decoding: try Self.decode(pair[..<equals], plusIsSpace: true), as: UTF8.self)
            do throws(Malformed) {
                let value = try equals < pair.endIndex ? Self.decode(pair[(equals + 1)...], plusIsSpace: true) : []
                parameters.append((name, Array(value)))
            } catch {
                throw Malformed(detail: error.detail, parameter: name)
            }
        }
    }

    private static func decode(_ text: ArraySlice<UInt8>, plusIsSpace: Bool) throws(Malformed) -> ArraySlice<UInt8> {
        // A target is visible ASCII: with nothing to decode there is nothing to check.
        if !text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < text.endIndex, let high = Hexadecimal.value(text[index + 1]),
                    let low = Hexadecimal.value(text[index + 2])
                else {
                    throw Malformed(detail: "a `%` in the URL is not followed by two hexadecimal digits")
                }
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        guard !bytes.contains(0) else { throw Malformed(detail: "the URL holds a NUL") }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw Malformed(detail: "the URL is not UTF-8 once decoded")
        }
        return bytes[...]
    }
}

extension Target {
    /// Returns `text` with every byte percent-encoded that is not visible ASCII.
    static func visible(_ text: some Sequence<UInt8>) -> String {
        Hexadecimal.percentEncoded(text) { $0 > 0x20 && $0 < 0x7F }
    }

    /// Returns `text` as a name or a value of a query: every byte that may have a meaning there is percent-encoded.
    static func queryPart(_ text: some Sequence<UInt8>) -> String {
        Hexadecimal.percentEncoded(text) { Alphanumeric.contains($0) || "-._~:/,".utf8.contains($0) }
    }
}

/// The decoded components of a path, in one array of bytes.
struct PathParts: RandomAccessCollection, Equatable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    var startIndex: Int { 0 }
    var endIndex: Int { ends.count }

    subscript(index: Int) -> ArraySlice<UInt8> { bytes[range(index)] }

    /// Whether the component at `index` is `word`.
    func has(_ word: StaticString, at index: Int) -> Bool {
        bytes.span.equals(word, in: range(index))
    }

    mutating func append(_ part: ArraySlice<UInt8>) {
        bytes.append(contentsOf: part)
        ends.append(bytes.count)
    }

    /// Removes all components. The memory is kept, unless it is more than any route needs.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 1024)
        ends.removeAll(keepingCapacity: ends.capacity <= 64)
    }

    private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }
}
