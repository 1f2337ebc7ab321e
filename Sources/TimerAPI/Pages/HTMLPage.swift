import HTTPServer
import Webhooks
import WireJSON

/// A page with its script and style in one file, which never changes: the dashboard at `/`, the reference at `/docs`.
///
/// The dashboard, a client of the public API, holds no data. A browser, which can't send a token with its first
/// request, therefore gets it with the 401 that says that a token is needed, and the page asks for one.
struct HTMLPage {
    /// The page.
    private let document: Document
    /// The value of `Content-Security-Policy`, which allows the page's own script and style, its own server, and
    /// nothing else.
    let policy: String
    /// The page's entity tag.
    var tag: String { document.tag }

    /// Hashes the page's script and style at start, so that no hash can be out of date.
    init(_ html: [UInt8]) {
        document = Document(html, type: "text/html; charset=utf-8")
        policy = [
            "default-src 'none'", "script-src \(Self.hashes(of: "script", in: html))",
            "style-src \(Self.hashes(of: "style", in: html))", "connect-src 'self'", "img-src data:",
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
    /// `firstRange(of:)` took most of the server's start.
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
        addHeaders(exchange)
        document.fill(exchange)
    }

    /// Whether a request without a token comes from a browser that opens the dashboard.
    static func isDashboardWanted(by exchange: Exchange) -> Bool {
        (exchange.method == .get || exchange.method == .head) && exchange.accepts("text/html")
            && exchange.target.prefix(while: { $0 != UInt8(ascii: "?") }).elementsEqual("/".utf8)
    }

    /// Fills the response with a 401 whose content is the page.
    func fillUnauthorized(_ exchange: Exchange) {
        addHeaders(exchange)
        exchange.response.add("Cache-Control", "no-store")
        exchange.response.add("WWW-Authenticate", "Bearer")
        exchange.response.status = 401
        document.fillBody(exchange)
    }

    private func addHeaders(_ exchange: Exchange) {
        exchange.response.add("Content-Security-Policy", policy)
        exchange.response.add("X-Content-Type-Options", "nosniff")
        exchange.response.add("Referrer-Policy", "no-referrer")
    }
}
