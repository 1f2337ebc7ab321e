import ArgumentParser

/// `timerd serve`: its flags. `ServeConfiguration` reads their values, `ServerRun` runs the server.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the server until SIGTERM or Ctrl-C.",
        discussion: """
            Each flag can be given as a variable, named beside it, or as a key of the TOML file that --config names; a \
            flag wins over a variable, a variable over the file. Durations are written 250ms, 10s, \
            1m30s, 24h or PT10S, sizes 64KiB, 512MiB, 1GiB.

            The server prints "timerd listening on http://127.0.0.1:8080" once it accepts connections, a line a \
            listener. The log goes to stderr. SIGTERM stops it cleanly: requests are answered, streams end, everything \
            is on disk; a second one ends it at once, which loses nothing that was answered either. SIGHUP makes it \
            read its files again: tokens, certificate and key, webhook secrets, and of --config the webhook rules and \
            the log level; and open --audit-log again. Certificate and key are also read within a minute of a change.

            Under systemd it reports when it is ready and feeds the watchdog (NOTIFY_SOCKET, WATCHDOG_USEC), and \
            serves the sockets it is passed (LISTEN_FDS), beside those of --listen if that is given; with TLS the TCP \
            sockets that are called https (FileDescriptorName=https).

            Examples:

              timerd serve
              timerd serve --listen 127.0.0.1:9090 --data /var/lib/timerd
              timerd serve --listen 127.0.0.1:8080 --listen unix:/run/timerd.sock
              timerd serve --listen 0.0.0.0:8080 --token-file /etc/timerd/tokens
              timerd serve --listen https://0.0.0.0:8443 \\
                --tls-certificate tls.crt --tls-key tls.key --token-file tokens
              timerd serve --store memory --log-format json
              timerd serve --store postgres://timerd@db.example/timers \\
                --store-password-file /etc/timerd/db --migrate
              timerd serve --config /etc/timerd.toml --check
            """)

    @Option(name: Setting.listen.name, help: Setting.listen.help) var listen: [String] = []
    @Option(name: Setting.tlsCertificate.name, help: Setting.tlsCertificate.help) var tlsCertificate: String?
    @Option(name: Setting.tlsKey.name, help: Setting.tlsKey.help) var tlsKey: String?
    @Option(name: Setting.data.name, help: Setting.data.help) var data: String?
    @Option(name: Setting.store.name, help: Setting.store.help) var store: String?
    @Option(name: Setting.storePasswordFile.name, help: Setting.storePasswordFile.help) var storePasswordFile: String?
    @Flag(name: Setting.migrate.name, help: Setting.migrate.help) var migrate = false
    @Option(name: Setting.clusterURL.name, help: Setting.clusterURL.help) var clusterURL: String?
    @Option(name: Setting.clusterListen.name, help: Setting.clusterListen.help) var clusterListen: String?
    @Option(name: Setting.clusterTokenFile.name, help: Setting.clusterTokenFile.help) var clusterTokenFile: String?
    @Option(name: Setting.standby.name, help: Setting.standby.help) var standby: String?
    @Flag(name: Setting.acceptLoss.name, help: Setting.acceptLoss.help) var acceptLoss = false
    @Option(name: Setting.durability.name, help: Setting.durability.help) var durability: String?
    @Option(name: Setting.ioThreads.name, help: Setting.ioThreads.help) var ioThreads: String?
    @Option(name: Setting.maxTimers.name, help: Setting.maxTimers.help) var maxTimers: String?
    @Option(name: Setting.maxStreams.name, help: Setting.maxStreams.help) var maxStreams: String?
    @Option(name: Setting.maxConnections.name, help: Setting.maxConnections.help) var maxConnections: String?
    @Option(name: Setting.maxConnectionsPerAddress.name, help: Setting.maxConnectionsPerAddress.help)
    var maxConnectionsPerAddress: String?
    @Option(name: Setting.idleTimeout.name, help: Setting.idleTimeout.help) var idleTimeout: String?
    @Option(name: Setting.maxIdempotencyKeys.name, help: Setting.maxIdempotencyKeys.help)
    var maxIdempotencyKeys: String?
    @Option(name: Setting.maxIdempotencyBytes.name, help: Setting.maxIdempotencyBytes.help)
    var maxIdempotencyBytes: String?
    @Option(name: Setting.retainEvents.name, help: Setting.retainEvents.help) var retainEvents: String?
    @Option(name: Setting.heartbeat.name, help: Setting.heartbeat.help) var heartbeat: String?
    @Option(name: Setting.drain.name, help: Setting.drain.help) var drain: String?
    @Option(name: Setting.alarm.name, help: Setting.alarm.help) var alarm: String?
    @Option(name: Setting.tokenFile.name, help: Setting.tokenFile.help) var tokenFile: String?
    @Option(name: Setting.allowHost.name, help: Setting.allowHost.help) var allowHost: [String] = []
    @Option(name: Setting.auditLog.name, help: Setting.auditLog.help) var auditLog: String?
    @Option(name: Setting.logLevel.name, help: Setting.logLevel.help) var logLevel: String?
    @Option(name: Setting.logFormat.name, help: Setting.logFormat.help) var logFormat: String?
    @OptionGroup var webhooks: WebhookOptions
    @Option(name: Setting.config.name, help: Setting.config.help) var config: String?
    @Flag(help: "Print the settings and their sources, or the faults in them; open neither data nor sockets")
    var check = false

    func run() throws {
        let environment = Environment.current
        if check {
            for line in try report(environment) { Console.out(line) }
            return
        }
        let signals = Signals(takesReloads: true)
        let settings = try SettingReader(flags: flags, environment)
        let configuration = try ServeConfiguration(settings)
        Environment.unsetServiceManagerVariables()
        try ServerRun(settings, configuration, unknownVariables: environment.unknown, signals).run()
    }

    /// Returns the text that `--check` prints.
    private func report(_ environment: Environment) throws(Failure) -> [String] {
        let settings = try SettingReader(flags: flags, environment)
        _ = try ServeConfiguration(settings)
        return try ConfigurationReport.lines(settings)
    }

    /// The values that each flag was given, by its name.
    private var flags: [String: [String]] {
        [
            Setting.listen.flag: listen, Setting.tlsCertificate.flag: given(tlsCertificate),
            Setting.tlsKey.flag: given(tlsKey),
            Setting.data.flag: given(data), Setting.store.flag: given(store),
            Setting.storePasswordFile.flag: given(storePasswordFile),
            Setting.migrate.flag: migrate ? ["true"] : [], Setting.clusterURL.flag: given(clusterURL),
            Setting.clusterListen.flag: given(clusterListen), Setting.clusterTokenFile.flag: given(clusterTokenFile),
            Setting.standby.flag: given(standby), Setting.acceptLoss.flag: acceptLoss ? ["true"] : [],
            Setting.durability.flag: given(durability), Setting.ioThreads.flag: given(ioThreads),
            Setting.maxTimers.flag: given(maxTimers), Setting.maxStreams.flag: given(maxStreams),
            Setting.maxConnections.flag: given(maxConnections),
            Setting.maxConnectionsPerAddress.flag: given(maxConnectionsPerAddress),
            Setting.idleTimeout.flag: given(idleTimeout),
            Setting.maxIdempotencyKeys.flag: given(maxIdempotencyKeys),
            Setting.maxIdempotencyBytes.flag: given(maxIdempotencyBytes),
            Setting.retainEvents.flag: given(retainEvents), Setting.heartbeat.flag: given(heartbeat),
            Setting.drain.flag: given(drain), Setting.alarm.flag: given(alarm),
            Setting.tokenFile.flag: given(tokenFile),
            Setting.allowHost.flag: allowHost, Setting.auditLog.flag: given(auditLog),
            Setting.logLevel.flag: given(logLevel),
            Setting.logFormat.flag: given(logFormat), Setting.config.flag: given(config),
        ].merging(webhooks.flags) { own, _ in own }
    }

    private func given(_ flag: String?) -> [String] { flag.map { [$0] } ?? [] }
}
