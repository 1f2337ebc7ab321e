import HTTPClient

/// An answer that refuses, as one line.
enum ProblemText {
    /// `409 illegal-transition: tea is idle … (legal now: activate)`; what is no problem+json as far as it is text.
    static func line(_ response: HTTPResponse) -> String {
        guard let problem = JSONObject(response.body), problem["type"] != nil else {
            let text = String(decoding: response.body.prefix(200), as: UTF8.self)
            let first = text.split(separator: "\n").first.map { ": \($0)" } ?? ""
            return "\(response.status)\(Printable.text(first))"
        }
        return line(problem, status: response.status)
    }

    /// The same of a problem, such as that of a batch's line.
    static func line(_ problem: JSONObject, status: Int) -> String {
        let slug = (problem["type"] ?? "problem").split(separator: "/").last ?? "problem"
        var line = "\(status) \(slug)"
        if let detail = problem["detail"] ?? problem["title"] { line += ": \(detail)" }
        if let place = problem["pointer"] ?? problem["parameter"], !place.isEmpty { line += " (at \(place))" }
        if status == 404 || slug == "timer-exists", let timer = problem["timer"] { line += ": \(timer)" }
        let allowed = problem.strings("allowed")
        if !allowed.isEmpty { line += " (legal now: \(allowed.joined(separator: ", ")))" }
        if status == 401 { line += "; --token, --token-file, TIMERD_TOKEN or TIMERD_TOKEN_FILE gives a token" }
        return Printable.text(line)
    }
}
