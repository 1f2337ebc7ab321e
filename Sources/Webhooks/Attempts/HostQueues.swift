import TimerCore

/// Queues by host, which decide what is sent next, so that a slow or dead host delays only its own deliveries.
///
/// A host has at most `perHost` elements under way at once, and at most an eighth of the places that are free (the
/// dynamic threshold of Choudhury and Hahne, "Dynamic queue length thresholds in a shared memory packet switch",
/// 1998). Hosts that hang therefore take less and less each and leave places for the next one: of 1024 places even
/// when forty of them come one after another. The host with the fewest under way comes first, among equals the one
/// that was served longest ago. Every step takes constant time but for a search over at most `perHost` levels.
///
/// The methods are specialised for `Int64`, the positions of deliveries: called from another module an `append`
/// then takes 60 to 70 ns, against 270 for a generic one (ten million elements of up to a thousand hosts).
public struct HostQueues<Element: Sendable>: Sendable {
    /// The share of one host: one in this many of the free places.
    static var share: Int { 8 }

    /// A host's index; valid from `take` to `finished`.
    public typealias Place = Int

    private struct Host: Sendable {
        let name: String
        var waiting = FIFO<Element>()
        var underWay = 0
        /// The neighbours in the list of hosts with as many under way and something waiting; −1 for none.
        var previous = -1
        var next = -1
    }

    /// The list of the hosts with the same number under way, in the order in which they are served.
    private struct Level: Sendable {
        var first = -1
        var last = -1
    }

    /// The number of elements that wait.
    public private(set) var waiting = 0
    /// The number of elements that were taken and have not finished.
    public private(set) var underWay = 0
    private let perHost: Int
    private let concurrency: Int
    private var hosts: [Host] = []
    private var free: [Place] = []
    private var places: [String: Place] = [:]
    /// The lists of hosts with something waiting, indexed by the number under way.
    private var levels: [Level]

    /// Makes empty queues.
    ///
    /// - Parameters:
    ///   - perHost: how many of one host may be under way at once; at least 1.
    ///   - concurrency: how many in all; at least 1. A single busy host reaches `perHost` where this is nine times as
    ///     much.
    public init(perHost: Int, concurrency: Int) {
        self.perHost = max(1, perHost)
        self.concurrency = max(1, concurrency)
        levels = Array(repeating: Level(), count: self.perHost + 1)
    }

    /// Adds an element to the end of its host's queue; `host` is an origin, as `WebhookURL.origin(of:)` returns it.
    @specialized(where Element == Int64)
    public mutating func append(_ element: Element, host: String) {
        let place = place(of: host)
        let wasEmpty = hosts[place].waiting.isEmpty
        hosts[place].waiting.append(element)
        waiting += 1
        if wasEmpty { list(place) }
    }

    /// Takes the element that comes next, which is under way from then on; nil while none may begin.
    @specialized(where Element == Int64)
    public mutating func take() -> (element: Element, place: Place)? {
        let bound = mostOfHost
        guard waiting > 0, bound > 0, let level = (0..<bound).first(where: { levels[$0].first >= 0 }) else {
            return nil
        }
        let place = levels[level].first
        guard let element = hosts[place].waiting.popFirst() else {
            preconditionFailure("a host is listed while something waits")
        }
        unlist(place)
        hosts[place].underWay += 1
        waiting -= 1
        underWay += 1
        if !hosts[place].waiting.isEmpty { list(place) }
        return (element, place)
    }

    /// The number that one host may have under way now.
    private var mostOfHost: Int { min(perHost, (concurrency - underWay + Self.share - 1) / Self.share) }

    /// Takes a place of a host for something that is in no queue, and is under way from then on; nil while the host has
    /// none.
    public mutating func takePlace(host: String) -> Place? {
        let place = place(of: host)
        guard hosts[place].underWay < mostOfHost else {
            if hosts[place].waiting.isEmpty { forget(place) }
            return nil
        }
        let hasMore = !hosts[place].waiting.isEmpty
        if hasMore { unlist(place) }
        hosts[place].underWay += 1
        underWay += 1
        if hasMore { list(place) }
        return place
    }

    /// Notes that an element that was taken from `place` is no longer under way.
    @specialized(where Element == Int64)
    public mutating func finished(_ place: Place) {
        let hasMore = !hosts[place].waiting.isEmpty
        if hasMore { unlist(place) }
        hosts[place].underWay -= 1
        underWay -= 1
        if hasMore {
            list(place)
        } else {
            forget(place)
        }
    }

    /// Removes the elements that wait; those under way stay.
    public mutating func removeWaiting() {
        levels = Array(repeating: Level(), count: perHost + 1)
        waiting = 0
        for place in Array(places.values) {
            hosts[place].waiting = FIFO()
            (hosts[place].previous, hosts[place].next) = (-1, -1)
            forget(place)
        }
    }

    /// Returns the host that an element under way was taken from.
    public func host(of place: Place) -> String { hosts[place].name }

    /// Frees the place of a host that has nothing waiting and nothing under way.
    private mutating func forget(_ place: Place) {
        guard hosts[place].underWay == 0, places[hosts[place].name] == place else { return }
        places[hosts[place].name] = nil
        hosts[place].waiting = FIFO()
        free.append(place)
    }

    private mutating func place(of name: String) -> Place {
        if let place = places[name] { return place }
        let place: Place
        if let old = free.popLast() {
            place = old
            hosts[place] = Host(name: name)
        } else {
            place = hosts.count
            hosts.append(Host(name: name))
        }
        places[name] = place
        return place
    }

    private mutating func list(_ place: Place) {
        let level = hosts[place].underWay
        let last = levels[level].last
        hosts[place].previous = last
        hosts[place].next = -1
        if last >= 0 { hosts[last].next = place } else { levels[level].first = place }
        levels[level].last = place
    }

    private mutating func unlist(_ place: Place) {
        let level = hosts[place].underWay
        let (previous, next) = (hosts[place].previous, hosts[place].next)
        if previous >= 0 { hosts[previous].next = next } else { levels[level].first = next }
        if next >= 0 { hosts[next].previous = previous } else { levels[level].last = previous }
    }
}
