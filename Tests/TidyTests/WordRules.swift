import Testing

/// Words that may be used only with a reason given here.
enum WordRules {
    /// Marks of unfinished work, which no file may have.
    static let unfinished = ["TO" + "DO", "FIX" + "ME", "X" + "XX"]

    /// The files of `Sources` that may use each word, and the reasons, by module and file.
    static let reasons: [String: [String: String]] = [
        "unsafe": [
            "Curl/CurlCode.swift": "reads libcurl's texts",
            "Curl/EasyHandle.swift": "the one face of libcurl's easy interface, with its callbacks",
            "Curl/HeaderLines.swift": "libcurl's list of lines, in memory that serves every request",
            "Curl/HostPort.swift": "asks libcurl's parser of URLs",
            "Curl/MultiHandle.swift": "the one face of libcurl's multi interface",
            "PeerHTTP/HTTP2Session.swift": "the one face of libnghttp2",
            "HTTPServer/DetachedSocket.swift": "writes to and peeks at sockets of its own",
            "HTTPServer/Exchange+Progress.swift": "takes bodies over from libmicrohttpd",
            "HTTPServer/HTTPServer.swift": "asks the kernel for its limits",
            "HTTPServer/RequestHeaders.swift": "compares with static strings where they lie",
            "PeerHTTP/LinkSocket.swift": "reads from and writes to a socket of its own",
            "HTTPServer/LibraryConnection.swift": "the one face of a libmicrohttpd connection and its head",
            "HTTPServer/LibraryDaemon.swift": "the one face of a libmicrohttpd daemon, with its callbacks",
            "HTTPServer/ListeningSocket.swift": "binds sockets, and asks the kernel what a descriptor is",
            "HTTPServer/SocketAccess.swift": "asks the system for the number of a group",
            "HTTPServer/Response.swift": "keeps texts as the C library takes them, and a reply that must not move",
            "HTTPServer/ResponseHead.swift": "copies static strings",
            "HTTPServer/SecureConnection.swift": "peeks at a socket, and makes a pair of them",
            "HTTPServer/SecureConnection+Bytes.swift": "carries bytes between sockets and TLS",
            "HTTPServer/SecureSockets.swift": "memory that all connections of a loop use in turn",
            "HTTPServer/SocketTransport.swift": "sends to a socket, or to the TLS over it",
            "HTTPServer/SocketAddress.swift": "the kernel's address structures stay in there",
            "Platform/Accepting.swift": "the kernel fills in an address",
            "Platform/AppendedFile.swift": "opens, polls and writes a file",
            "Platform/CRC32C.swift": "hands bytes to the C function that knows the instruction",
            "Platform/Clocks.swift": "the kernel fills in a timespec",
            "Platform/Epoll.swift": "the kernel fills in an array of events, and counters",
            "Platform/FileBytes.swift": "the kernel reads into an array, and writes from one",
            "Platform/FileIdentity.swift": "the kernel fills in a file's identity",
            "Platform/KernelRandom.swift": "the kernel fills an array",
            "Platform/Lock.swift": "POSIX wants a mutex at an address that never changes",
            "Platform/NameLookup.swift": "walks the C library's list of addresses, and binds a socket to one",
            "Platform/NotifySocket.swift": "sends datagrams to an address",
            "Platform/ProcessUsage.swift": "walks a directory by the C library",
            "Platform/Thread.swift": "a thread gets its start through a C pointer",
            "PostgresLog/PostgresAddress.swift": "asks libpq's parser of addresses",
            "PostgresLog/PostgresConnection.swift": "the one face of a libpq connection; makes lists of texts for C",
            "PostgresLog/PostgresLogReader.swift": "decompresses rows where libpq holds them",
            "PostgresLog/PostgresResult.swift": "the one face of a libpq result",
            "PostgresLog/RowCompression.swift": "hands bytes to libzstd",
            "Primitives/Array+Copying.swift": "appends a span to an array in one copy",
            "TOML/TOMLDocument.swift": "toml++ hands out pointers into its document",
            "TLS/TLSContext.swift": "the one face of an OpenSSL context",
            "TLS/TLSFault.swift": "reads OpenSSL's words where they lie",
            "TLS/TLSSession.swift": "the one face of an OpenSSL session",
            "TLS/TLSTickets.swift": "the one face of the keys that OpenSSL asks for",
            "TimerAPI/Document.swift": "takes over the files that C compiled in",
            "TimerCore/Blob.swift": "definitions lie side by side, apart from what requests allocate",
            "TimerCore/ByteCoding.swift": "loads and stores eight bytes at a time",
            "TimerCore/PagedStorage.swift": "growth never copies more than a page",
            "TimerCore/SipHash.swift": "loads eight bytes at a time",
            "TimerLog/DataDirectory.swift": "makes and syncs directories, and writes the process id into the lock file",
            "TimerLog/LogBackup.swift": "lists and renames files",
            "TimerLog/SQLiteConnection.swift": "the one face of SQLite: connections, statements and result codes",
            "TimerLog/WALIndex.swift": "opens the index of the WAL by its path",
            "Webhooks/AnswerHead.swift": "compares with static strings where they lie",
            "Webhooks/HMAC.swift": "hands bytes to libcrypto",
            "Webhooks/SHA256.swift": "hands bytes to libcrypto",
            "WireJSON/ByteBuffer.swift": "small pieces are appended to memory that nobody shares",
            "WireJSON/Bytes.swift": "reads bytes whose bounds were checked once",
            "TimerdCommand/Console.swift": "writes to standard output",
            "TimerdCommand/Edit.swift": "makes a file and runs an editor on it",
            "TimerdCommand/Environment.swift": "reads the environment",
            "TimerdCommand/Export.swift": "renames a file",
            "TimerdCommand/InputFile.swift": "reads files and standard input",
            "TimerdCommand/Signals.swift": "waits for signals",
            "TimerdCommand/Terminal.swift": "asks the terminal for its size",
        ],
        "@unchecked Sendable": [
            "Curl/MultiHandle.swift": "confined to its thread but for the wake-up",
            "HTTPServer/LoopHandler.swift": "a handler is not touched by the thread that has left it",
            "HTTPServer/LoopCore.swift": "confined to its thread but for the wake-up",
            "Platform/Guarded.swift": "its lock guards a state that may itself go from thread to thread",
            "Platform/Lock.swift": "two pointers that never change, to objects made for sharing",
            "PostgresLog/LogAppender.swift": "one thread at a time appends, under its lock",
            "PostgresLog/PostgresLink.swift": "one thread at a time uses its connection, under its lock",
            "PostgresLog/RowCompression.swift": "a context of libzstd may be used by one thread after another",
            "TLS/TLSContext.swift": "OpenSSL counts and locks what sessions share",
            "TLS/TLSTickets.swift": "the C functions lock the keys themselves",
            "TimerService/MeteredLock.swift": "its meter is guarded by the lock itself",
            "TimerLog/SQLiteLogReader.swift": "a slot's connection may be used by one thread after another",
            "TimerLog/SQLiteLogStore.swift": "one thread writes, readers have connections of their own",
            "TimerService/Committer.swift": "its steps are taken by one thread at a time, under its lock",
            "TimerService/Alarm.swift": "Dispatch does not say that a source takes calls from any thread",
            "TimerService/Dispatcher.swift": "confined to its thread but for what a lock guards",
            "TimerService/Engine.swift": "guarded by its lock",
            "TimerService/ActiveLog.swift": "what the committer does for it, one thread at a time does",
            "TimerService/Standby.swift": "its fold belongs to one thread at a time, as a lock says",
            "TimerService/Replayer.swift": "its queues of jobs do not say that they may go from thread to thread",
            "Webhooks/CourierLoop.swift": "confined to its thread but for the wake-up",
        ],
        "nonisolated(unsafe)": [:],
        "try!": [:],
        "as!": [:],
        "fatalError": [:],
    ]

    /// The files that use `word` without a reason given.
    static func unexplained(_ word: String, in files: [SourceFile]) -> [String] {
        files.filter { $0.uses(word) && reasons[word]?[$0.name] == nil }.map(\.path)
    }

    /// The files that were excused for `word` and do not use it (any more).
    static func outdated(_ word: String, in files: [SourceFile]) -> [String] {
        let users = Set(files.filter { $0.uses(word) }.map(\.name))
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
        #expect(WordRules.outdated("@unchecked Sendable", in: [file]).contains("Platform/Lock.swift"))
    }
}
