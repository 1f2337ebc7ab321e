import CTOML

/// Documents in TOML 1.0, read by toml++.
public enum TOMLDocument {
    /// The most bytes of a line. toml++ bounds how deep values nest, but not the tables that a key with dots
    /// names: it takes them apart by recursion, and a key is on one line.
    static let longestLine = 4 << 10

    /// The entries of the document's own table, by line. Values nested over `CTOML_DEEPEST` deep are left out.
    public static func parse(_ text: [UInt8]) throws(TOMLError) -> [TOMLEntry] {
        var line = 1
        for piece in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard piece.count <= longestLine else { throw TOMLError(line: line, message: "the line is over 4 KiB") }
            line += 1
        }
        let document = unsafe text.withUnsafeBytes { bytes in
            unsafe ctoml_parse(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard let document = unsafe document else { return [] }
        defer { unsafe ctoml_free(document) }
        if let message = unsafe ctoml_error(document) {
            throw unsafe TOMLError(line: Int(ctoml_error_line(document)), message: String(cString: message))
        }
        var reader = unsafe ItemReader(document)
        return reader.entries(depth: 0)
    }
}

/// Puts the flat items of a document together again: each array and table with what it holds.
@safe private struct ItemReader {
    private let document: OpaquePointer
    private let count: Int
    private var place = 0

    init(_ document: OpaquePointer) {
        unsafe self.document = document
        count = unsafe ctoml_count(document)
    }

    /// The next item if it lies at `depth`, else nil.
    private mutating func next(_ depth: Int) -> ctoml_item? {
        guard place < count else { return nil }
        let item = unsafe ctoml_item_at(document, place)
        guard unsafe Int(item.depth) == depth else { return nil }
        place += 1
        return unsafe item
    }

    /// The entries of a table, in the order of the text, which the library does not keep.
    mutating func entries(depth: Int) -> [TOMLEntry] {
        var entries: [(entry: TOMLEntry, column: Int)] = []
        while let item = unsafe next(depth) {
            let key = unsafe Self.string(item.key, item.key_length)
            let value = unsafe value(of: item, depth: depth)
            entries.append((TOMLEntry(key: key, line: unsafe Int(item.line), value: value), unsafe Int(item.column)))
        }
        return entries.sorted { ($0.entry.line, $0.column) < ($1.entry.line, $1.column) }.map(\.entry)
    }

    private mutating func elements(depth: Int) -> [TOMLValue.Element] {
        var elements: [TOMLValue.Element] = []
        while let item = unsafe next(depth) {
            let value = unsafe value(of: item, depth: depth)
            elements.append(TOMLValue.Element(value: value, line: unsafe Int(item.line)))
        }
        return elements
    }

    private mutating func value(of item: ctoml_item, depth: Int) -> TOMLValue {
        switch unsafe item.kind {
        case CTOML_STRING: .string(unsafe Self.string(item.text, item.text_length))
        case CTOML_INTEGER: .integer(unsafe item.integer)
        case CTOML_FLOAT: .float(unsafe item.number)
        case CTOML_BOOLEAN: .boolean(unsafe item.integer != 0)
        case CTOML_ARRAY: .array(elements(depth: depth + 1))
        case CTOML_TABLE: .table(entries(depth: depth + 1))
        default: .time(unsafe Self.string(item.text, item.text_length))
        }
    }

    private static func string(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        unsafe UnsafeBufferPointer(start: start, count: count).withMemoryRebound(to: UInt8.self) { bytes in
            unsafe String(decoding: bytes, as: UTF8.self)
        }
    }
}

/// An entry of a table.
public struct TOMLEntry: Sendable, Equatable {
    /// The key.
    public var key: String
    /// The line that the key is on, from 1.
    public var line: Int
    /// The value.
    public var value: TOMLValue
}

/// A value.
public enum TOMLValue: Sendable, Equatable {
    /// A string.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction or an exponent, `inf` or `nan`.
    case float(Double)
    /// `true` or `false`.
    case boolean(Bool)
    /// A date, a time, or both, as RFC 3339 spells them; an offset only where the document has one.
    case time(String)
    /// An array with its elements.
    case array([Element])
    /// A table, whichever way it is written, with its entries by line.
    case table([TOMLEntry])

    /// An element of an array.
    public struct Element: Sendable, Equatable {
        /// The element.
        public var value: TOMLValue
        /// The line it is on, from 1.
        public var line: Int
    }
}

/// Why a text is not TOML.
public struct TOMLError: Error, Sendable, Equatable {
    /// The line, from 1.
    public var line: Int
    /// The fault on that line.
    public var message: String
}
