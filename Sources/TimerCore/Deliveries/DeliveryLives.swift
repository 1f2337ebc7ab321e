/// The lives of timers, each from a creation to its deletion, to which deliveries outside of rings belong: dead
/// letters, and deliveries that outlived their timer.
///
/// A life is identified by half a hash of the timer's name and by the instant of its creation. Two lives of a name that
/// both have a dead letter can't begin in one millisecond: an attempt and two commits lie between.
struct DeliveryLives {
    struct Key: Hashable {
        /// The top half of the hash of the timer's name.
        var hash: UInt32
        /// The instant at which the timer was made, in wall milliseconds.
        var createdAt: Int64
    }

    private struct Life {
        var key: Key
        /// The number of deliveries that belong to the life.
        var count = 0
        var will: DeliveryWill?
    }

    private var lives: [Life] = []
    private var free: [UInt32] = []
    private var places: [Key: UInt32] = [:]
    /// Whether the rows of a log are being folded that were there when the fold began. A life without deliveries then
    /// keeps its will until `forgetEmpty`: a delivery of that life, written again by compaction, may follow further on.
    private var isFolding = true

    /// Counts one more delivery of the life `key`. Returns the life's place.
    mutating func join(_ key: Key) -> UInt32 {
        let place = place(of: key)
        lives[Int(place)].count += 1
        return place
    }

    /// Counts one delivery less; a life without any is forgotten, with its will.
    mutating func leave(_ place: UInt32) {
        lives[Int(place)].count -= 1
        if lives[Int(place)].count == 0, !isFolding || lives[Int(place)].will == nil { forget(place) }
    }

    /// Forgets the lives that have a will and no delivery, once the whole log is folded.
    mutating func forgetEmpty() {
        isFolding = false
        for place in places.values.sorted() where lives[Int(place)].count == 0 { forget(place) }
    }

    subscript(place: UInt32) -> (key: Key, will: DeliveryWill?) { (lives[Int(place)].key, lives[Int(place)].will) }

    /// Whether any delivery belongs to the life `key`.
    func contains(_ key: Key) -> Bool { !places.isEmpty && places[key] != nil }

    /// Returns the will of the life `key`.
    func will(of key: Key) -> DeliveryWill? { places[key].flatMap { lives[Int($0)].will } }

    /// Notes the will of the life `key`. While a log is folded, the will may come before the life's deliveries.
    mutating func setWill(_ will: DeliveryWill, of key: Key) { lives[Int(place(of: key))].will = will }

    private mutating func place(of key: Key) -> UInt32 {
        if let place = places[key] { return place }
        let place = free.popLast() ?? UInt32(lives.count)
        if place == lives.count { lives.append(Life(key: key)) } else { lives[Int(place)] = Life(key: key) }
        places[key] = place
        return place
    }

    private mutating func forget(_ place: UInt32) {
        places[lives[Int(place)].key] = nil
        free.append(place)
    }
}

/// The record of a deleted timer's definition as it was at the deletion, by which deliveries that outlived the
/// timer are sent.
public struct DeliveryWill: Sendable, Equatable {
    /// The position of the record.
    public var position: Int64
    /// Whether the timer had a webhook that its receiver had not stopped.
    public var takesDeliveries: Bool

    /// Makes a will; see the members.
    public init(position: Int64, takesDeliveries: Bool) {
        self.position = position
        self.takesDeliveries = takesDeliveries
    }
}
