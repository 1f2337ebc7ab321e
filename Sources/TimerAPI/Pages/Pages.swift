import WireJSON

/// Pages about problems, for people, and about the server's health, for probes.
enum Pages {
    /// Returns the answer of `/healthz`: healthy if every loop makes progress; `stalled` names the
    /// loops that do not.
    static func health(stalled: [String]) -> Outcome {
        return .object(status: stalled.isEmpty ? 200 : 503) { json in
            json.member("status", text: stalled.isEmpty ? "ok" : "stalled")
            if !stalled.isEmpty {
                json.beginArray("stalled")
                for name in stalled { json.string(name) }
                json.endArray()
            }
        }
    }

    /// Returns the answer of `/readyz`: traffic is wanted only if `status` is `ready`; `owner` is the URL of the node
    /// where it is wanted, if that is another one.
    static func readiness(_ status: String, owner: String? = nil) -> Outcome {
        return .object(status: status == "ready" ? 200 : 503) { json in
            json.member("status", text: status)
            if let owner { json.member("owner", text: owner) }
        }
    }

    private static func html(_ title: String, _ body: String) -> [UInt8] {
        let style =
            "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}"
            + "code,pre{background:#8882;padding:.1em .3em;border-radius:.2em}td,th{padding:.2em .8em;text-align:left}"
        return Array(
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <link rel="icon" href="data:,"><title>\(title)</title><style>\(style)</style></head><body>
            \(body)
            </body></html>

            """.utf8)
    }

    /// Returns the page of a kind of problem. The page's link is relative, so that it also leads to the reference
    /// below a proxy's prefix.
    static func problem(_ kind: ProblemKind) -> [UInt8] {
        html(
            "\(kind.rawValue) · timerd",
            "<h1>\(kind.title)</h1><p><code>\(kind.rawValue)</code>, status \(kind.status)</p><p>"
                + kind.advice.replacing("`", opening: "<code>", closing: "</code>")
                + "</p><p><a href=\"../docs#problem-\(kind.rawValue)\">The API's reference</a></p>")
    }
}

extension String {
    /// Returns the text with `mark` replaced by `opening` and `closing` in turn.
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
