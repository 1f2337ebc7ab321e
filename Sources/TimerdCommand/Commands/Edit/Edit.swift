import ArgumentParser
import HTTPClient
import WireJSON

/// `timerd edit`.
struct Edit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change a timer in your editor.",
        discussion: """
            Opens what can be changed of it as JSON in $VISUAL, else $EDITOR, else vi, and sends what you changed once the \
            editor is closed. Nothing is sent where nothing changed or the editor failed. If the timer changed meanwhile, or \
            the change is refused, nothing changes, and the file with your text is kept and named.

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
