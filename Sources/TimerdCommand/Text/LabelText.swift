import WireJSON

/// Labels given on the command line.
enum LabelText {
    /// Writes the member `labels`, an object with the labels that are each given as `key=value`.
    static func write(_ labels: [String], to writer: inout JSONWriter) throws(Failure) {
        writer.key("labels")
        writer.beginObject()
        for text in labels {
            guard let equals = text.firstIndex(of: "=") else {
                throw Failure(.usage, "--label \(text): expected key=value")
            }
            writer.key(bytes: Array(text[..<equals].utf8))
            writer.string(String(text[text.index(after: equals)...]))
        }
        writer.endObject()
    }
}
