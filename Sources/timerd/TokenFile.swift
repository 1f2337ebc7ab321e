/// The file of bearer tokens.
enum TokenFile {
    /// Reads the tokens, one a line; blank lines are skipped, white space around a token is no part of it.
    static func read(_ path: String) throws(Failure) -> [[UInt8]] {
        var tokens: [[UInt8]] = []
        for line in try LineFile.read(path, called: "token file") {
            // What can't stand in a header could never be presented.
            guard line.text.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
                throw Failure(.unusable, "the token file \(path), line \(line.number): a token is visible ASCII")
            }
            tokens.append(line.text)
        }
        guard !tokens.isEmpty else { throw Failure(.unusable, "the token file \(path) has no token") }
        return tokens
    }
}
