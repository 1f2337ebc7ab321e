import WireJSON

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
