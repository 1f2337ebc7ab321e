import ArgumentParser
import Foundation
import HTTPClient

/// `timerd export`.
struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write every timer as it is into a file, for another server.",
        discussion: """
            With --drain the server is drained first and stays so: its timers go on where they are imported. Without, the \
            export is a copy. Secrets of webhooks are in it, so the file is for its owner alone; --mask-secrets leaves them \
            out. The file gets its name once it is whole; a connection that breaks is tried anew.

              timerd export --drain timers.ndjson
              timerd export --drain - | timerd import --server http://new:8080 -
            """)

    @OptionGroup var client: ClientOptions
    @Flag(help: "Drain the server first.") var drain = false
    @Flag(help: "Leave the secrets of webhooks out.") var maskSecrets = false
    @Argument(help: ArgumentHelp("The file; - for standard output", valueName: "file"), completion: .file())
    var file: String = "-"

    func run() throws {
        let service = try client.client()
        if drain { _ = try ServerDrain(service).begin() }
        var target = RequestTarget("v1", "export")
        if !maskSecrets { target.add("secrets", "true") }
        let lines: Int
        if file == "-" {
            lines = try ExportReader(service, target.text).run { Console.out(bytes: $0) }
            try Console.checkOutput()
        } else {
            lines = try write(service, target.text)
        }
        guard client.json || file != "-" else { return }
        Console.error("timerd: \(lines) lines exported\(file == "-" ? "" : " to \(file)")")
    }

    /// Writes the export to a partial file, which gets its name once it is whole. Makes up to
    /// `ExportReader.attempts` attempts.
    private func write(_ service: ServiceClient, _ target: String) throws(Failure) -> Int {
        var left = ExportReader.attempts
        while true {
            left -= 1
            let output = try ExportFile(file)
            do throws(Failure) {
                let lines = try ExportReader(service, target).run { output.write($0) }
                try output.finish()
                return lines
            } catch {
                output.discard()
                guard error.isTransient, left > 0 else { throw error }
                Console.error("timerd: \(error.line); once more")
            }
        }
    }
}

/// Reads an export and checks that it is whole.
struct ExportReader {
    /// The most attempts to write an export to a file.
    static let attempts = 5
    /// Seconds without a byte after which the export is aborted.
    private static let silenceSeconds = 60
    /// The bytes kept of the end of an export, enough for its last line.
    private static let tailBytes = 256

    private let service: ServiceClient
    private let target: String

    init(_ service: ServiceClient, _ target: String) {
        self.service = service
        self.target = target
    }

    /// Reads the export and passes its bytes to `take`, which returns whether they were taken.
    ///
    /// - Returns: the number of lines.
    func run(_ take: @escaping ([UInt8]) -> Bool) throws(Failure) -> Int {
        let state = State()
        let response: HTTPResponse
        do throws(HTTPClientError) {
            response = try service.stream(
                HTTPRequest(.get, target), silenceSeconds: Self.silenceSeconds, onHead: { _ in true },
                onBytes: { state.take($0) && take($0) })
        } catch {
            state.progress.end()
            throw Failure(error)
        }
        state.progress.end()
        guard response.status == 200 else { throw Failure(response) }
        guard let last = JSONObject(state.lastLine), last["end"] == "true", last["lines"] == "\(state.lines - 1)" else {
            var failure = Failure(.other, "the export ended before its last line")
            failure.isTransient = true
            throw failure
        }
        return state.lines
    }

    /// The part of an export that has been read: the number of its lines, and its end.
    private final class State {
        var lines = 0
        var tail: [UInt8] = []
        var progress = Progress()

        func take(_ bytes: [UInt8]) -> Bool {
            lines += bytes.count { $0 == 0x0a }
            tail = Array((tail + bytes.suffix(ExportReader.tailBytes)).suffix(ExportReader.tailBytes))
            let lines = lines
            progress.show("\(lines) lines")
            return true
        }

        /// The last line, or the end of one that is longer than `tailBytes`.
        var lastLine: [UInt8] {
            tail.split(separator: 0x0a, omittingEmptySubsequences: true).last.map { Array($0) } ?? []
        }
    }
}

/// The file of an export, which only its owner can read: it is written under another name until it is whole.
final class ExportFile {
    private let path: String
    private let partial: String
    private let handle: FileHandle
    private var failure: Failure?

    init(_ path: String) throws(Failure) {
        self.path = path
        partial = path + ".partial"
        _ = FileManager.default.createFile(atPath: partial, contents: nil, attributes: [.posixPermissions: 0o600])
        guard let handle = FileHandle(forWritingAtPath: partial) else {
            throw Failure(.usage, "can't write \(partial)")
        }
        self.handle = handle
    }

    /// Writes bytes. Returns whether they were written; where not, `finish` throws the reason.
    func write(_ bytes: [UInt8]) -> Bool {
        do {
            try handle.write(contentsOf: Data(bytes))
            return true
        } catch {
            failure = Failure(.other, "can't write \(partial): \(error.localizedDescription)")
            return false
        }
    }

    /// Syncs the whole file to disk and gives it its name.
    func finish() throws(Failure) {
        if let failure { throw failure }
        do {
            try handle.synchronize()
            try handle.close()
        } catch {
            throw Failure(.other, "can't write \(partial): \(error.localizedDescription)")
        }
        guard unsafe rename(partial, path) == 0 else { throw Failure(.other, "can't rename \(partial) to \(path)") }
    }

    /// Deletes the partial file.
    func discard() {
        try? handle.close()
        try? FileManager.default.removeItem(atPath: partial)
    }
}
