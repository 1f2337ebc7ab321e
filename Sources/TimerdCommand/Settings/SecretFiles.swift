import Platform
import Primitives
import TimerCore
import Webhooks

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

/// The file of bearer tokens.
enum TokenFile {
    /// The fewest bytes of a token: a shorter one could be guessed.
    static let shortest = 16
    /// Most tokens: that of a request is compared with each.
    private static let mostTokens = 1024

    /// Reads the tokens, one a line; white space around a token is no part of it.
    ///
    /// No error shows the file's content.
    ///
    /// - Parameter refusesKeys: whether a token that begins as a key's secret is refused: a server would look for it among
    ///   its keys. A client may have either in its file.
    static func read(_ path: String, refusesKeys: Bool = false) throws(Failure) -> [[UInt8]] {
        var tokens: [[UInt8]] = []
        for line in try LineFile.read(path, called: "token file") {
            func refusal(_ reason: String) -> Failure {
                Failure(.unusable, "the token file \(path), line \(line.number): \(reason)")
            }
            // A token with any other byte could not be sent in a header.
            guard line.text.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { throw refusal("a token is visible ASCII") }
            guard line.text.count >= shortest else { throw refusal("a token has at least \(shortest) bytes") }
            guard !refusesKeys || !line.text.starts(with: KeySecret.prefix.utf8) else {
                throw refusal("a token that begins with \(KeySecret.prefix) would be taken for the secret of a key")
            }
            guard tokens.count < mostTokens else { throw refusal("more than \(mostTokens) tokens") }
            tokens.append(line.text)
        }
        guard !tokens.isEmpty else { throw Failure(.unusable, "the token file \(path) has no token") }
        return tokens
    }
}

/// The file of secrets that sign deliveries.
enum SecretFile {
    /// Reads the secrets, one a line as `whsec_…`.
    ///
    /// No error shows the file's content.
    static func read(_ path: String) throws(Failure) -> [WebhookSecret] {
        var secrets: [WebhookSecret] = []
        for line in try LineFile.read(path, called: "webhook secret file") {
            func refusal(_ reason: String) -> Failure {
                Failure(.unusable, "the webhook secret file \(path), line \(line.number): \(reason)")
            }
            guard secrets.count < WebhookConfiguration.maximumSecrets else {
                throw refusal("more than \(WebhookConfiguration.maximumSecrets) secrets")
            }
            do throws(WebhookError) {
                secrets.append(try WebhookSecret(String(decoding: line.text, as: UTF8.self)))
            } catch {
                throw refusal(error.message)
            }
        }
        guard !secrets.isEmpty else { throw Failure(.unusable, "the webhook secret file \(path) has no secret") }
        return secrets
    }
}

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
