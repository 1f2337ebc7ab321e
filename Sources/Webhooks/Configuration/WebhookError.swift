/// The refusal of a webhook's configuration, a secret or an address rule.
public struct WebhookError: Error, Sendable, Equatable {
    /// The member at fault as a path below the webhook, in the spelling of a JSON pointer without its first slash:
    /// `url`, `retry/maxAttempts`, `headers/Host`, `secret/1`; for an address rule, the option that it was given for.
    public let member: String
    /// The fault and what to write instead: a sentence without a full stop, for a person to read. The message never
    /// holds a secret.
    public let message: String

    /// Makes an error about `member`.
    public init(member: String, message: String) {
        self.member = member
        self.message = message
    }

    /// Returns `name` as one step of a path: `~` and `/` are escaped as RFC 6901 has it.
    public static func step(_ name: String) -> String {
        var step = ""
        for character in name {
            switch character {
            case "~": step += "~0"
            case "/": step += "~1"
            default: step.append(character)
            }
        }
        return step
    }
}
