import HTTPServer
import TimerCore
import WireJSON

/// Pages for people: problems and the front page.
enum Pages {
    private static func html(_ title: String, _ body: String) -> [UInt8] {
        let style =
            "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}"
            + "code,pre{background:#8882;padding:.1em .3em;border-radius:.2em}td,th{padding:.2em .8em;text-align:left}"
        return Array(
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(title)</title><style>\(style)</style></head><body>
            \(body)
            </body></html>

            """.utf8)
    }

    /// The page of a kind of problem.
    static func problem(_ kind: ProblemKind) -> [UInt8] {
        html(
            "\(kind.rawValue) · timerd",
            "<h1>\(kind.title)</h1><p><code>\(kind.rawValue)</code>, status \(kind.status)</p><p>"
                + kind.advice.replacing("`", opening: "<code>", closing: "</code>")
                + "</p><p><a href=\"/openapi.yaml\">The API in OpenAPI</a></p>")
    }

    /// The front page: how many timers there are, and where to go on.
    static func dashboard(version: String, counts: [(TimerState, Int)]) -> [UInt8] {
        let rows = counts.map { "<tr><td>\($0.0.name)</td><td>\($0.1)</td></tr>" }.joined()
        return html(
            "timerd",
            "<h1>timerd \(version)</h1><table><tr><th>state</th><th>timers</th></tr>\(rows)</table>"
                + "<ul><li><a href=\"/v1/timers\">timers</a></li><li><a href=\"/v1/stats\">stats</a></li>"
                + "<li><a href=\"/metrics\">metrics</a></li><li><a href=\"/openapi.yaml\">API</a></li></ul>"
                + "<pre>curl --json '{\"after\": \"10s\"}' http://127.0.0.1:8080/v1/timers</pre>")
    }
}

extension String {
    /// The text with `mark` replaced by `opening` and `closing` in turn.
    fileprivate func replacing(_ mark: Character, opening: String, closing: String) -> String {
        var result = ""
        var isOpen = false
        for character in self {
            guard character == mark else {
                result.append(character)
                continue
            }
            result += isOpen ? closing : opening
            isOpen.toggle()
        }
        return result
    }
}
