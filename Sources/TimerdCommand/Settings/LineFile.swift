import Platform
import Primitives

/// A short file with one item on a line.
enum LineFile {
    /// The most bytes of a file.
    static let limit = 1 << 20

    /// A line that is neither blank nor a comment.
    struct Line {
        /// The line's number in the file, from 1.
        let number: Int
        /// The line without the white space around it.
        let text: [UInt8]
    }

    /// Reads the lines that are neither blank nor a comment, which starts with `#`.
    ///
    /// - Parameter name: the kind of file, as errors call it.
    static func read(_ path: String, called name: String) throws(Failure) -> [Line] {
        guard let bytes = FileBytes.read(path, limit: limit + 1) else {
            throw Failure(.unusable, "the \(name) \(path) can't be read or is no regular file")
        }
        guard bytes.count <= limit else { throw Failure(.unusable, "the \(name) \(path) is over 1 MiB") }
        var lines: [Line] = []
        for (index, line) in bytes.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated() {
            let text = VisibleText.trimmed(line)
            guard let first = text.first, first != UInt8(ascii: "#") else { continue }
            lines.append(Line(number: index + 1, text: text))
        }
        return lines
    }
}
