import Testing

/// The imports that modules may have. A module never imports one above it.
enum ImportRules {
    /// The modules that each folder of `Sources` may import, the standard library aside.
    static let allowed: [String: Set<String>] = [
        "Primitives": [],
        "TimerCore": ["Primitives"],
        "WireJSON": ["Primitives"],
        "TOML": ["CTOML"],
        "Platform": ["CLinux", "Glibc", "Synchronization"],
        "TLS": ["CTLS"],
        "HTTPServer": ["TLS", "Platform", "Primitives", "CMicroHTTPD", "Glibc", "Synchronization"],
        "PeerHTTP": ["HTTPServer", "Platform", "Primitives", "CNghttp2", "Glibc"],
        "Curl": ["Platform", "CCurl", "Glibc"],
        "HTTPClient": ["Curl", "Platform", "Primitives", "Glibc"],
        "Webhooks": [
            "Curl", "TimerCore", "WireJSON", "Platform", "Primitives", "CCrypto", "Glibc", "Synchronization",
        ],
        "TimerLog": ["TimerCore", "Platform", "Primitives", "CSQLite", "Glibc", "Synchronization"],
        "TimerCluster": ["TimerLog", "TimerCore", "Platform", "Synchronization"],
        "PostgresLog": ["TimerLog", "TimerCore", "Platform", "CPQ", "CZstd", "Glibc", "Synchronization"],
        "TimerService": ["TimerLog", "TimerCore", "Webhooks", "Platform", "Primitives", "Dispatch", "Synchronization"],
        "TimerAPI": [
            "TimerService", "TimerLog", "Webhooks", "HTTPServer", "TLS", "WireJSON", "TimerCore", "Platform",
            "Primitives", "Synchronization", "CAssets",
        ],
        "TimerForwarding": ["TimerAPI", "PeerHTTP", "HTTPServer", "Platform", "Primitives"],
        "timerd": ["TimerdCommand"],
        "TimerdCommand": [
            "TimerForwarding", "TimerAPI", "TimerCluster", "PostgresLog", "TimerService", "TimerLog", "Webhooks",
            "PeerHTTP", "HTTPServer", "HTTPClient", "TLS", "WireJSON", "TimerCore", "Platform", "Primitives", "TOML",
            "ArgumentParser", "Logging", "FoundationEssentials", "Glibc", "Dispatch", "Synchronization",
        ],
    ]

    /// The seams by which modules about a single server know of others, and the files that may name them.
    static let seams: [String: Set<String>] = [
        "LoopGuest": ["HTTPServer/LoopGuest.swift", "HTTPServer/LoopCore.swift"],
        "LoopGuests": [
            "HTTPServer/LoopGuest.swift", "HTTPServer/ServerConfiguration.swift", "TimerAPI/APIConfiguration.swift",
        ],
        "AnswerChannel": [
            "HTTPServer/AnswerChannel.swift", "HTTPServer/Exchange.swift", "HTTPServer/Exchange+Peer.swift",
        ],
        "isFromPeer": [
            "HTTPServer/Exchange.swift", "HTTPServer/Answer.swift", "HTTPServer/LoopCore.swift", "TimerAPI/Gate.swift",
            "TimerAPI/APIContext.swift", "TimerAPI/RecoveringHandler.swift", "TimerAPI/RequestDesk.swift",
            "TimerAPI/StreamRest.swift", "TimerAPI/Renderer.swift", "TimerAPI/AuditRecord.swift",
        ],
        "RequestDesk": ["TimerAPI/RequestDesk.swift", "TimerAPI/TimerHandler.swift"],
        "RequestDesks": ["TimerAPI/RequestDesk.swift", "TimerAPI/APIContext.swift", "TimerAPI/APIServer.swift"],
        "peerTokens": ["TimerAPI/APIConfiguration.swift", "TimerAPI/APIContext.swift", "TimerAPI/Gate.swift"],
    ]
    /// The modules that are about other servers, and what puts everything together.
    static let modulesOfPeers: Set<String> = ["PeerHTTP", "TimerForwarding", "TimerdCommand"]

    /// The seams that `file` names although it is none of their files.
    static func seamsTouched(by file: SourceFile) -> [String] {
        if modulesOfPeers.contains(file.module) { return [] }
        return seams.keys.sorted().filter { file.uses($0) && !(seams[$0]?.contains(file.name) ?? false) }
    }

    /// Words by which a program reads its environment.
    static let environmentReaders = ["getenv", "secure_getenv", "environ", "ProcessInfo"]

    /// The state that the engine's lock guards, and the rooms of `TimerService` that may touch it: all others get one
    /// value and return one.
    static let engineState = ["lock", "scheduler", "batch", "clock", "idempotency", "counters", "subscriptions"]
    static let engineRooms: Set<String> = ["Engine", "Turn"]

    /// The parts of the engine's state that `file` uses although it lies in another room.
    static func reachesForEngine(_ file: SourceFile) -> [String] {
        let room = file.path.split(separator: "/").dropFirst(2).first.map(String.init) ?? ""
        if file.module == "TimerService" && engineRooms.contains(room) { return [] }
        return engineState.map { "engine.\($0)" }.filter(file.uses)
    }

    /// The imports of `file` that its module may not have.
    static func violations(in file: SourceFile) -> [String] {
        guard let allowed = allowed[file.module] else { return ["\(file.path): no rule for \(file.module)"] }
        return file.code.compactMap(importedModule).filter { !allowed.contains($0) }.map {
            "\(file.path): \(file.module) may not import \($0)"
        }
    }

    /// The module that a line imports, if it is an import.
    static func importedModule(_ line: String) -> String? {
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"), words[..<place].allSatisfy(isImportModifier) else {
            return nil
        }
        let kinds = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
        let name = words[(place + 1)...].first { !kinds.contains(String($0)) }
        return name?.split(whereSeparator: { $0 == "." || $0 == ";" }).first.map(String.init)
    }

    private static func isImportModifier(_ word: Substring) -> Bool {
        word.hasPrefix("@") || ["public", "package", "internal", "fileprivate", "private"].contains(word)
    }
}

struct ImportTests {
    @Test(arguments: SourceFile.sources)
    func `a module imports only what lies below it`(file: SourceFile) {
        #expect(ImportRules.violations(in: file) == [])
    }

    @Test(arguments: SourceFile.sources.filter { $0.module != "TimerdCommand" })
    func `only the program reads the environment`(file: SourceFile) {
        #expect(ImportRules.environmentReaders.filter(file.uses) == [])
    }

    @Test(arguments: SourceFile.sources)
    func `nobody reaches behind the engine's lock`(file: SourceFile) {
        #expect(ImportRules.reachesForEngine(file) == [])
    }

    @Test func `who reaches behind the engine's lock is found`() {
        let text = "let count = engine.scheduler.count + engine.schedulers\n"
        let outside = SourceFile(path: "Sources/TimerService/Commit/A.swift", text: text)
        #expect(ImportRules.reachesForEngine(outside) == ["engine.scheduler"])
        let inside = SourceFile(path: "Sources/TimerService/Engine/A.swift", text: text)
        #expect(ImportRules.reachesForEngine(inside) == [])
    }

    @Test(arguments: SourceFile.sources)
    func `a single server knows of others by the seams alone`(file: SourceFile) {
        #expect(ImportRules.seamsTouched(by: file) == [])
    }

    @Test func `a file beside the seams that knows of other servers is found`() {
        let file = SourceFile(path: "Sources/TimerAPI/Server/A.swift", text: "let a = exchange.isFromPeer\n")
        #expect(ImportRules.seamsTouched(by: file) == ["isFromPeer"])
    }

    @Test func `every module has sources and a rule`() {
        #expect(Set(SourceFile.sources.map(\.module)) == Set(ImportRules.allowed.keys))
    }

    @Test(arguments: [
        "CLinux": "Platform", "CSQLite": "TimerLog", "CMicroHTTPD": "HTTPServer", "CCrypto": "Webhooks",
        "CTOML": "TOML", "CCurl": "Curl", "CNghttp2": "PeerHTTP", "CTLS": "TLS",
    ])
    func `a C module has its Swift face and no other`(module: String, face: String) {
        #expect(ImportRules.allowed.filter { $0.value.contains(module) }.map(\.key) == [face])
    }

    @Test(arguments: [
        ("import Glibc", "Glibc"), ("public import TimerCore", "TimerCore"), ("@testable import A", "A"),
        ("import struct Foundation.Date", "Foundation"), ("@preconcurrency internal import B", "B"),
    ])
    func `an import is recognised in all its spellings`(line: String, module: String) {
        #expect(ImportRules.importedModule(line) == module)
    }

    @Test func `an import that points up is found`() {
        let file = SourceFile(path: "Sources/TimerCore/A.swift", text: "import Glibc\n\nlet important = 1\n")
        #expect(ImportRules.violations(in: file) == ["Sources/TimerCore/A.swift: TimerCore may not import Glibc"])
    }
}
