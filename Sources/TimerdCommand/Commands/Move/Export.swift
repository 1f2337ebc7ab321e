import ArgumentParser
import Glibc
import HTTPClient
import Platform

/// `timerd export`.
struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write every timer as it is into a file, for another server.",
        discussion: """
            With --drain the server is drained first and stays so: its timers go on where they are imported. Without, \
            the export is a copy. Secrets of webhooks are in it, so the file is for its owner alone; with \
            --mask-secrets they are not. The file gets its name once it is whole; a connection that breaks is tried again.

              timerd export --drain timers.ndjson
              timerd export --drain - | timerd import --server http://new:8080 -
            """)

    /// Whether the secrets of webhooks are exported.
    enum Secrets: EnumerableFlag {
        case secrets, maskSecrets

        static func help(for value: Self) -> ArgumentHelp? {
            value == .secrets ? "Export the secrets of webhooks, as by default." : "Leave the secrets of webhooks out."
        }
    }

    @OptionGroup var client: ClientOptions
    @Flag(help: "Drain the server first.") var drain = false
    @Flag(exclusivity: .chooseLast) var secrets = Secrets.secrets
    @Argument(help: ArgumentHelp("The file; - for standard output", valueName: "file"), completion: .file())
    var file: String = "-"

    func run() throws {
        let service = try client.client()
        if drain { _ = try ServerDrain(service).begin() }
        var target = RequestTarget("v1", "export")
        if secrets == .secrets { target.add("secrets", "true") }
        let lines: Int
        if file == "-" {
            lines = try ExportReader(service, target.text).run { bytes throws(Failure) in
                if !Console.out(bytes: bytes) { try Console.checkOutput() }
            }
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
                let lines = try ExportReader(service, target).run { bytes throws(Failure) in
                    try output.write(bytes)
                }
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

    /// Reads the export and passes its bytes to `take`, whose failure ends the reading.
    ///
    /// - Returns: the number of lines.
    /// - Throws: what `take` threw, or why the export is not whole.
    func run(_ take: @escaping ([UInt8]) throws(Failure) -> Void) throws(Failure) -> Int {
        let state = State(take)
        let response: HTTPResponse
        do throws(HTTPClientError) {
            response = try service.stream(
                HTTPRequest(.get, target), silenceSeconds: Self.silenceSeconds, onHead: { _ in true },
                onBytes: { state.take($0) })
        } catch {
            state.progress.end()
            throw Failure(error)
        }
        state.progress.end()
        if let refusal = state.refusal { throw refusal }
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
        /// The failure of what takes the export's bytes; nil while it has taken all of them.
        private(set) var refusal: Failure?
        private let pass: ([UInt8]) throws(Failure) -> Void

        init(_ pass: @escaping ([UInt8]) throws(Failure) -> Void) { self.pass = pass }

        /// Counts bytes and passes them on. Returns whether they were taken.
        func take(_ bytes: [UInt8]) -> Bool {
            lines += bytes.count { $0 == 0x0a }
            tail = Array((tail + bytes.suffix(ExportReader.tailBytes)).suffix(ExportReader.tailBytes))
            let lines = lines
            progress.show("\(lines) lines")
            do throws(Failure) { try pass(bytes) } catch { refusal = error }
            return refusal == nil
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
    private let descriptor: Int32

    init(_ path: String) throws(Failure) {
        self.path = path
        partial = path + ".partial"
        unsafe unlink(partial)
        descriptor = unsafe open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(.usage) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes bytes.
    func write(_ bytes: [UInt8]) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes { rest in
                unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            guard count >= 0 || errno == EINTR else { throw failure(.other) }
            written += max(0, count)
        }
    }

    /// Gives the file its name, once all of it is on disk; then the name is on disk too.
    func finish() throws(Failure) {
        guard fsync(descriptor) == 0 else { throw failure(.other) }
        guard isNamed else { throw Failure(.other, "\(partial) is another export's by now") }
        guard unsafe rename(partial, path) == 0 else { throw Failure(.other, "can't rename \(partial) to \(path)") }
        guard FileBytes.syncName(of: path) else { throw Failure(.other, "can't sync the directory of \(path)") }
    }

    /// Deletes the partial file.
    func discard() { if isNamed { unsafe unlink(partial) } }

    /// Whether the partial file still has its name, which another export to the same file takes over.
    private var isNamed: Bool { FileIdentity(partial, followsLink: false) == FileIdentity(descriptor: descriptor) }

    /// The failure of the call just made.
    private func failure(_ code: Failure.Code) -> Failure {
        Failure(code, "can't write \(partial): \(unsafe String(cString: strerror(errno)))")
    }
}
