import Testing

/// How the sources of pages are written, so that their files can be joined line by line: see `JoinedPage` in TimerAPI.
enum PageRules {
    /// The folder of all that is compiled in.
    static let folder = "Sources/CAssets"
    /// The pages that a program writes, which may be of any length.
    static let written = ["Sources/CAssets/reference/page.html"]

    /// The most characters of a line. An address in the markup can't be broken.
    static func lineLimit(of file: SourceFile) -> Int { file.path.hasSuffix(".html") ? 200 : 120 }

    /// The lines that are too long.
    static func longLines(in file: SourceFile) -> [String] {
        lines(of: file) { $0.count > lineLimit(of: file) }
    }

    /// The lines that can't lose the spaces they begin with, or that begin with a comment before something else.
    static func unjoinableLines(in file: SourceFile) -> [String] {
        lines(of: file) { line in
            if line.contains("\t") || line.count(of: "`") % 2 != 0 { return true }
            let pairs = [("/*", "*/"), ("<!--", "-->"), ("<pre", "</pre>"), ("<textarea", "</textarea>")]
            return pairs.contains { opening, closing in line.contains(opening) && !line.contains(closing) }
                || ["/*", "<!--"].contains { line.trimmed.hasPrefix($0) }
                    && !["*/", "-->"].contains(where: line.trimmed.hasSuffix)
        }
    }

    private static func lines(of file: SourceFile, where isWrong: (String) -> Bool) -> [String] {
        zip(1..., file.lines).filter { isWrong($1) }.map { "\(file.path):\($0.0)" }
    }
}

struct PageTests {
    private static let files = SourceFile.all(below: PageRules.folder, ["html", "css", "js"])
        .filter { !PageRules.written.contains($0.path) }

    @Test func `the pages have their files`() { #expect(Self.files.count > 4) }

    @Test(arguments: files)
    func `a file of the page fits in a reader's head`(file: SourceFile) {
        #expect(file.lineCount <= SizeRules.fileLimit)
        #expect(PageRules.longLines(in: file) == [])
    }

    @Test(arguments: files)
    func `a file of the page can be joined line by line`(file: SourceFile) {
        #expect(PageRules.unjoinableLines(in: file) == [])
    }

    @Test func `every file of the page is compiled in, once`() throws {
        let embedding = try #require(SourceFile.all(below: "Sources/CAssets", ["c"]).first)
        let names = embedding.lines.filter { $0.hasPrefix("#embed \"") }.map { String($0.split(separator: "\"")[1]) }
        let written = ["../../openapi.yaml", "reference/openapi.json", "reference/page.html"]
        let files = Self.files.map { String($0.path.dropFirst("Sources/CAssets/".count)) } + written
        #expect(names.sorted() == files.sorted())
    }

    @Test(arguments: ["\ta", "f(`a", "/* a", "a /* b", "/* a */ b", "<!-- a", "<pre>a"])
    func `a line that can't be joined is found`(line: String) {
        #expect(PageRules.unjoinableLines(in: SourceFile(path: "a.js", text: "b\n  \(line)\n")) == ["a.js:2"])
    }

    @Test(arguments: ["  a", "// a", "  /* a */", "<!-- a -->", "`a` + `b`", ""])
    func `a line that can be joined is none of them`(line: String) {
        #expect(PageRules.unjoinableLines(in: SourceFile(path: "a.js", text: "\(line)\n")) == [])
    }

    @Test func `a long line is found`() {
        let text = String(repeating: "a", count: 121)
        #expect(PageRules.longLines(in: SourceFile(path: "a.css", text: text)) == ["a.css:1"])
        #expect(PageRules.longLines(in: SourceFile(path: "a.html", text: text)) == [])
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }

    fileprivate func count(of character: Character) -> Int { filter { $0 == character }.count }
}
