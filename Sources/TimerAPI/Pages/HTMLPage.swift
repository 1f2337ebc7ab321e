import HTTPServer
import Webhooks
import WireJSON

/// A page with its script and style in one file, which never changes: the dashboard at `/`, the reference at `/docs`.
///
/// The dashboard, a client of the public API, holds no data. It comes without a credential, which a browser can't send
/// with its first request, and asks for one once a request of its own is refused.
struct HTMLPage {
    /// The page.
    private let document: Document
    /// The value of `Content-Security-Policy`, which allows the page's own script and style, its own server, and
    /// nothing else.
    let policy: String
    /// The page's entity tag.
    var tag: String { document.tag }

    /// Hashes the page's script and style, so that no hash can be out of date.
    ///
    /// - Parameters:
    ///   - html: the page.
    ///   - parts: markup that the page loads later, whose scripts and styles the policy allows too. As elements of
    ///     the page they have the same text, so hashes allow them where an address would allow whatever is there.
    init(_ html: [UInt8], parts: [UInt8] = []) {
        let all = html + parts
        document = Document(html, type: "text/html; charset=utf-8")
        policy = [
            "default-src 'none'", "script-src \(Self.hashes(of: "script", in: all))",
            "style-src \(Self.hashes(of: "style", in: all))", "connect-src 'self'", "img-src data:",
            "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    /// Returns the sources that the policy names for each `element` of the page. The elements have no attributes.
    private static func hashes(of element: String, in html: [UInt8]) -> String {
        var sources: [String] = []
        var end = 0
        while let start = position(behind: "<\(element)>", in: html, from: end) {
            let closing = "</\(element)>"
            end = position(behind: closing, in: html, from: start) ?? html.count + closing.utf8.count
            sources.append("'sha256-\(SHA256.base64(of: html[start..<end - closing.utf8.count]))'")
        }
        return sources.isEmpty ? "'none'" : sources.joined(separator: " ")
    }

    /// Returns the end of the first `tag` from `start` on; nil if there is none. The search is written out, since
    /// `firstRange(of:)` takes many times as long, in which a loop serves nobody else.
    private static func position(behind tag: String, in html: [UInt8], from start: Int) -> Int? {
        let tag = Array(tag.utf8)
        var next = start
        while let place = html.span.firstIndex(of: tag[0], from: next) {
            next = place + 1
            if html[place...].starts(with: tag) { return place + tag.count }
        }
        return nil
    }

    /// Fills the response with the page, or with 304 if the client has it.
    func fill(_ exchange: Exchange) {
        exchange.response.add("Content-Security-Policy", policy)
        exchange.response.add("Referrer-Policy", "no-referrer")
        document.fill(exchange)
    }
}

/// Joins a page from markup, style and scripts that lie in files of their own.
///
/// The parts that only a reader of the source needs are left out, line by line: the spaces that a line begins with,
/// and a line that is then empty or begins with `//`, `/*` or `<!--`. Therefore a comment in the source ends on the
/// line it begins on, and no text spans lines; `PageRules` of TidyTests checks both.
enum JoinedPage {
    /// Returns the page.
    ///
    /// - Parameters:
    ///   - page: markup, with the lines `<style></style>` and `<script></script>`.
    ///   - style: the content of the former.
    ///   - script: the content of the latter.
    static func bytes(page: [UInt8], style: [UInt8], script: [UInt8]) -> [UInt8] {
        var joined: [UInt8] = []
        joined.reserveCapacity(page.count + style.count + script.count)
        for line in lines(of: page) {
            if line.elementsEqual("<style></style>\n".utf8) {
                append(lines(of: style), as: "style", to: &joined)
            } else if line.elementsEqual("<script></script>\n".utf8) {
                append(lines(of: script), as: "script", to: &joined)
            } else {
                joined += line
            }
        }
        return joined
    }

    private static func append(_ lines: [ArraySlice<UInt8>], as element: String, to joined: inout [UInt8]) {
        joined += "<\(element)>\n".utf8
        for line in lines { joined += line }
        joined += "</\(element)>\n".utf8
    }

    /// Returns the lines of `source` that are served, each with its newline and without the spaces
    /// that it begins with.
    private static func lines(of source: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var next = 0
        while next < source.count {
            let end = (source.span.firstIndex(of: UInt8(ascii: "\n"), from: next) ?? source.count - 1) + 1
            while next < end, source[next] == UInt8(ascii: " ") { next += 1 }
            let line = source[next..<end]
            next = end
            if line.first != UInt8(ascii: "\n"), !isComment(line) { lines.append(line) }
        }
        return lines
    }

    private static func isComment(_ line: ArraySlice<UInt8>) -> Bool {
        line.starts(with: "//".utf8) || line.starts(with: "/*".utf8) || line.starts(with: "<!--".utf8)
    }
}
