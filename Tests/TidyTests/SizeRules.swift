import Testing

/// The largest sizes of files and functions.
enum SizeRules {
    /// The most lines of a file.
    static let fileLimit = 400
    /// The most lines of a function, from its first to its closing brace.
    static let functionLimit = 70

    /// The functions and initialisers of `file` that are too long.
    static func longFunctions(in file: SourceFile) -> [String] {
        file.code.indices.compactMap { start in
            guard ["func", "init", "deinit"].contains(where: file.code[start].containsWord),
                let end = closingLine(of: start, in: file.code), end - start + 1 > functionLimit
            else { return nil }
            return "\(file.path):\(start + 1): \(end - start + 1) lines"
        }
    }

    /// The last line of the function that is declared on line `start`; nil where it has no body of several lines.
    ///
    /// The formatter puts a closing brace right below the declaration, so indentation finds it.
    private static func closingLine(of start: Int, in code: [String]) -> Int? {
        let indent = String(code[start].prefix { $0 == " " })
        var opening = start
        while !code[opening].hasSuffix("{") {
            opening += 1
            guard opening < code.count,
                ["    ", ")", "where", "{"].contains(where: { code[opening].hasPrefix(indent + $0) })
            else { return nil }
        }
        return code[opening...].dropFirst().firstIndex { $0.hasPrefix(indent + "}") }
    }
}

struct SizeTests {
    @Test(arguments: SourceFile.sources + SourceFile.tests)
    func `a file fits in a reader's head`(file: SourceFile) {
        #expect(file.lineCount <= SizeRules.fileLimit)
    }

    @Test(arguments: SourceFile.sources)
    func `a function fits a screen`(file: SourceFile) {
        #expect(SizeRules.longFunctions(in: file) == [])
    }

    @Test(arguments: [70: [], 71: ["A.swift:2: 71 lines"]])
    func `a function one line too long is found`(length: Int, found: [String]) {
        let body = Array(repeating: "        work()", count: length - 2)
        let text = ["struct A {", "    func f() {"] + body + ["    }", "}"]
        #expect(SizeRules.longFunctions(in: SourceFile(path: "A.swift", text: text.joined(separator: "\n"))) == found)
    }

    @Test func `a function without a body has no length`() {
        let text =
            "protocol A {\n    func f()\n    func g()\n" + String(repeating: "    var a: Int { get }\n", count: 80)
            + "}"
        #expect(SizeRules.longFunctions(in: SourceFile(path: "A.swift", text: text)) == [])
    }

    @Test func `a declaration over several lines counts from its first`() {
        let body = String(repeating: "    work()\n", count: 67)
        let file = SourceFile(path: "A.swift", text: "func f(\n    a: Int\n) {\n\(body)}\n")
        #expect(SizeRules.longFunctions(in: file) == ["A.swift:1: 71 lines"])
    }
}
