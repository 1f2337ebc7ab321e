import Foundation
import Testing

/// A file as the rules see it: by lines, with and without its comments and texts.
struct SourceFile: Sendable {
    /// Path from the package's root, such as `Sources/TimerCore/Timer/TimerMachine.swift`.
    let path: String
    /// The lines as written.
    let lines: [String]
    /// The lines without comments, without the contents of string literals and raw identifiers, and without blanks at
    /// their ends.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var scanner = LineScanner()
        code = lines.map { scanner.code(of: $0) }
    }

    /// The folder below `Sources` or `Tests`.
    var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    /// Module and file, whatever the folder in between: `TimerCore/TimerMachine.swift`. The compiler wants file names
    /// of a module to differ.
    var name: String { "\(module)/\(path.split(separator: "/").last ?? "")" }

    /// The number of lines; a newline at the end of the file makes no line.
    var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

    /// Whether a line of code holds `word` between characters that can't be part of a name.
    func uses(_ word: String) -> Bool {
        code.contains { $0.containsWord(word) }
    }
}

extension SourceFile {
    /// Every Swift file below `Sources`.
    static let sources = all(below: "Sources")
    /// Every Swift file below `Tests`.
    static let tests = all(below: "Tests")

    /// The folder that holds `Package.swift`.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The files below `folder` with one of `extensions`.
    static func all(below folder: String, _ extensions: [String] = ["swift"]) -> [SourceFile] {
        let start = root.appending(path: folder, directoryHint: .isDirectory)
        let found = FileManager.default.enumerator(at: start, includingPropertiesForKeys: nil)
        let urls = (found?.compactMap { $0 as? URL } ?? []).filter { extensions.contains($0.pathExtension) }
        return urls.compactMap { url in
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
            return SourceFile(path: String(url.path.dropFirst(root.path.count).drop { $0 == "/" }), text: text)
        }
        .sorted { $0.path < $1.path }
    }
}

extension SourceFile: CustomTestStringConvertible {
    var testDescription: String { path }
}

extension String {
    /// Whether the text holds `word` between characters that can't be part of a name.
    func containsWord(_ word: String) -> Bool {
        var rest = self[...]
        while let found = rest.range(of: word) {
            let before = self[..<found.lowerBound].last
            let after = self[found.upperBound...].first
            if !(before?.isPartOfName ?? false) && !(after?.isPartOfName ?? false) { return true }
            rest = self[found.upperBound...]
        }
        return false
    }
}

extension Character {
    fileprivate var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}
