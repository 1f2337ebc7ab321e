import TimerCore

extension KeySecret {
    /// Returns `text` with each word that begins as the secret of a key cut after that beginning.
    ///
    /// A client may send a secret by mistake where anything may stand: in a target, or as the id of its request.
    static func masked(in text: String) -> String {
        var shown = ""
        var rest = text[...]
        while let found = rest.firstRange(of: prefix) {
            shown += rest[..<found.upperBound]
            let after = rest[found.upperBound...]
            rest = after.drop { $0.isLetter || $0.isNumber || $0 == "_" }
            if rest.count < after.count { shown += "***" }
        }
        return shown + rest
    }
}
