import Glibc
import HTTPClient
import Platform
import WireJSON

/// `timerd list --watch`: the list on a terminal, drawn again each second, as often as its countdowns change.
struct ListWatch {
    let listing: TimerListing
    let client: ClientOptions

    /// Milliseconds between two drawings.
    private static let periodMs: Int64 = 1000
    /// The lines around the table: the head, and `…` where timers are left out.
    private static let framing = 2

    /// Draws the list until Ctrl-C, which ends the program. A failure that may pass, such as a restart of the
    /// server, is shown, and the server is asked again.
    ///
    /// - Throws: where standard output is no terminal, or the server refuses.
    func run() throws(Failure) {
        guard Terminal.isOutput else {
            throw Failure(.usage, "--watch needs a terminal; `timerd watch` prints a line for each event")
        }
        let service = try client.client()
        Console.out(bytes: Array("\u{1b}[2J".utf8))
        while draw(try lines(service)) {
            let past = Clocks.realtime() / 1_000_000 % Self.periodMs
            usleep(UInt32(Self.periodMs - past) * 1000)
        }
    }

    private func lines(_ service: ServiceClient) throws(Failure) -> [String] {
        let size = Terminal.size ?? (80, 24)
        let room = max(1, size.lines - Self.framing - 1)
        var instant: [UInt8] = []
        RFC3339.append(Clocks.realtime() / 1_000_000, to: &instant)
        let head = "\(service.address)  \(ShortTime.second(String(decoding: instant, as: UTF8.self)))  Ctrl-C ends"
        do throws(Failure) {
            let part = try listing.timers(service, from: nil, limit: room)
            let table = part.timers.isEmpty ? ["no timers"] : List.lines(part.timers)
            return [cut(head, size.columns)] + table + (part.next == nil ? [] : ["…"])
        } catch {
            guard error.isTransient else { throw error }
            return [cut(head, size.columns), cut(error.line, size.columns)]
        }
    }

    private func cut(_ line: String, _ width: Int) -> String { String(Printable.text(line).prefix(width)) }

    /// Draws over the lines that are there, so that nothing flickers, and clears the rest.
    private func draw(_ lines: [String]) -> Bool {
        let text = "\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J"
        return Console.out(bytes: Array(text.utf8))
    }
}
