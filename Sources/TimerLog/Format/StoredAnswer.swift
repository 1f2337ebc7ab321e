/// An answer that is kept for requests that repeat an idempotency key: a first answer, or a part of one.
public struct StoredAnswer: Sendable, Equatable {
    /// The form of an answer's bytes.
    public enum Form: Sendable, Equatable {
        /// A response, as its writer encoded it.
        case response
        /// A timer as it was shown: see `ShownTimer`.
        case timer
        /// The result of one step of a run, or of all steps so far, as its writer encoded it.
        case part(AnswerPart)
    }

    /// Hash of the key.
    public var key: Hash128
    /// Hash of the request: method, target and body.
    public var fingerprint: Hash128
    /// Wall milliseconds of the first answer or, for a part, of the run's beginning; the key is forgotten 24 hours
    /// later.
    public var answeredAt: Int64
    /// The form of `answer`.
    public var form: Form
    /// The answer's bytes.
    public var answer: [UInt8]

    /// Makes an answer; see the members.
    public init(
        key: Hash128, fingerprint: Hash128, answeredAt: Int64, form: Form = .response, answer: [UInt8]
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.answeredAt = answeredAt
        self.form = form
        self.answer = answer
    }
}
