import ArgumentParser
import Glibc
import HTTPClient
import Platform
import WireJSON

/// `timerd edit`.
struct Edit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change a timer in your editor.",
        discussion: """
            Opens what can be changed of it as JSON in $VISUAL, else $EDITOR, else vi, and sends what you changed once \
            the editor is closed. Nothing is sent if nothing changed or the editor failed. If the timer changed \
            meanwhile, or the change is refused, nothing changes, and the file with your text is kept and named.

              timerd edit tea
              EDITOR=nano timerd edit standup
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id.", completion: Completions.timers) var id: String

    func run() throws {
        let service = try client.client()
        let target = RequestTarget("v1", "timers", id).text
        let response = try service.send(HTTPRequest(.get, target))
        guard let tag = response.header("ETag"), let before = EditableTimer(response.body) else {
            throw Failure(.other, "the server's answer is no timer: is it timerd?")
        }
        let file = try EditedFile(before.text)
        do throws(Failure) {
            try file.edit()
            let after = try EditableTimer(edited: file.read())
            guard let patch = try before.patch(to: after) else {
                file.remove()
                return Console.error("\(Printable.text(id)): not changed")
            }
            let headers = Patch.contentType + [("If-Match", tag)]
            try client.printTimer(HTTPRequest(.patch, target, headers: headers, body: patch), by: service)
        } catch {
            throw Failure(error.code, "\(error.line); your text is in \(file.path)")
        }
        file.remove()
    }
}

/// A file that a person edits. Only its owner can read it, as a payload may be secret.
struct EditedFile {
    /// The path of the file.
    let path: String
    /// Most bytes of the edited file; the server takes fewer.
    private static let limit = 4 << 20

    /// Makes a file with `text` in it, in $TMPDIR or /tmp.
    init(_ text: [UInt8]) throws(Failure) {
        let suffix = ".json"
        let folder = Environment.current["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(folder)/timerd-XXXXXX\(suffix)".utf8CString)
        let descriptor = unsafe mkstemps(&template, Int32(suffix.utf8.count))
        guard descriptor >= 0 else {
            throw Failure(.other, "can't make a file in \(folder): \(unsafe String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { close(descriptor) }
        guard Console.write(text, to: descriptor) else {
            throw Failure(.other, "can't write \(path): \(unsafe String(cString: strerror(errno)))")
        }
    }

    /// Opens the file in the person's editor and waits until the editor is closed.
    func edit() throws(Failure) {
        // The variable is shell code, as in git: an editor with flags, or a quoted path.
        let quoted = "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        let status = unsafe system("file=\(quoted); eval \"${VISUAL:-${EDITOR:-vi}} \\\"\\$file\\\"\"")
        guard status == 0 else { throw Failure(.other, "the editor failed") }
    }

    /// Reads the file again by its path: an editor may have replaced it.
    func read() throws(Failure) -> [UInt8] {
        guard let bytes = FileBytes.read(path, limit: Self.limit + 1), bytes.count <= Self.limit else {
            throw Failure(.other, "can't read what was edited, or it is over 4 MiB")
        }
        return bytes
    }

    /// Removes the file.
    func remove() { unsafe unlink(path) }
}

/// `timerd patch`.
struct Patch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change timers by a JSON merge patch.",
        discussion: """
            The patch (RFC 7396) names what changes; null takes a field away. A change of the schedule counts the full \
            period from now on. --body takes JSON, @file or - for standard input.

              timerd patch tea --body '{"labels": {"team": "blue"}, "payload": null}'
              timerd patch tea --body '{"after": null, "every": "1h"}'
              timerd patch tea --body @patch.json --if-match '"v3"'
            """)

    /// The media type of a patch.
    static let contentType = [(name: "Content-Type", value: "application/merge-patch+json")]

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; may repeat.", completion: Completions.timers) var id: [String]
    @Option(help: ArgumentHelp("The patch", valueName: "json|@file|-")) var body: String
    @Option(help: ArgumentHelp("Only if this is its ETag: '\"v3\"' for version 3", valueName: "etag"))
    var ifMatch: String?

    func run() throws {
        let patch = try JSONText.read(body, flag: "--body")
        let service = try client.client()
        let headers = Self.contentType + (ifMatch.map { [("If-Match", $0)] } ?? [])
        try EachID.run(id) { (id) throws(Failure) in
            let target = RequestTarget("v1", "timers", id)
            try client.printTimer(HTTPRequest(.patch, target.text, headers: headers, body: patch), by: service)
        }
    }
}
