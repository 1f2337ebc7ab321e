import Foundation
import Testing

/// The places of files: folders stay small enough to look through, and a test is where its subject is.
enum PlaceRules {
    /// The most Swift files of one folder below `Sources`.
    static let folderLimit = 20

    /// The folder of a test module for what its tests share.
    static let support = "Support"

    /// The folders that hold too many Swift files.
    static func fullFolders(_ files: [SourceFile]) -> [String] {
        Dictionary(grouping: files, by: \.folder).filter { $0.value.count > folderLimit }
            .map { "\($0.key): \($0.value.count) files" }.sorted()
    }

    /// The rooms of each module: its folders below the one that bears its name. Modules without are left out.
    static func rooms(_ files: [SourceFile]) -> [String: Set<String>] {
        let inRooms = files.filter { $0.room != nil }
        return Dictionary(grouping: inRooms, by: \.module).mapValues { Set($0.compactMap(\.room)) }
    }

    /// The tests that do not lie in a folder named as a room of the module they test, where that has rooms.
    static func misplaced(_ tests: [SourceFile], rooms: [String: Set<String>]) -> [String] {
        tests.filter { file in
            guard file.module.hasSuffix("Tests"), let rooms = rooms[String(file.module.dropLast("Tests".count))] else {
                return false
            }
            return !(file.room.map { rooms.contains($0) || $0 == support } ?? false)
        }
        .map(\.path)
    }

    /// The names of files that two test modules have, with the modules.
    ///
    /// A file is named after the type in it, so this finds helpers that were copied from one module to another, and
    /// suites that a filter of `swift test` can't tell apart.
    static func sharedNames(_ tests: [SourceFile]) -> [String] {
        var modules: [Substring: Set<String>] = [:]
        for file in tests { modules[file.path.split(separator: "/").last ?? "", default: []].insert(file.module) }
        let shared = modules.filter { $0.value.count > 1 }
        return shared.map { name, modules in "\(name): \(modules.sorted().joined(separator: ", "))" }.sorted()
    }

    /// The symbolic links below `folder`.
    static func links(below folder: URL) -> [String] {
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isSymbolicLinkKey])
        return (found?.compactMap { $0 as? URL } ?? [])
            .filter { (try? $0.resourceValues(forKeys: [.isSymbolicLinkKey]).isSymbolicLink) == true }
            .map(\.lastPathComponent).sorted()
    }
}

extension SourceFile {
    /// Path of the folder that holds the file.
    fileprivate var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

    /// The folder below the module's that holds the file; nil when it lies in the module's own.
    fileprivate var room: String? {
        let parts = path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : nil
    }
}

struct PlaceTests {
    private static func files(_ paths: String...) -> [SourceFile] { paths.map { SourceFile(path: $0, text: "") } }

    @Test func `a folder of sources can be looked through`() {
        #expect(PlaceRules.fullFolders(SourceFile.sources) == [])
    }

    @Test func `tests lie in the rooms of what they test`() {
        #expect(PlaceRules.misplaced(SourceFile.tests, rooms: PlaceRules.rooms(SourceFile.sources)) == [])
    }

    @Test func `no two test modules have a file of the same name`() {
        #expect(PlaceRules.sharedNames(SourceFile.tests) == [])
    }

    @Test func `tests share by a module, not by links`() {
        #expect(PlaceRules.links(below: SourceFile.root.appending(path: "Tests")) == [])
    }

    @Test(arguments: [20: [], 21: ["Sources/A/B: 21 files"]])
    func `a folder with one file too many is found`(count: Int, found: [String]) {
        let files = (0..<count).map { SourceFile(path: "Sources/A/B/\($0).swift", text: "") }
        #expect(PlaceRules.fullFolders(files + Self.files("Sources/A/0.swift", "Sources/A/C/0.swift")) == found)
    }

    @Test func `a test outside of its room is found`() {
        let sources = Self.files("Sources/A/Room/C.swift", "Sources/A/D.swift", "Sources/B/E.swift")
        let tests = Self.files(
            "Tests/ATests/Room/CTests.swift", "Tests/ATests/Support/Bench.swift", "Tests/BTests/ETests.swift",
            "Tests/SimulationTests/Histories/F.swift", "Tests/ATests/DTests.swift", "Tests/ATests/Hall/CTests.swift")
        let found = PlaceRules.misplaced(tests, rooms: PlaceRules.rooms(sources))
        #expect(found == ["Tests/ATests/DTests.swift", "Tests/ATests/Hall/CTests.swift"])
    }

    @Test func `a file that two test modules have is found`() {
        let tests = Self.files("Tests/A/X.swift", "Tests/B/Support/X.swift", "Tests/A/Y.swift", "Tests/B/Z.swift")
        #expect(PlaceRules.sharedNames(tests) == ["X.swift: A, B"])
    }

    @Test func `a link is found`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidy-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data().write(to: folder.appending(path: "A.swift"))
        let link = folder.appending(path: "B.swift")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.appending(path: "A.swift"))
        #expect(PlaceRules.links(below: folder) == ["B.swift"])
    }
}
