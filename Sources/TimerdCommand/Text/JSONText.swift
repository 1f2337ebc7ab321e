import WireJSON

/// JSON given on the command line: as text, or as the place from which to read it.
enum JSONText {
    /// Most bytes of a file; the server takes fewer.
    static let limit = 1 << 20

    /// Returns JSON without white space between its tokens: `text` itself, that of the file for `@path`, or that
    /// of standard input for `-`. Errors name `flag`.
    static func read(_ text: String, flag: String) throws(Failure) -> [UInt8] {
        guard text == "-" || text.hasPrefix("@") else { return try compact(Array(text.utf8), flag) }
        let path = text == "-" ? text : String(text.dropFirst())
        return try compact(try InputFile(path).readAll(limit: limit), "\(flag) \(text)")
    }

    private static func compact(_ text: [UInt8], _ flag: String) throws(Failure) -> [UInt8] {
        var document = JSONDocument()
        do throws(JSONError) {
            try document.parse(text)
        } catch {
            throw Failure(.usage, "\(flag) is not JSON: \(error.message) at byte \(error.offset)")
        }
        var bytes: [UInt8] = []
        document.appendCompact(document.root, to: &bytes)
        return bytes
    }
}
