import Testing

/// The openings of comments: a comment opens with its subject, named.
enum CommentRules {
    /// A run of comment lines of one kind, as one text.
    struct Block: Equatable {
        /// The number of its first line, from 1.
        let line: Int
        var text: String
    }

    /// Words that name nothing when a comment opens with them.
    static let banned: Set<String> = [
        "What", "Who", "Whose", "Whom", "Those", "That", "Has", "Have", "Had", "Of", "As", "It", "Its", "Where",
        "Which",
        "Lets", "They", "Them", "Their", "He", "She", "So", "Else", "Otherwise",
    ]
    /// Words that turn a sentence around with one of `relative` after them: "By which", "Behind what".
    static let prepositions: Set<String> = [
        "By", "To", "In", "On", "At", "For", "From", "With", "Behind", "After", "Before", "Under", "Over", "Beside",
        "Between", "Within", "Without", "Through", "Among", "Against", "Until", "Into",
    ]
    static let relative: Set<String> = ["which", "whom", "whose", "what"]

    /// Words of comments that the house has better ones for.
    static let words = [
        "anew": "again", "untold": "not shown", "lost from sight": "unreachable",
        "told elsewhere": "shown by another server",
    ]

    /// The comments of a file that are lines of their own.
    static func blocks(of file: SourceFile) -> [Block] {
        var found: [Block] = []
        var before: Substring?
        for (index, line) in file.lines.enumerated() {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("//"), !text.hasPrefix("////") else {
                before = nil
                continue
            }
            let slashes = text.prefix { $0 == "/" }
            let words = text.dropFirst(slashes.count).drop { $0 == " " }
            if before == slashes, let last = found.indices.last {
                found[last].text += found[last].text.isEmpty ? String(words) : " \(words)"
            } else {
                found.append(Block(line: index + 1, text: String(words)))
            }
            before = slashes
        }
        return found
    }

    /// Whether a comment opens with its subject.
    static func opensWell(_ text: String) -> Bool {
        let words = text.split { !$0.isLetter && $0 != "'" }.prefix(2).map(String.init)
        guard let first = words.first else { return true }
        if banned.contains(first) { return false }
        return !(prepositions.contains(first) && words.count > 1 && relative.contains(words[1]))
    }
}

struct CommentTests {
    private static let files = SourceFile.sources + SourceFile.tests

    /// The share that may open otherwise: 2 in 100.
    @Test func `comments open with their subjects`() {
        let blocks = Self.files.flatMap { file in
            CommentRules.blocks(of: file).map { (place: "\(file.path):\($0.line)", text: $0.text) }
        }
        let bad = blocks.filter { !CommentRules.opensWell($0.text) }
        let shown = bad.map { "\($0.place): \($0.text.prefix(60))" }.joined(separator: "\n")
        #expect(bad.count * 50 <= blocks.count, "\(bad.count) of \(blocks.count):\n\(shown)")
    }

    @Test(arguments: CommentRules.words.keys.sorted())
    func `comments use the words of the house`(word: String) {
        let found = Self.files.flatMap { file in
            CommentRules.blocks(of: file).filter { $0.text.containsWord(word) }.map { "\(file.path):\($0.line)" }
        }
        #expect(found == [], "write `\(CommentRules.words[word] ?? "")`")
    }

    @Test(arguments: [
        ("The position of the newest row.", true), ("Whether it holds.", true), ("By how much it grows.", true),
        ("", true),
        ("What is shown.", false), ("It waits.", false), ("By which it is found.", false),
        ("Has the loop look.", false),
    ])
    func `an opening is judged by its first words`(text: String, isGood: Bool) {
        #expect(CommentRules.opensWell(text) == isGood)
    }

    @Test func `a comment is the lines of one kind that follow each other`() {
        let file = SourceFile(
            path: "Sources/A/A.swift", text: "/// One\n/// two.\nlet a = 1  // no\n// Three.\n\n// Four.\n//// none\n")
        let expected = [(1, "One two."), (4, "Three."), (6, "Four.")].map { CommentRules.Block(line: $0, text: $1) }
        #expect(CommentRules.blocks(of: file) == expected)
    }
}
