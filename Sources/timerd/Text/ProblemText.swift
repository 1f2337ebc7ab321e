import HTTPClient

/// An answer that refuses, as one line.
enum ProblemText {
    /// `409 illegal-transition: tea is idle … (legal now: activate)`; what is no problem+json as far as it is text.
    static func line(_ response: HTTPResponse) -> String {
        guard let problem = JSONObject(response.body), let type = problem["type"] else {
            let text = String(decoding: response.body.prefix(200), as: UTF8.self)
            let first = text.split(separator: "\n").first.map { ": \($0)" } ?? ""
            return "\(response.status)\(Printable.text(first))"
        }
        var line = "\(response.status) \(type.split(separator: "/").last ?? "problem")"
        if let detail = problem["detail"] ?? problem["title"] { line += ": \(detail)" }
        if let place = problem["pointer"] ?? problem["parameter"], !place.isEmpty { line += " (at \(place))" }
        let allowed = problem.strings("allowed")
        if !allowed.isEmpty { line += " (legal now: \(allowed.joined(separator: ", ")))" }
        return Printable.text(line)
    }
}
