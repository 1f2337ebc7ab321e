import HTTPServer

extension Exchange {
    /// Whether `Accept` names `type`, in lower case, and does not refuse it. A range such as `*/*` names nothing.
    func accepts(_ type: String) -> Bool {
        guard let accept = header("accept")?.text.lowercased() else { return false }
        return accept.split(separator: ",").contains { part in
            let words = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            return words.first == type && !words.dropFirst().contains { ["q=0", "q=0.0"].contains($0) }
        }
    }
}
