import Testing

/// Words that may stand only where somebody gave a reason.
enum WordRules {
    /// Marks of unfinished work; they stand nowhere.
    static let unfinished = ["TO" + "DO", "FIX" + "ME", "X" + "XX"]

    /// Where each word may stand in `Sources`, and why.
    static let reasons: [String: [String: String]] = [
        "unsafe": [
            "Sources/HTTPClient/EasyHandle.swift": "the one face of libcurl's easy interface",
            "Sources/HTTPServer/Sockets/DetachedSocket.swift": "writes to and peeks at sockets of its own",
            "Sources/HTTPServer/Exchange/ExchangeProgress.swift": "takes bodies over from libmicrohttpd",
            "Sources/HTTPServer/Exchange/HTTPMethod.swift": "reads the library's text of the method",
            "Sources/HTTPServer/Server/HTTPServer.swift": "asks the kernel for its limits",
            "Sources/HTTPServer/Exchange/HeaderValue.swift": "compares with static strings where they lie",
            "Sources/HTTPServer/Library/LibraryConnection.swift": "the one face of a libmicrohttpd connection",
            "Sources/HTTPServer/Library/LibraryDaemon.swift": "the one face of a libmicrohttpd daemon, with its callbacks",
            "Sources/HTTPServer/Server/ListeningSocket.swift": "binds sockets",
            "Sources/HTTPServer/Exchange/ReplyBuffer.swift": "a reply must not move while the library writes it",
            "Sources/HTTPServer/Exchange/RequestHeaders.swift": "copies header lines out of the library's memory",
            "Sources/HTTPServer/Exchange/Response.swift": "keeps texts as the C library takes them",
            "Sources/HTTPServer/Exchange/ResponseHead.swift": "copies static strings",
            "Sources/HTTPServer/Server/SocketAddress.swift": "the kernel's address structures stay in there",
            "Sources/Platform/CRC32C.swift": "hands bytes to the C function that knows the instruction",
            "Sources/Platform/Clocks.swift": "the kernel fills in a timespec",
            "Sources/Platform/FileBytes.swift": "the kernel reads into an array",
            "Sources/Platform/KernelRandom.swift": "the kernel fills an array",
            "Sources/Platform/Lock.swift": "POSIX wants a mutex at an address that never changes",
            "Sources/Platform/LocalAddress.swift": "binds a socket to an address, to see whether it is the machine's",
            "Sources/Platform/NameLookup.swift": "walks the C library's list of addresses",
            "Sources/Platform/Polling.swift": "the kernel fills in counters and arrays of events",
            "Sources/Platform/ProcessUsage.swift": "walks a directory by the C library",
            "Sources/Platform/Thread.swift": "a thread gets its start through a C pointer",
            "Sources/TOML/TOMLDocument.swift": "toml++ hands out pointers into its document",
            "Sources/TimerAPI/Server/APIContext.swift": "takes over the files that C compiled in",
            "Sources/TimerCore/Definition/Blob.swift": "a definition costs four bytes beside its own, not an array's 32",
            "Sources/TimerCore/Definition/ByteCoding.swift": "loads and stores eight bytes at a time",
            "Sources/TimerCore/Definition/Definition.swift": "appends a span to an array in one copy",
            "Sources/TimerCore/Storage/PagedStorage.swift": "elements never move, growth never copies",
            "Sources/TimerCore/Storage/SipHash.swift": "loads eight bytes at a time",
            "Sources/TimerLog/SQLite/DataDirectory.swift": "makes and syncs directories",
            "Sources/TimerLog/SQLite/DirectoryLock.swift": "writes the process id into the lock file",
            "Sources/TimerLog/SQLite/LogBackup.swift": "lists and renames files",
            "Sources/TimerLog/Format/RecordCodec.swift": "appends a span to an array in one copy",
            "Sources/TimerLog/SQLite/SQLiteConnection.swift": "the one face of an SQLite connection",
            "Sources/TimerLog/SQLite/SQLiteStatement.swift": "the one face of an SQLite statement",
            "Sources/TimerService/Engine/Turn.swift": "appends a span to an array in one copy",
            "Sources/Webhooks/Courier/AnswerHead.swift": "compares with static strings where they lie",
            "Sources/Webhooks/Courier/ExchangeHandle.swift": "a handle of libcurl's easy interface, with its callbacks",
            "Sources/Webhooks/Signing/HMAC.swift": "hands bytes to libcrypto",
            "Sources/Webhooks/Addresses/HostPort.swift": "asks libcurl's reader of URLs",
            "Sources/Webhooks/Courier/HeaderLines.swift": "libcurl's list of lines, in memory that serves every request",
            "Sources/Webhooks/Courier/MultiHandle.swift": "the one face of libcurl's multi interface",
            "Sources/Webhooks/Signing/SHA256.swift": "hands bytes to libcrypto",
            "Sources/WireJSON/Bytes/ByteBuffer.swift": "small pieces are appended to memory that nobody shares",
            "Sources/WireJSON/Bytes/Bytes.swift": "reads bytes whose bounds were checked once",
            "Sources/timerd/Text/Console.swift": "writes to standard output",
            "Sources/timerd/Settings/Environment.swift": "reads the environment",
            "Sources/timerd/Serve/Signals.swift": "waits for signals",
        ],
        "@unchecked Sendable": [
            "Sources/HTTPServer/Exchange/ByteBudget.swift": "its holdings are guarded by a lock",
            "Sources/HTTPServer/Sockets/EvictionMail.swift": "its messages are guarded by a lock",
            "Sources/HTTPServer/Server/HTTPServer.swift": "its state is guarded by a lock",
            "Sources/HTTPServer/Loop/HandOver.swift": "its state is guarded by a lock",
            "Sources/HTTPServer/Loop/LoopCore.swift": "confined to its thread but for the wake-up",
            "Sources/HTTPServer/Sockets/SocketQuota.swift": "its counts are guarded by a lock",
            "Sources/Platform/Lock.swift": "two pointers that never change, to objects made for sharing",
            "Sources/Platform/Published.swift": "its value is guarded by a lock",
            "Sources/TimerAPI/Server/APIContext.swift": "its lists are guarded by a lock",
            "Sources/TimerAPI/Server/HTTPMetrics.swift": "its counts are guarded by a lock",
            "Sources/TimerAPI/Server/LoopInbox.swift": "its messages are guarded by a lock",
            "Sources/TimerService/Engine/MeteredLock.swift": "its meter is guarded by the lock itself",
            "Sources/TimerLog/SQLite/Checkpointer.swift": "its state is guarded by a lock",
            "Sources/TimerLog/Store/MemoryLogStore.swift": "its rows are guarded by a lock",
            "Sources/TimerLog/Recovery/ReadAhead.swift": "its queue is guarded by a lock",
            "Sources/TimerLog/SQLite/SQLiteLogReader.swift": "its slots are guarded by a lock",
            "Sources/TimerLog/SQLite/SQLiteLogStore.swift": "one thread writes, readers have connections of their own",
            "Sources/TimerService/Commit/Committer.swift": "guarded by the engine's lock",
            "Sources/TimerService/Upkeep/Compactor.swift": "confined to its thread but for a guarded flag",
            "Sources/TimerService/Firing/DispatchAlarm.swift": "guarded by its lock",
            "Sources/TimerService/Deliveries/Dispatcher.swift": "confined to its thread but for what a lock guards",
            "Sources/TimerService/Engine/Engine.swift": "guarded by its lock",
            "Sources/TimerService/Events/EventHub.swift": "its rows are guarded by a lock",
            "Sources/TimerService/Service/LoopWatchdog.swift": "its hearts are guarded by a lock",
            "Sources/TimerService/Events/Replayer.swift": "its jobs are guarded by a lock",
            "Sources/TimerService/Firing/SystemZones.swift": "the zones it found are guarded by a lock",
            "Sources/TimerService/Service/TimerService.swift": "its threads are touched by start and stop alone",
            "Sources/Webhooks/Courier/Courier.swift": "its thread is guarded by a lock",
            "Sources/Webhooks/Courier/CourierLoop.swift": "confined to its thread but for the wake-up",
            "Sources/Webhooks/Courier/CourierMail.swift": "its requests are guarded by a lock",
            "Sources/Webhooks/Courier/MultiHandle.swift": "confined to its thread but for the wake-up",
            "Sources/Webhooks/Addresses/Resolver.swift": "its queues are guarded by a lock",
            "Sources/timerd/Serve/OperatorLog.swift": "its state is guarded by a lock",
            "Sources/timerd/Serve/Signals.swift": "its state is guarded by a lock",
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
        #expect(WordRules.outdated("@unchecked Sendable", in: [file]).contains("Sources/Platform/Lock.swift"))
    }
}
