import CTOML

/// Documents in TOML 1.0, read by toml++.
public enum TOMLDocument {
    /// Most bytes of a line. toml++ bounds how deep values nest, but not the tables that a key with dots names: it takes them
    /// apart by recursion, and a key is on one line.
    static let longestLine = 4 << 10

    /// The entries of the document's own table, by line.
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
        var entries: [TOMLEntry] = []
        let count = unsafe ctoml_count(document)
        for place in 0..<count {
            let item = unsafe ctoml_item_at(document, place)
            let value = unsafe value(of: item)
            if unsafe item.key != nil {
                let key = unsafe string(item.key, item.key_length)
                entries.append(TOMLEntry(key: key, line: unsafe Int(item.line), value: value))
            } else if case .array(var elements) = entries.last?.value {
                elements.append(TOMLValue.Element(value: value, line: unsafe Int(item.line)))
                entries[entries.count - 1].value = .array(elements)
            }
        }
        return entries.sorted { $0.line < $1.line }
    }

    private static func value(of item: ctoml_item) -> TOMLValue {
        switch unsafe item.kind {
        case CTOML_STRING: .string(unsafe string(item.text, item.text_length))
        case CTOML_INTEGER: .integer(unsafe item.integer)
        case CTOML_FLOAT: .float
        case CTOML_BOOLEAN: .boolean(unsafe item.integer != 0)
        case CTOML_ARRAY: .array([])
        case CTOML_TABLE: .table
        default: .time
        }
    }

    private static func string(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        unsafe UnsafeBufferPointer(start: start, count: count).withMemoryRebound(to: UInt8.self) { bytes in
            unsafe String(decoding: bytes, as: UTF8.self)
        }
    }
}
