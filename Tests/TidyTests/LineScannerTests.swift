import Testing

struct LineScannerTests {
    @Test(arguments: [
        ("let a = 1  // unsafe", "let a = 1"),
        ("/// unsafe", ""),
        ("let a = \"unsafe \\\" // unsafe\" + b", "let a = \"\" + b"),
        ("let a = 1 /* unsafe */ + 2", "let a = 1  + 2"),
        ("@Test func `an unsafe name`() {", "@Test func ``() {"),
        ("unsafe call()", "unsafe call()"),
    ])
    func `comments and texts are no code`(line: String, code: String) {
        var scanner = LineScanner()
        #expect(scanner.code(of: line) == code)
    }

    @Test func `a comment and a text go on over lines`() {
        let text = """
            a /* b
            /* c */ d
            */ e \"\"\"
            f \\\"\"\" g
            \"\"\" h
            """
        #expect(SourceFile(path: "", text: text).code == ["a", "", " e", "", " h"])
    }

    @Test func `a word is not found inside another`() {
        #expect("unsafe call()".containsWord("unsafe"))
        #expect(!"unsafeCall() + notunsafe".containsWord("unsafe"))
        #expect("try! f()".containsWord("try!"))
    }
}
