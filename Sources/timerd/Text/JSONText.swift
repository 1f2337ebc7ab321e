import WireJSON

/// JSON given on the command line.
enum JSONText {
    /// `text` without white space between its tokens; what is wrong with it names `flag`.
    static func compact(_ text: String, flag: String) throws(Failure) -> [UInt8] {
        var document = JSONDocument()
        do throws(JSONError) {
            try document.parse(Array(text.utf8))
        } catch {
            throw Failure(.usage, "\(flag) is not JSON: \(error.message) at byte \(error.offset)")
        }
        var bytes: [UInt8] = []
        document.appendCompact(document.root, to: &bytes)
        return bytes
    }
}
