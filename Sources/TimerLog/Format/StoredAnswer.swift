import Primitives
public import TimerCore

/// A request with an idempotency key, as the log names it.
public struct IdempotentRequest: Sendable, Equatable {
    /// Hash of the key, among those of its principal.
    public var key: Hash128
    /// Hash of the request: method, target and body.
    public var fingerprint: Hash128
    /// The access key of the client; nil for the tokens together, and for clients that are asked for no credential.
    public var principal: KeyID?

    /// Names a request; see the members.
    public init(key: Hash128, fingerprint: Hash128, principal: KeyID? = nil) {
        self.key = key
        self.fingerprint = fingerprint
        self.principal = principal
    }
}

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

    /// The request that was answered.
    public var request: IdempotentRequest
    /// Wall milliseconds of the first answer or, for a part, of the run's beginning; the key is forgotten 24 hours
    /// later.
    public var answeredAt: Int64
    /// The form of `answer`.
    public var form: Form
    /// The answer's bytes.
    public var answer: [UInt8]

    /// Makes an answer; see the members.
    public init(_ request: IdempotentRequest, answeredAt: Int64, form: Form = .response, answer: [UInt8]) {
        self.request = request
        self.answeredAt = answeredAt
        self.form = form
        self.answer = answer
    }
}

/// The part of a run's answer that a record holds. The record is in the batch of its steps' changes, so that each
/// step is done once.
public struct AnswerPart: Sendable, Equatable {
    /// Position of the run's first part, which distinguishes the runs of a key; 0 for the position of this one.
    public var origin: Int64
    /// The number of parts before this one. A later record of the same number replaces this one.
    public var index: Int
    /// Whether the run is done.
    public var isLast: Bool

    /// The most parts of a run.
    public static let most = 1 << 16

    /// Makes a part; see the members.
    public init(origin: Int64, index: Int, isLast: Bool) {
        self.origin = origin
        self.index = index
        self.isLast = isLast
    }
}

/// The bytes of answers to requests with an idempotency key.
extension RecordCodec {
    /// Appends the record of an answer, or of a part of one.
    public static func append(_ answer: StoredAnswer, to bytes: inout [UInt8]) {
        let start = beginFrame(&bytes)
        let request = answer.request
        bytes.append(kind(of: answer.form) | (request.principal == nil ? 0 : principalFlag))
        ByteCoding.append(signed: answer.answeredAt, to: &bytes)
        for word in [request.key.high, request.key.low, request.fingerprint.high, request.fingerprint.low] {
            appendFixed(word, count: 8, to: &bytes)
        }
        if let principal = request.principal { appendFixed(principal.bits, count: 8, to: &bytes) }
        if case .part(let part) = answer.form {
            ByteCoding.append(UInt64(part.origin), to: &bytes)
            ByteCoding.append(UInt64(part.index) << 1 | (part.isLast ? 1 : 0), to: &bytes)
        }
        bytes.append(contentsOf: answer.answer)
        endFrame(start, &bytes)
    }

    private static func kind(of form: StoredAnswer.Form) -> UInt8 {
        switch form {
        case .response: answerKind
        case .timer: timerAnswerKind
        case .part: answerPartKind
        }
    }

    static func answer(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ offset: inout Int, _ kind: UInt8, into record: inout LogRecord
    ) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset), let key = hash(bytes, &offset),
            let fingerprint = hash(bytes, &offset)
        else { return false }
        var request = IdempotentRequest(key: key, fingerprint: fingerprint)
        if kind & principalFlag != 0 {
            guard let principal = ByteCoding.readFixed(bytes, &offset, count: 8).flatMap(KeyID.init(bits:)) else {
                return false
            }
            request.principal = principal
        }
        var form = StoredAnswer.Form.response
        if kind & kindMask == timerAnswerKind { form = .timer }
        if kind & kindMask == answerPartKind {
            guard let origin = ByteCoding.read(bytes, &offset), origin <= UInt64(record.position),
                let number = ByteCoding.read(bytes, &offset), number >> 1 < UInt64(AnswerPart.most)
            else { return false }
            let first = origin == 0 ? record.position : Int64(origin)
            form = .part(AnswerPart(origin: first, index: Int(number >> 1), isLast: number & 1 == 1))
        }
        var answer: [UInt8] = []
        answer.append(copying: bytes.extracting(offset..<body.upperBound))
        record.at = at
        record.content = .answer(StoredAnswer(request, answeredAt: at, form: form, answer: answer))
        return true
    }

    static func hash(_ bytes: Span<UInt8>, _ offset: inout Int) -> Hash128? {
        guard let high = ByteCoding.readFixed(bytes, &offset, count: 8),
            let low = ByteCoding.readFixed(bytes, &offset, count: 8)
        else { return nil }
        return Hash128(high: high, low: low)
    }
}
