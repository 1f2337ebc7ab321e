/// Numbered members with a weight each, of which the heaviest is found at once.
///
/// A binary heap that knows the place of each member. A change of a weight takes time in proportion to the logarithm of
/// the number of members.
struct Ranking {
    private struct Member {
        var number: Int
        var weight: Int64
        /// The name by which members of the same weight are ordered.
        var name: UInt64

        func isAbove(_ other: Member) -> Bool { (weight, name) > (other.weight, other.name) }
    }

    private var heap: [Member] = []
    /// The places in `heap` by the members' numbers; -1 for a number without a member.
    private var places: [Int] = []

    /// The number of the heaviest member, and of several the one with the greatest name; nil if there is none.
    var first: Int? { heap.first?.number }

    /// Gives a member its weight; the member is added if there is none with this number.
    ///
    /// - Parameter name: the same for a number each time, and of no other member.
    mutating func set(_ number: Int, name: UInt64, weight: Int64) {
        while places.count <= number { places.append(-1) }
        let member = Member(number: number, weight: weight, name: name)
        let place = places[number]
        if place < 0 {
            heap.append(member)
            rise(member, from: heap.count - 1)
        } else {
            settle(member, at: place)
        }
    }

    /// Removes a member, if there is one with this number.
    mutating func remove(_ number: Int) {
        guard number < places.count, places[number] >= 0 else { return }
        let place = places[number]
        places[number] = -1
        let last = heap.removeLast()
        if place < heap.count { settle(last, at: place) }
    }

    /// Puts a member in the place of another, and moves it to where its weight belongs.
    private mutating func settle(_ member: Member, at place: Int) {
        if place > 0, member.isAbove(heap[(place - 1) / 2]) {
            rise(member, from: place)
        } else {
            sink(member, from: place)
        }
    }

    private mutating func rise(_ member: Member, from start: Int) {
        var place = start
        while place > 0, member.isAbove(heap[(place - 1) / 2]) {
            put(heap[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        put(member, at: place)
    }

    private mutating func sink(_ member: Member, from start: Int) {
        var place = start
        while true {
            var child = 2 * place + 1
            if child + 1 < heap.count, heap[child + 1].isAbove(heap[child]) { child += 1 }
            guard child < heap.count, heap[child].isAbove(member) else { break }
            put(heap[child], at: place)
            place = child
        }
        put(member, at: place)
    }

    private mutating func put(_ member: Member, at place: Int) {
        heap[place] = member
        places[member.number] = place
    }
}
