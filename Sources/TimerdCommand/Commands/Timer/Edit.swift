import Glibc
import Platform

/// A file that a person edits. Only its owner can read it, as a payload may be secret.
struct EditedFile {
    /// The path of the file.
    let path: String
    /// Most bytes of the edited file; the server takes fewer.
    private static let limit = 4 << 20

    /// Makes a file with `text` in it, in $TMPDIR or /tmp.
    init(_ text: [UInt8]) throws(Failure) {
        let suffix = ".json"
        let folder = Environment.current["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(folder)/timerd-XXXXXX\(suffix)".utf8CString)
        let descriptor = unsafe mkstemps(&template, Int32(suffix.utf8.count))
        guard descriptor >= 0 else {
            throw Failure(.other, "can't make a file in \(folder): \(unsafe String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { close(descriptor) }
        guard Console.write(text, to: descriptor) else {
            throw Failure(.other, "can't write \(path): \(unsafe String(cString: strerror(errno)))")
        }
    }

    /// Opens the file in the person's editor and waits until the editor is closed.
    func edit() throws(Failure) {
        // The variable is shell code, as in git: an editor with flags, or a quoted path.
        let quoted = "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        let status = unsafe system("file=\(quoted); eval \"${VISUAL:-${EDITOR:-vi}} \\\"\\$file\\\"\"")
        guard status == 0 else { throw Failure(.other, "the editor failed") }
    }

    /// Reads the file again by its path: an editor may have replaced it.
    func read() throws(Failure) -> [UInt8] {
        guard let bytes = FileBytes.read(path, limit: Self.limit + 1), bytes.count <= Self.limit else {
            throw Failure(.other, "can't read what was edited, or it is over 4 MiB")
        }
        return bytes
    }

    /// Removes the file.
    func remove() { unsafe unlink(path) }
}
