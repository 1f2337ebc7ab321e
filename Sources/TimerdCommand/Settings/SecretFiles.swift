/// The file of bearer tokens.
enum TokenFile {
    /// The fewest bytes of a token: a shorter one could be guessed.
    private static let shortest = 16
    /// Most tokens: that of a request is compared with each.
    private static let mostTokens = 1024

    /// Reads the tokens, one a line; white space around a token is no part of it.
    ///
    /// No error shows the file's content.
    static func read(_ path: String) throws(Failure) -> [[UInt8]] {
        var tokens: [[UInt8]] = []
        for line in try LineFile.read(path, called: "token file") {
            func refusal(_ reason: String) -> Failure {
                Failure(.unusable, "the token file \(path), line \(line.number): \(reason)")
            }
            // A token with any other byte could not be sent in a header.
            guard line.text.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { throw refusal("a token is visible ASCII") }
            guard line.text.count >= shortest else { throw refusal("a token has at least \(shortest) bytes") }
            guard tokens.count < mostTokens else { throw refusal("more than \(mostTokens) tokens") }
            tokens.append(line.text)
        }
        guard !tokens.isEmpty else { throw Failure(.unusable, "the token file \(path) has no token") }
        return tokens
    }
}
