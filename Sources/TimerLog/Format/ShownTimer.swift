public import TimerCore

/// A timer as an answer showed it: all that its text is made of, so that a repeated answer has the same text.
///
/// ```
/// status, eventID                           varints; a status is below 1000, and 1000 more where working time follows
/// elapsed, wall offset, downtime            svarints: the instant it was shown at
/// updatedAt                                 svarint
/// working time left                         svarint, where it follows
/// progress                                  see `RecordCodec`
/// definition                                the rest
/// ```
public struct ShownTimer: Sendable, Equatable {
    /// The answer's status.
    public var status: Int
    /// Position of the newest event that the answer reflects.
    public var eventID: Int64
    /// The instant at which the timer was shown.
    public var now: Now
    /// The timer's progress.
    public var progress: TimerProgress
    /// The rest of a watchdog's progress; nil for other kinds.
    public var kicks: KickProgress?
    /// The milliseconds of working time left of a running timer that counts it; nil for others.
    public var workingLeft: Int64?
    /// The timer's definition, encoded; see `Definition`.
    public var definition: [UInt8]

    /// Makes a shown timer; see the members.
    public init(
        status: Int, eventID: Int64, now: Now, progress: TimerProgress, kicks: KickProgress?,
        workingLeft: Int64? = nil, definition: [UInt8]
    ) {
        self.status = status
        self.eventID = eventID
        self.now = now
        self.progress = progress
        self.kicks = kicks
        self.workingLeft = workingLeft
        self.definition = definition
    }

    /// The number that is added to the status where working time follows.
    private static let leftFlag = 1000

    /// Returns the bytes that are kept.
    public func encode() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(definition.count + RecordCodec.mostHeadBytes)
        bytes.append(addingCapacity: RecordCodec.mostHeadBytes) { head in
            ByteCoding.append(UInt64(status + (workingLeft == nil ? 0 : Self.leftFlag)), to: &head)
            ByteCoding.append(UInt64(eventID), to: &head)
            for number in [now.elapsed, now.wallOffset, now.downtime, progress.updatedAt] {
                ByteCoding.append(signed: number, to: &head)
            }
            if let workingLeft { ByteCoding.append(signed: workingLeft, to: &head) }
            RecordCodec.append(progress, kicks, at: progress.updatedAt, to: &head)
        }
        // No answer shows the trace context.
        var definition = definition
        if Definition.keepsTrace(definition.span) { Definition.setTrace([], in: &definition) }
        bytes += definition
        return bytes
    }

    /// Decodes `bytes`; nil when they are no shown timer.
    public init?(_ bytes: [UInt8]) {
        var offset = 0
        var record = LogRecord(position: 0)
        guard let status = ByteCoding.read(bytes.span, &offset), let eventID = ByteCoding.read(bytes.span, &offset),
            let elapsed = ByteCoding.readSigned(bytes.span, &offset),
            let wallOffset = ByteCoding.readSigned(bytes.span, &offset),
            let downtime = ByteCoding.readSigned(bytes.span, &offset),
            let updatedAt = ByteCoding.readSigned(bytes.span, &offset)
        else { return nil }
        record.at = updatedAt
        let hasLeft = status >= UInt64(Self.leftFlag)
        let workingLeft = hasLeft ? ByteCoding.readSigned(bytes.span, &offset) : nil
        guard (workingLeft != nil) == hasLeft, status < 2 * UInt64(Self.leftFlag) else { return nil }
        guard RecordCodec.readProgress(bytes.span, &offset, into: &record),
            Definition.isWhole(bytes.span.extracting(offset..<bytes.count))
        else { return nil }
        self.init(
            status: Int(truncatingIfNeeded: status) - (hasLeft ? Self.leftFlag : 0),
            eventID: Int64(truncatingIfNeeded: eventID),
            now: Now(elapsed: elapsed, wallOffset: wallOffset, downtime: downtime), progress: record.progress,
            kicks: record.kicks, workingLeft: workingLeft, definition: Array(bytes[offset...]))
    }
}
