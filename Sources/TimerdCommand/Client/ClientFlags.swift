/// Which server to ask and how, as flags say it; variables and defaults stand in for those that are missing.
struct ClientFlags {
    var server: String?
    var token: String?
    var tokenFile: String?
    /// The variables as of the making of the flags, for every thread that asks the server.
    private let environment = Environment.current

    /// Makes flags; see the members.
    init(server: String? = nil, token: String? = nil, tokenFile: String? = nil) {
        self.server = server
        self.token = token
        self.tokenFile = tokenFile
    }

    /// Picks the flags out of a command line that is not complete yet, as a shell hands it over.
    init(words: [String]) {
        func value(_ setting: Setting) -> String? {
            let flag = "--\(setting.flag)"
            if let place = words.firstIndex(of: flag), place + 1 < words.count {
                return Self.unquoted(words[place + 1])
            }
            return words.first { $0.hasPrefix("\(flag)=") }.map { Self.unquoted(String($0.dropFirst(flag.count + 1))) }
        }
        self.init(server: value(.server), token: value(.token), tokenFile: value(.tokenFile))
    }

    /// A word without the quotes around it.
    private static func unquoted(_ word: String) -> String {
        guard word.count > 1, let quote = word.first, "'\"".contains(quote), word.last == quote else { return word }
        return String(word.dropFirst().dropLast())
    }

    /// The server to talk to.
    func client(timeoutMs: Int) throws(Failure) -> ServiceClient {
        try ServiceClient(server: server, token: try chosenToken(), environment, timeoutMs: timeoutMs)
    }

    /// The token of --token, of --token-file, of the variable for the one, of the variable for the other.
    private func chosenToken() throws(Failure) -> String? {
        if token != nil || tokenFile == nil && environment[Setting.token.variable] != nil { return token }
        guard let file = try SettingValue.one(.tokenFile, flag: tokenFile, environment) else { return nil }
        return try TokenFile.read(file.nonEmpty()).first.map { String(decoding: $0, as: UTF8.self) }
    }
}
