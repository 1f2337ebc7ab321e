import ArgumentParser
import HTTPClient

/// The flags that every client command takes.
struct ClientOptions: ParsableArguments {
    @Option(name: Setting.server.name, help: Setting.server.help) var server: String?
    @Option(name: Setting.token.name, help: Setting.token.help) var token: String?
    @Option(
        name: Setting.tokenFile.name,
        help: ArgumentHelp(
            "A file of tokens or keys' secrets, whose first one is used; --token wins [\(Setting.tokenFile.variable)]",
            valueName: Setting.tokenFile.value), completion: .file())
    var tokenFile: String?
    @Option(name: Setting.ca.name, help: Setting.ca.help, completion: .file()) var ca: String?
    @Flag(help: "Print the server's JSON as it came.") var json = false

    /// The time that an answer may take, in milliseconds: more than the server's own wait for a slow disk.
    static let timeoutMs = 30_000

    /// Makes a client of the server that the flags name.
    func client() throws(Failure) -> ServiceClient {
        try flags.client(timeoutMs: Self.timeoutMs)
    }

    /// The flags about the server and the token, for a further connection.
    var flags: ClientFlags { ClientFlags(server: server, token: token, tokenFile: tokenFile, ca: ca) }

    /// Sends a request that is answered with a timer, and prints it.
    func printTimer(_ request: HTTPRequest, by service: ServiceClient) throws(Failure) {
        let response = try service.send(request)
        try print(response) { TimerText.line($0) }
    }

    /// Prints an answer as it came, or as `text` shows it to a person.
    func print(_ response: HTTPResponse, _ text: (JSONObject) -> String) throws(Failure) {
        if json {
            Console.out(bytes: response.body + [0x0a])
        } else {
            Console.out(text(try JSONObject(response)))
        }
    }
}

/// The flags that name the server, the token and the authorities; variables and defaults stand in for those that are
/// missing.
struct ClientFlags {
    var server: String?
    var token: String?
    var tokenFile: String?
    var ca: String?
    /// The environment at the time when the flags were made, for every thread that asks the server.
    private let environment = Environment.current

    /// Makes flags; see the members.
    init(server: String? = nil, token: String? = nil, tokenFile: String? = nil, ca: String? = nil) {
        self.server = server
        self.token = token
        self.tokenFile = tokenFile
        self.ca = ca
    }

    /// Picks the flags out of a command line that is not complete yet, as a shell passes it.
    init(words: [String]) {
        func value(_ setting: Setting) -> String? {
            let flag = "--\(setting.flag)"
            if let place = words.firstIndex(of: flag), place + 1 < words.count {
                return Self.unquoted(words[place + 1])
            }
            return words.first { $0.hasPrefix("\(flag)=") }.map { Self.unquoted(String($0.dropFirst(flag.count + 1))) }
        }
        self.init(server: value(.server), token: value(.token), tokenFile: value(.tokenFile), ca: value(.ca))
    }

    /// Returns a word without the quotes around it.
    private static func unquoted(_ word: String) -> String {
        guard word.count > 1, let quote = word.first, "'\"".contains(quote), word.last == quote else { return word }
        return String(word.dropFirst().dropLast())
    }

    /// Makes a client of the server that the flags name.
    func client(timeoutMs: Int) throws(Failure) -> ServiceClient {
        try ServiceClient(server: server, token: try chosenToken(), ca: ca, environment, timeoutMs: timeoutMs)
    }

    /// Returns the first token given by `--token`, by `--token-file`, by the variable of the one or by that of the
    /// other; nil for the third, which `ServiceClient` reads itself, and where none is given.
    private func chosenToken() throws(Failure) -> String? {
        if token != nil || tokenFile == nil && environment[Setting.token.variable] != nil { return token }
        guard let file = try SettingValue.one(.tokenFile, flag: tokenFile, environment) else { return nil }
        return try TokenFile.read(file.nonEmpty()).first.map { String(decoding: $0, as: UTF8.self) }
    }
}
