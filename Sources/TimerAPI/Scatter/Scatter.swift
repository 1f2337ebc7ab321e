import TimerLog

/// How far a request has come that the owners of its partitions answer in parts: a state machine without input and output.
///
/// Of a request with an idempotency key the part with the key's own partition, where any other request with the key is met, is
/// answered first. So a key that came with another request before changes nothing.
struct Scatter {
    /// Who answers a part.
    enum Owner: Hashable {
        /// This server.
        case itself
        /// The node with this session.
        case node(Int64)
    }

    /// What comes of the request as a whole.
    enum Verdict: Equatable {
        /// Parts are under way, or are still to be sent.
        case open
        /// Every partition has answered.
        case done
        /// A part was refused, and no other has changed anything: that answer is the request's.
        case refused(part: Int)
        /// For too long no server was known that answers; nothing was changed.
        case ownerless
        /// A part failed, and changes may stand, of others or of that one.
        case unknown
    }

    /// A part that was sent.
    struct Part: Equatable {
        let number: Int
        let owner: Owner
        let scope: PartitionScope
        /// Whether a server may have seen an earlier sending of it.
        let isRepeat: Bool
    }

    private let layout: PartitionLayout
    /// Whether the request may change anything, and whether it may be carried out twice without harm.
    private let changes: Bool
    private let isRepeatable: Bool
    /// The partition that answers before any other; nil where there is none, or it has answered.
    private var home: Int?
    /// Numbers of the partitions that are still to be asked.
    private var unsent: Set<Int>
    /// Those whose servers may have seen an earlier sending.
    private var seen: Set<Int> = []
    private var underWay: [Int: Part] = [:]
    private var nextNumber = 0
    /// Whether a part has, or may have, changed something.
    private var mayHaveChanged = false
    /// The first part that was refused.
    private var refused: Int?
    /// Whether parts are given up: no further ones are sent.
    private var hasFailed = false

    /// - Parameters:
    ///   - scope: the partitions that the request concerns.
    ///   - changes: whether it may change anything.
    ///   - isRepeatable: whether it has one effect however often it comes.
    ///   - home: the partition of its idempotency key.
    init(_ scope: PartitionScope, _ layout: PartitionLayout, changes: Bool, isRepeatable: Bool, home: Int?) {
        self.layout = layout
        self.changes = changes
        self.isRepeatable = isRepeatable
        self.home = home
        unsent = Set(scope.numbers)
    }

    /// Takes the parts that are to be sent now. Partitions whose owner is not known stay.
    ///
    /// - Parameter owner: of a partition; nil where none is known.
    mutating func take(owner: (Int) -> Owner?) -> [Part] {
        guard !hasFailed else { return [] }
        var scopes: [Owner: [Int]] = [:]
        for number in unsent { if let owner = owner(number) { scopes[owner, default: []].append(number) } }
        if let home {
            // It is under way already, or the others wait for it.
            guard unsent.contains(home), let first = owner(home) else { return [] }
            scopes = scopes.filter { $0.key == first }
        }
        var parts: [Part] = []
        for (owner, numbers) in scopes.sorted(by: { ($0.value.min() ?? 0) < ($1.value.min() ?? 0) }) {
            let isRepeat = numbers.contains { seen.contains($0) }
            let part = Part(
                number: nextNumber, owner: owner, scope: PartitionScope(numbers, of: layout), isRepeat: isRepeat)
            nextNumber += 1
            unsent.subtract(numbers)
            underWay[part.number] = part
            parts.append(part)
        }
        return parts
    }

    /// A part was answered with 2xx.
    mutating func succeeded(_ number: Int) {
        guard let part = underWay.removeValue(forKey: number) else { return }
        if changes { mayHaveChanged = true }
        if let home, part.scope.contains(home) { self.home = nil }
    }

    /// A part came to a server that does not answer for all of its partitions, or a request of the same key is still under way
    /// there: it is split anew and sent again. So is one that could not be sent.
    mutating func returned(_ number: Int) {
        guard let part = underWay.removeValue(forKey: number) else { return }
        if !hasFailed { unsent.formUnion(part.scope.numbers) }
    }

    /// A part was refused.
    ///
    /// - Parameter isUnknown: whether a part of its changes may stand.
    mutating func refused(_ number: Int, isUnknown: Bool) {
        guard underWay.removeValue(forKey: number) != nil else { return }
        if refused == nil { refused = number }
        if isUnknown { mayHaveChanged = true }
        giveUp()
    }

    /// The connection broke by which a part was sent.
    ///
    /// - Parameter isUnseen: whether the server surely has not looked at the part.
    mutating func lost(_ number: Int, isUnseen: Bool) {
        guard let part = underWay[number] else { return }
        if !isUnseen { seen.formUnion(part.scope.numbers) }
        if isUnseen || isRepeatable { return returned(number) }
        underWay[number] = nil
        if changes { mayHaveChanged = true }
        giveUp()
    }

    /// For too long no server was known that answers for what is left.
    mutating func expired() {
        if changes && !seen.isEmpty { mayHaveChanged = true }
        giveUp()
    }

    private mutating func giveUp() {
        hasFailed = true
        unsent = []
    }

    /// Whether partitions are left to be asked that wait for their servers, and not for the part with the key.
    var waits: Bool { home.map { unsent.contains($0) } ?? !unsent.isEmpty }

    var verdict: Verdict {
        guard underWay.isEmpty else { return .open }
        if hasFailed {
            if mayHaveChanged { return .unknown }
            return refused.map { .refused(part: $0) } ?? .ownerless
        }
        return unsent.isEmpty ? .done : .open
    }

    /// The part under way with that number.
    func part(_ number: Int) -> Part? { underWay[number] }
}
