import Platform

/// The file of bearer tokens.
enum TokenFile {
    /// Most bytes of it.
    static let limit = 1 << 20

    /// Reads the tokens, one a line; blank lines are skipped, white space around a token is no part of it.
    static func read(_ path: String) throws(Failure) -> [[UInt8]] {
        guard let bytes = FileBytes.read(path, limit: limit + 1) else {
            throw Failure(.unusable, "the token file \(path) can't be read")
        }
        guard bytes.count <= limit else { throw Failure(.unusable, "the token file \(path) is over 1 MiB") }
        var tokens: [[UInt8]] = []
        for (index, line) in bytes.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated() {
            let text = line.drop(while: isBlank)
            guard let last = text.lastIndex(where: { !isBlank($0) }) else { continue }
            let token = text[...last]
            // What can't stand in a header could never be presented.
            guard token.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
                throw Failure(.unusable, "the token file \(path), line \(index + 1): a token is visible ASCII")
            }
            tokens.append(Array(token))
        }
        guard !tokens.isEmpty else { throw Failure(.unusable, "the token file \(path) has no token") }
        return tokens
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0d }
}
