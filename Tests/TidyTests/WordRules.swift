import Testing

/// Words that may stand only where somebody gave a reason.
enum WordRules {
    /// Marks of unfinished work; they stand nowhere.
    static let unfinished = ["TO" + "DO", "FIX" + "ME", "X" + "XX"]

    /// Where each word may stand in `Sources`, and why.
    static let reasons: [String: [String: String]] = [
        "unsafe": [
            "Sources/Platform/CRC32C.swift": "hands bytes to the C function that knows the instruction",
            "Sources/Platform/Clocks.swift": "the kernel fills in a timespec",
            "Sources/Platform/FileBytes.swift": "the kernel reads into an array",
            "Sources/Platform/Lock.swift": "POSIX wants a mutex at an address that never changes",
            "Sources/Platform/Polling.swift": "the kernel fills in counters and arrays of events",
            "Sources/Platform/Thread.swift": "a thread gets its start through a C pointer",
        ],
        "@unchecked Sendable": [
            "Sources/Platform/Lock.swift": "two pointers that never change, to objects made for sharing"
        ],
        "nonisolated(unsafe)": [:],
        "try!": [:],
        "as!": [:],
        "fatalError": [:],
    ]

    /// The files that use `word` although nobody said why.
    static func unexplained(_ word: String, in files: [SourceFile]) -> [String] {
        files.filter { $0.uses(word) && reasons[word]?[$0.path] == nil }.map(\.path)
    }

    /// The files that were excused for `word` and do not use it (any more).
    static func outdated(_ word: String, in files: [SourceFile]) -> [String] {
        let users = Set(files.filter { $0.uses(word) }.map(\.path))
        return (reasons[word] ?? [:]).keys.filter { !users.contains($0) }.sorted()
    }
}

struct WordTests {
    @Test(arguments: WordRules.reasons.keys.sorted())
    func `a dangerous word has its reason`(word: String) {
        #expect(WordRules.unexplained(word, in: SourceFile.sources) == [])
    }

    @Test(arguments: WordRules.reasons.keys.sorted())
    func `a reason has its word`(word: String) {
        #expect(WordRules.outdated(word, in: SourceFile.sources) == [])
    }

    @Test(arguments: SourceFile.sources + SourceFile.tests)
    func `no work is left for later`(file: SourceFile) {
        let found = file.lines.filter { line in WordRules.unfinished.contains(where: line.containsWord) }
        #expect(found == [])
    }

    @Test func `a dangerous word without a reason is found`() {
        let file = SourceFile(path: "Sources/TimerCore/A.swift", text: "final class A: @unchecked Sendable {}\n")
        #expect(WordRules.unexplained("@unchecked Sendable", in: [file]) == ["Sources/TimerCore/A.swift"])
        #expect(WordRules.unexplained("unsafe", in: [file]) == [])
        #expect(WordRules.outdated("@unchecked Sendable", in: [file]) == ["Sources/Platform/Lock.swift"])
    }
}
