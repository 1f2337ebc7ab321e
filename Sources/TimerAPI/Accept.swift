import HTTPServer

extension Exchange {
    /// Whether `Accept` names `type`, in lower case, and does not refuse it. A range such as `*/*` names nothing.
    func accepts(_ type: String) -> Bool {
        guard let accept = header("accept")?.text.lowercased() else { return false }
        return accept.split(separator: ",").contains { part in
            let words = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            return words.first == type && !words.dropFirst().contains(where: Self.refuses)
        }
    }

    /// Whether a parameter is a weight of zero, with up to three decimals (RFC 9110, 12.4.2).
    private static func refuses(_ parameter: String) -> Bool {
        parameter.hasPrefix("q=0") && parameter.dropFirst(3).allSatisfy { $0 == "." || $0 == "0" }
    }
}
