import HTTPClient

/// An answer that refuses, as one line.
enum ProblemText {
    /// Returns one line, such as `409 illegal-transition: tea is idle … (legal now: activate)`. Of an answer that
    /// is no problem+json, that is the status and the first line of its text.
    static func line(_ response: HTTPResponse) -> String {
        guard let problem = JSONObject(response.body), problem["type"] != nil else {
            let text = String(decoding: response.body.prefix(200), as: UTF8.self)
            let first = text.split(separator: "\n").first.map { ": \($0)" } ?? ""
            return "\(response.status)\(Printable.text(first))"
        }
        return line(problem, status: response.status)
    }

    /// Returns the line of a problem that is a part of an answer, such as that of a batch's line.
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
