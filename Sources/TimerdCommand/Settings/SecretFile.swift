import Webhooks

/// The file of secrets that sign deliveries.
enum SecretFile {
    /// Reads the secrets, one a line as `whsec_…`.
    ///
    /// No error shows the file's content.
    static func read(_ path: String) throws(Failure) -> [WebhookSecret] {
        var secrets: [WebhookSecret] = []
        for line in try LineFile.read(path, called: "webhook secret file") {
            func refusal(_ reason: String) -> Failure {
                Failure(.unusable, "the webhook secret file \(path), line \(line.number): \(reason)")
            }
            guard secrets.count < WebhookConfiguration.maximumSecrets else {
                throw refusal("more than \(WebhookConfiguration.maximumSecrets) secrets")
            }
            do throws(WebhookError) {
                secrets.append(try WebhookSecret(String(decoding: line.text, as: UTF8.self)))
            } catch {
                throw refusal(error.message)
            }
        }
        guard !secrets.isEmpty else { throw Failure(.unusable, "the webhook secret file \(path) has no secret") }
        return secrets
    }
}
