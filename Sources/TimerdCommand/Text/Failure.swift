import ArgumentParser
import HTTPClient
import TimerLog

/// The reason why the program ends without having done its work: one line for stderr and an exit code.
struct Failure: Error, Sendable {
    /// The exit code of the program; the numbers are those of `sysexits.h` where it has one.
    enum Code: Int32, Sendable, CaseIterable {
        /// Work that failed, where trying again may help.
        case other = 1
        /// A command line or a variable that makes no sense.
        case usage = 64
        /// Configuration or data that can't be used; trying again does not help.
        case unusable = 78

        /// The meaning of the code, for the help.
        var meaning: String {
            switch self {
            case .other: "failure: refused, no server, no room for the output"
            case .usage: "the command line or a variable makes no sense"
            case .unusable: "configuration or data that can't be used"
            }
        }
    }

    /// The exit code.
    var code: Code
    /// The line that says what is wrong, without `timerd:` before it. Text repeated from a value, a file or an
    /// answer can't steer a terminal.
    var line: String
    /// Whether no server could be reached, so that the next request can't succeed either.
    var isUnreachable = false
    /// Whether the failure may pass by itself: no server, no answer, or a server that has too much to do or is
    /// starting.
    var isTransient = false

    /// Makes a failure; see the members.
    init(_ code: Code, _ line: String) {
        self.code = code
        self.line = Printable.text(line)
    }
}

/// The exit codes of the program: the one table, for the help and the documents.
enum ExitCodes {
    /// The exit code of `timerd apply --dry-run` where something differs.
    static let differs = ExitCode(2)

    /// Each code with what it means.
    static let all: [(code: Int32, meaning: String)] =
        ([(0, "done"), (differs.rawValue, "apply --dry-run: something differs")]
        + Failure.Code.allCases.map { ($0.rawValue, $0.meaning) }
        + [(130, "ended by Ctrl-C"), (143, "ended by SIGTERM")]).sorted { $0.code < $1.code }

    /// The table as text, a line a code.
    static let text = all.map { "  \(TextTable.padded("\($0.code)", 4))\($0.meaning)" }.joined(separator: "\n")
}

/// An answer that refuses, as one line.
enum ProblemText {
    /// Returns one line, such as `409 illegal-transition: tea is idle … (legal now: activate)`. Of an answer that
    /// is no problem+json, that is the status and the first line of its text.
    static func line(_ response: HTTPResponse) -> String {
        guard let problem = JSONObject(response.body), problem["type"] != nil else {
            let text = String(decoding: response.body.prefix(200), as: UTF8.self)
            let first = text.split(separator: "\n").first.map { ": \($0)" } ?? ""
            return "\(response.status)\(Printable.text(first))"
        }
        return line(problem, status: response.status)
    }

    /// Returns the line of a problem that is a part of an answer, such as that of a batch's line.
    static func line(_ problem: JSONObject, status: Int) -> String {
        let slug = (problem["type"] ?? "problem").split(separator: "/").last ?? "problem"
        var line = "\(status) \(slug)"
        if let detail = problem["detail"] ?? problem["title"] { line += ": \(detail)" }
        if let place = problem["pointer"] ?? problem["parameter"], !place.isEmpty { line += " (at \(place))" }
        if status == 404 || slug == "timer-exists", let timer = problem["timer"] { line += ": \(timer)" }
        let allowed = problem.strings("allowed")
        if !allowed.isEmpty { line += " (legal now: \(allowed.joined(separator: ", ")))" }
        if let owner = problem["owner"] { line += "; the owner is \(owner)" }
        if slug == "still-running" {
            line += "; `timerd export --drain` makes one that moves, and --copy takes this one"
        }
        if status == 401 { line += "; --token, --token-file, TIMERD_TOKEN or TIMERD_TOKEN_FILE gives a token or key" }
        return Printable.text(line)
    }
}

extension Failure {
    /// Makes the failure of a request without an answer; where no server was reached, it says what to check.
    init(_ error: HTTPClientError) {
        self.init(.other, error.description)
        isTransient = [.unreachable, .timedOut, .interrupted].contains(error.kind)
        if error.kind == .unknownIssuer {
            line += "; --\(Setting.ca.flag) or \(Setting.ca.variable) names a file with the authorities to trust"
        }
        guard error.kind == .unreachable else { return }
        isUnreachable = true
        line += "; is `timerd serve` running? --server or TIMERD_SERVER says where"
    }

    /// Makes the failure of an answer that is no success.
    init(_ response: HTTPResponse) {
        self.init(.other, ProblemText.line(response))
        isTransient = response.status == 429 || response.status >= 500
    }
}

extension Failure {
    /// Makes the failure of a store's error. A full or failing device, an unreachable database and a taken-over
    /// log may get better and are `other`; the rest is `unusable`.
    init(_ error: StoreError, directory: String) {
        let code: Code =
            switch error.kind {
            case .full, .io, .unavailable, .fenced: .other
            case .damaged, .inUse, .unusable, .lost: .unusable
            }
        // The reader of the line may run several servers.
        let place = error.description.contains(directory) ? "" : "\(directory): "
        self.init(code, place + error.description)
    }
}
