public import TimerCore

/// The bytes of drains and imports, which move timers between servers.
///
/// ```
/// drain      the record's instant; a byte, 1 where the server is drained from here on
/// import     the record's instant; the export's id (16 bytes), the hash of the part (16 bytes), varints of the part,
///            of its lines that are done, of the lines before it and of the first record's position, a byte: see
///            `ImportProgress`
/// ```
extension RecordCodec {
    private static let wholeBit: UInt8 = 1
    private static let lastBit: UInt8 = 2
    private static let copyBit: UInt8 = 4

    /// Appends the record that the server is drained, or no longer drained.
    public static func appendDrain(_ isDrained: Bool, at: Int64, to bytes: inout [UInt8]) {
        let start = beginFrame(&bytes)
        bytes.append(drainKind)
        ByteCoding.append(signed: at, to: &bytes)
        bytes.append(isDrained ? 1 : 0)
        endFrame(start, &bytes)
    }

    /// Appends the record of an import's progress.
    public static func append(_ progress: ImportProgress, to bytes: inout [UInt8]) {
        let start = beginFrame(&bytes)
        bytes.append(importKind)
        ByteCoding.append(signed: progress.at, to: &bytes)
        for word in [progress.export.high, progress.export.low, progress.fingerprint.high, progress.fingerprint.low] {
            appendFixed(word, count: 8, to: &bytes)
        }
        ByteCoding.append(UInt64(progress.part), to: &bytes)
        ByteCoding.append(UInt64(progress.lines), to: &bytes)
        ByteCoding.append(UInt64(progress.linesBefore), to: &bytes)
        ByteCoding.append(UInt64(progress.begin), to: &bytes)
        bytes.append(
            (progress.isWhole ? wholeBit : 0) | (progress.isLast ? lastBit : 0) | (progress.isCopy ? copyBit : 0))
        endFrame(start, &bytes)
    }

    static func drain(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset),
            let value = ByteCoding.readFixed(bytes, &offset, count: 1), value <= 1
        else { return false }
        record.at = at
        record.content = .drain(isDrained: value == 1)
        return true
    }

    static func importProgress(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset), let export = hash(bytes, &offset),
            let fingerprint = hash(bytes, &offset), let part = ByteCoding.read(bytes, &offset),
            let lines = ByteCoding.read(bytes, &offset), part < UInt64(ImportProgress.mostParts),
            lines < UInt64(ImportProgress.mostParts), let before = ByteCoding.read(bytes, &offset),
            before <= UInt64(Int64.max), let begin = ByteCoding.read(bytes, &offset),
            begin <= UInt64(record.position),
            let bits = ByteCoding.readFixed(bytes, &offset, count: 1), bits < 8
        else { return false }
        var progress = ImportProgress(export: export, part: Int(part), fingerprint: fingerprint, at: at)
        progress.lines = Int(lines)
        progress.linesBefore = Int(before)
        progress.begin = begin == 0 ? record.position : Int64(begin)
        progress.isWhole = UInt8(bits) & wholeBit != 0
        progress.isLast = UInt8(bits) & lastBit != 0
        progress.isCopy = UInt8(bits) & copyBit != 0
        record.at = at
        record.content = .importProgress(progress)
        return true
    }

    /// Returns the record, without frame, of an event that is owed to a webhook, as a delivery from another server
    /// carries it. The record names no previous event.
    ///
    /// - Parameter definition: the whole definition of the event's timer as it was then.
    public static func event(_ effect: Effect, definition: Span<UInt8>) -> [UInt8] {
        guard let type = effect.type else { return [] }
        var effect = effect
        effect.owesDelivery = true
        var bytes: [UInt8] = []
        append(effect, type, distance: 0, definition: definition, to: &bytes)
        return Array(bytes.dropFirst(frameCount))
    }
}
