import HTTPServer

/// Finds the address of a server on this machine, from the settings that `timerd serve` would use.
enum LocalServer {
    /// Returns the URLs at which the server may be reached: those that it wrote into its data directory, else
    /// those of `--listen` by its variable, the file or its default.
    ///
    /// - Parameter data: the data directory, where the command line names it; then a server must have written its
    ///   addresses there.
    static func urls(data: String?, _ environment: Environment) throws(Failure) -> [String] {
        let settings = try SettingReader(flags: [Setting.data.flag: data.map { [$0] } ?? []], environment)
        // A server on a database writes its addresses nowhere.
        let isInDirectory = try settings.one(.store).text == "sqlite"
        if data != nil || isInDirectory {
            let file = ListenersFile(directory: try settings.one(.data).nonEmpty())
            let listed = file.read()
            if !listed.isEmpty { return listed.map(\.fromHere.url) }
            if data != nil {
                throw Failure(.other, "\(file.path) is not there, or can't be read: no server runs on that directory")
            }
        }
        let configured = try ServeConfiguration.listeners(settings.all(.listen)).filter(\.hasPlace)
        guard !configured.isEmpty else {
            throw Failure(
                .other, "the kernel chose the server's port, and no server wrote it down: say --server or --data")
        }
        return configured.map(\.fromHere.url)
    }
}

extension ListenAddress {
    /// Whether the address says where to connect to; port 0 does not.
    fileprivate var hasPlace: Bool {
        if case .tcp(_, 0) = self { false } else { true }
    }
}
