import HTTPClient
import WireJSON

/// The timers that have a label and are not in a file: `timerd apply --prune key=value`.
struct Prune {
    private let key: String
    private let value: String
    private let label: String

    /// Reads `key=value`.
    ///
    /// - Throws: where a timer in `file` lacks the label or the file has no timer: otherwise a label that no
    ///   declared timer has would delete every timer that has it.
    init(_ label: String, of file: DeclarationFile) throws(Failure) {
        guard let equals = label.firstIndex(of: "="), equals > label.startIndex else {
            throw Failure(.usage, "--prune \(Printable.text(label)): expected key=value")
        }
        self.label = label
        key = String(label[..<equals])
        value = String(label[label.index(after: equals)...])
        guard !file.timers.isEmpty else {
            throw Failure(.usage, "\(file.name) has no timer: --prune would delete every timer with \(label)")
        }
        for timer in file.timers where !isOn(timer) {
            let place = "\(file.name), line \(timer.line)"
            throw Failure(.usage, "\(place): \(timer.id) lacks the label \(label), so --prune does nothing")
        }
    }

    private func isOn(_ timer: DeclaredTimer) -> Bool {
        JSONObject(timer.body)?.object("labels")?.members.contains { $0.name == key && $0.text == value } ?? false
    }

    /// Returns the ids of the timers with the label that `file` does not declare.
    func undeclared(_ service: ServiceClient, _ file: DeclarationFile) throws(Failure) -> [String] {
        var ids: [String] = []
        var cursor: String?
        repeat {
            var target = RequestTarget("v1", "timers")
            target.add("label", label)
            target.add("limit", "1000")
            target.add("cursor", cursor)
            let page = try JSONObject(service.send(HTTPRequest(.get, target.text)))
            ids += page.objects("timers").compactMap { $0["id"] }.filter { !file.declares($0) }
            cursor = page["next"]
        } while cursor != nil
        return ids
    }

    /// Deletes timers, each by itself; a timer that is already deleted is no failure.
    ///
    /// - Throws: where any could not be deleted.
    func delete(_ ids: [String], _ service: ServiceClient) throws(Failure) {
        var failed = 0
        for start in stride(from: 0, to: ids.count, by: BatchLines.mostLines) {
            let part = Array(ids[start..<min(ids.count, start + BatchLines.mostLines)])
            for (id, status) in zip(part, try send(part, service)) where status >= 400 && status != 404 {
                failed += 1
                Console.error("timerd: \(Printable.text(id)): \(status), not deleted")
            }
        }
        guard failed == 0 else { throw Failure(.other, "\(failed) of \(ids.count) timers not deleted") }
    }

    /// Sends the deletions of `ids`. Returns the status of each.
    private func send(_ ids: [String], _ service: ServiceClient) throws(Failure) -> [Int] {
        var body: [UInt8] = []
        for id in ids {
            body += JSONWriter.object { writer in
                writer.member("command", "delete")
                writer.member("id", text: id)
            }
            body.append(0x0a)
        }
        var target = RequestTarget("v1", "timers", "batch")
        target.add("results", "brief")
        let headers = [(name: "Content-Type", value: "application/x-ndjson")]
        let response = try service.send(HTTPRequest(.post, target.text, headers: headers, body: body))
        let statuses = response.body.split(separator: 0x0a).compactMap { line in
            JSONObject(Array(line))?["status"].flatMap { Int($0) }
        }
        guard statuses.count == ids.count else {
            throw Failure(.other, "\(statuses.count) answers for \(ids.count) lines: is it timerd?")
        }
        return statuses
    }
}
