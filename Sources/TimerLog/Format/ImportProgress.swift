public import TimerCore

/// The progress of an export's import. Its record is in the batch of the changes that it counts.
public struct ImportProgress: Sendable, Equatable {
    /// The export's id.
    public var export: Hash128
    /// The newest part that was begun.
    public var part: Int
    /// Hash of that part.
    public var fingerprint: Hash128
    /// Lines of the part that are done.
    public var lines = 0
    /// Whether the part is done here.
    public var isWhole = false
    /// Whether the part ends the export.
    public var isLast = false
    /// Whether the server that made the export was not drained then, and goes on with its timers.
    public var isCopy = false
    /// Lines of all earlier parts.
    public var linesBefore = 0
    /// Position of the import's first record; 0 for the position of this one. Timers whose newest definition is
    /// after it came with the import.
    public var begin: Int64 = 0
    /// The highest version of a timer that was deleted where the export was made: timers that are made here get higher ones,
    /// those of the export keep theirs.
    public var versionFloor: Int64 = 0
    /// Wall milliseconds at which the progress was recorded.
    public var at: Int64
    /// The client whose request made the progress; nil where it is not known.
    public var by: Actor?

    /// The bound below which the numbers of parts, and of lines of a part, stay.
    public static let mostParts = 1 << 31

    /// Makes the progress of an import that has done nothing of its part yet; see the members.
    public init(export: Hash128, part: Int, fingerprint: Hash128, at: Int64) {
        self.export = export
        self.part = part
        self.fingerprint = fingerprint
        self.at = at
    }
}

/// The progress of imports: the newest record of each export, for a bounded number of exports.
public struct ImportTable: Sendable {
    private var known: [Hash128: ImportProgress] = [:]

    /// The most exports that are remembered; beyond them the one whose newest record is oldest is forgotten.
    public static let most = 256

    /// Makes an empty table.
    public init() {}

    /// Returns the progress of the import of `export`; nil where none is known.
    public func progress(of export: Hash128) -> ImportProgress? { known[export] }

    /// The highest version of timers that were deleted where exports were made whose imports go on.
    public var versionFloor: Int64 {
        known.values.lazy.filter { !($0.isWhole && $0.isLast) }.map(\.versionFloor).max() ?? 0
    }

    /// The progress of every export that is remembered, oldest first.
    public var all: [ImportProgress] { known.values.sorted { $0.at < $1.at } }

    /// Remembers `progress` in place of what was known of its export.
    public mutating func note(_ progress: ImportProgress) {
        known[progress.export] = progress
        guard known.count > Self.most, let oldest = known.values.min(by: { $0.at < $1.at }) else { return }
        known[oldest.export] = nil
    }
}

/// The bytes of drains and imports, which move timers between servers.
///
/// ```
/// drain      the record's instant; a byte: whether the server is drained from here on, with `drainActorBit`; with
///            that bit the actor
/// import     the record's instant; the export's id (16 bytes), the hash of the part (16 bytes), varints of the part,
///            of its lines that are done, of the lines before it and of the first record's position, a byte: see
///            `ImportProgress`; with `importActorBit` of that byte the actor, with `floorBit` a varint of the floor of
///            versions
/// ```
extension RecordCodec {
    private static let wholeBit: UInt8 = 1
    private static let lastBit: UInt8 = 2
    private static let copyBit: UInt8 = 4
    private static let importActorBit: UInt8 = 8
    private static let floorBit: UInt8 = 16
    private static let drainedBit: UInt8 = 1
    private static let drainActorBit: UInt8 = 2

    /// Appends the record that the server is drained, or no longer drained.
    ///
    /// - Parameter actor: the client that asked for it; nil where it is not known.
    public static func appendDrain(_ isDrained: Bool, by actor: Actor? = nil, at: Int64, to bytes: inout [UInt8]) {
        let start = beginFrame(&bytes)
        bytes.append(drainKind)
        ByteCoding.append(signed: at, to: &bytes)
        bytes.append((isDrained ? drainedBit : 0) | (actor == nil ? 0 : drainActorBit))
        if let actor { append(actor, to: &bytes) }
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
            (progress.isWhole ? wholeBit : 0) | (progress.isLast ? lastBit : 0) | (progress.isCopy ? copyBit : 0)
                | (progress.by == nil ? 0 : importActorBit) | (progress.versionFloor == 0 ? 0 : floorBit))
        if let actor = progress.by { append(actor, to: &bytes) }
        if progress.versionFloor != 0 { ByteCoding.append(UInt64(progress.versionFloor), to: &bytes) }
        endFrame(start, &bytes)
    }

    static func drain(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset),
            let bits = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }),
            bits <= drainedBit | drainActorBit
        else { return false }
        var actor: Actor?
        if bits & drainActorBit != 0 {
            guard let name = readActor(bytes, &offset) else { return false }
            actor = self.actor(bytes, name)
        }
        record.at = at
        record.content = .drain(isDrained: bits & drainedBit != 0, by: actor)
        return true
    }

    /// Makes the actor whose name is at `name`, as `readActor` returned it.
    static func actor(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Actor? { Actor(name.map { bytes[$0] }) }

    static func importProgress(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset), let export = hash(bytes, &offset),
            let fingerprint = hash(bytes, &offset), let part = ByteCoding.read(bytes, &offset),
            let lines = ByteCoding.read(bytes, &offset), part < UInt64(ImportProgress.mostParts),
            lines < UInt64(ImportProgress.mostParts), let before = ByteCoding.read(bytes, &offset),
            before <= UInt64(Int64.max), let begin = ByteCoding.read(bytes, &offset),
            begin <= UInt64(record.position),
            let bits = ByteCoding.readFixed(bytes, &offset, count: 1), bits < 32
        else { return false }
        var progress = ImportProgress(export: export, part: Int(part), fingerprint: fingerprint, at: at)
        progress.lines = Int(lines)
        progress.linesBefore = Int(before)
        progress.begin = begin == 0 ? record.position : Int64(begin)
        progress.isWhole = UInt8(bits) & wholeBit != 0
        progress.isLast = UInt8(bits) & lastBit != 0
        progress.isCopy = UInt8(bits) & copyBit != 0
        if UInt8(bits) & importActorBit != 0 {
            guard let name = readActor(bytes, &offset) else { return false }
            progress.by = actor(bytes, name)
        }
        if UInt8(bits) & floorBit != 0 {
            guard let floor = ByteCoding.read(bytes, &offset), floor > 0, floor <= UInt64(Int64.max) else {
                return false
            }
            progress.versionFloor = Int64(floor)
        }
        record.at = at
        record.content = .importProgress(progress)
        return true
    }

    /// Returns the record, without frame, of an event that is owed to a webhook, as a delivery from another server
    /// carries it. The record names no previous event.
    ///
    /// - Parameters:
    ///   - actor: the client whose request made the event; nil for none.
    ///   - definition: the whole definition of the event's timer as it was then.
    public static func event(_ effect: Effect, by actor: Actor? = nil, definition: Span<UInt8>) -> [UInt8] {
        guard let type = effect.type else { return [] }
        var effect = effect
        effect.owesDelivery = true
        var bytes: [UInt8] = []
        append(effect, type, by: actor, distance: 0, definition: definition, to: &bytes)
        return Array(bytes.dropFirst(frameCount))
    }
}
