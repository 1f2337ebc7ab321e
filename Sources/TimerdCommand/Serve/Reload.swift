import Logging
import Platform
import TimerAPI
import TimerService

/// A reload on SIGHUP: reads the whole configuration and the files it names again, and applies the settings that
/// can change under a running server.
struct Reload {
    /// The settings as of the start.
    let settings: SettingReader
    /// The configuration in force.
    let running: ServeConfiguration
    let certificate: CertificateReload
    let logger: Logger

    /// Reloads; a file that can't be used changes nothing.
    func run() {
        do throws(Failure) {
            let newer = try settings.readAnew()
            // The whole file must also be valid for the next start.
            _ = try ServeConfiguration(newer, running: running.tls.value)
            let reloaded = settings.reloaded(from: newer)
            let next = try ServeConfiguration(reloaded, running: running.tls.value)
            let forRestart = try newer.differing(from: reloaded)
            let access = next.access.value
            let policy = next.engine.deliveries.policy.value
            running.logLevel.publish(next.logLevel.value)
            running.access.publish(access)
            running.engine.deliveries.policy.publish(policy)
            if let tls = next.tls.value { certificate.install(tls) }
            var metadata: Logger.Metadata = [
                "tokens": .stringConvertible(access.tokens.count),
                "webhookSecrets": .stringConvertible(policy.secrets.count),
                "webhookRules": .stringConvertible(policy.allow.count + policy.deny.count),
                "logLevel": "\(next.logLevel.value)",
            ]
            if let tls = running.tls.value { metadata["certificateExpires"] = "\(tls.expiryText)" }
            if !forRestart.isEmpty { metadata["needsRestart"] = "\(forRestart.map(\.flag).joined(separator: ","))" }
            logger.notice("the configuration was read again", metadata: metadata)
        } catch {
            logger.error(
                "the configuration could not be read again; the old one stays in force",
                metadata: ["reason": "\(error.line)"])
        }
    }
}
