import Platform
import Primitives

/// The file that holds PostgreSQL's password.
enum PasswordFile {
    /// The most bytes of the file.
    private static let limit = 4096

    /// Reads the first line, without the white space around it.
    ///
    /// No error shows the file's content.
    static func read(_ path: String) throws(Failure) -> String {
        guard let bytes = FileBytes.read(path, limit: limit + 1) else {
            throw Failure(.unusable, "the password file \(path) can't be read or is no regular file")
        }
        guard bytes.count <= limit else { throw Failure(.unusable, "the password file \(path) is over 4 KiB") }
        let line = VisibleText.trimmed(bytes.prefix { $0 != 0x0a })
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw Failure(.unusable, "the first line of the password file \(path) is no password")
        }
        guard !VisibleText.hasControls(text) else {
            throw Failure(.unusable, "the password in the file \(path) has a control character in it")
        }
        return text
    }
}
