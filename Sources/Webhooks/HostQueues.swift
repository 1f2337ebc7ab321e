/// Which request is next: queues by host, so that a slow or dead host delays nobody but itself.
///
/// A host has at most `perHost` exchanges at once, and at most an eighth of the places that are free (the dynamic
/// threshold of Choudhury and Hahne, "Dynamic queue length thresholds in a shared memory packet switch", 1998): hosts
/// that hang take less and less each and leave places for the next one, of 1024 even when forty of them come one after
/// another. The host with the fewest under way comes first, among equals the one that was served longest ago. Every
/// step takes constant time but for a search over at most `perHost` levels.
struct HostQueues {
    /// The part of the free places that one host may have: one in so many.
    static let share = 8

    /// A host's place; good from `take` to `finished`.
    typealias Place = Int

    private struct Host {
        let name: String
        var waiting = FIFO<CourierRequest>()
        var underWay = 0
        /// The neighbours among the hosts with as many under way and something waiting; −1: none.
        var previous = -1
        var next = -1
    }

    /// The hosts of one level, in the order in which they come.
    private struct Level {
        var first = -1
        var last = -1
    }

    /// How many requests wait.
    private(set) var waiting = 0
    /// How many are under way.
    private(set) var underWay = 0
    private let perHost: Int
    private let concurrency: Int
    private var hosts: [Host] = []
    private var free: [Place] = []
    private var places: [String: Place] = [:]
    /// By how many are under way, the hosts that have something waiting.
    private var levels: [Level]

    init(perHost: Int, concurrency: Int) {
        self.perHost = max(1, perHost)
        self.concurrency = max(1, concurrency)
        levels = Array(repeating: Level(), count: self.perHost + 1)
    }

    /// Adds a request to the end of its host's queue.
    mutating func append(_ request: CourierRequest) {
        let place = place(of: Self.host(of: request.url))
        let wasEmpty = hosts[place].waiting.isEmpty
        hosts[place].waiting.append(request)
        waiting += 1
        if wasEmpty { list(place) }
    }

    /// Takes the request that comes next, which is under way from then on; nil while none may begin.
    mutating func take() -> (request: CourierRequest, place: Place)? {
        let bound = min(perHost, (concurrency - underWay + Self.share - 1) / Self.share)
        guard waiting > 0, bound > 0, let level = (0..<bound).first(where: { levels[$0].first >= 0 }) else {
            return nil
        }
        let place = levels[level].first
        unlist(place)
        let request = hosts[place].waiting.removeFirst()
        hosts[place].underWay += 1
        waiting -= 1
        underWay += 1
        if !hosts[place].waiting.isEmpty { list(place) }
        return (request, place)
    }

    /// One that was taken is no longer under way.
    mutating func finished(_ place: Place) {
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

    /// Takes all that wait; what is under way stays.
    mutating func removeWaiting() -> [CourierRequest] {
        var removed: [CourierRequest] = []
        for place in hosts.indices {
            while !hosts[place].waiting.isEmpty { removed.append(hosts[place].waiting.removeFirst()) }
            forget(place)
        }
        levels = Array(repeating: Level(), count: perHost + 1)
        waiting = 0
        return removed
    }

    /// Gives the place of a host back that has nothing left to do.
    private mutating func forget(_ place: Place) {
        guard hosts[place].underWay == 0, places[hosts[place].name] == place else { return }
        places[hosts[place].name] = nil
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

    /// Scheme, name and port of a URL, in lower case and without the scheme's own port. A guess at what makes no
    /// sense is good enough: libcurl, which reads the URL for good, refuses it.
    static func host(of url: String) -> String {
        let bytes = url.utf8
        var index = bytes.startIndex
        var slashes = 0
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "/") { slashes += 1 }
            if slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
            index = bytes.index(after: index)
        }
        let host = url[..<index].lowercased()
        if host.hasPrefix("http://"), host.hasSuffix(":80") { return String(host.dropLast(3)) }
        if host.hasPrefix("https://"), host.hasSuffix(":443") { return String(host.dropLast(4)) }
        return host
    }
}

/// A queue in an array: what was taken out is given back once it is more than half.
struct FIFO<Element> {
    private var elements: [Element?] = []
    private var start = 0

    var isEmpty: Bool { start == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    /// The oldest. There must be one.
    mutating func removeFirst() -> Element {
        guard let element = elements[start].take() else { preconditionFailure("what is queued is there") }
        start += 1
        if start == elements.count {
            elements.removeAll(keepingCapacity: elements.capacity <= 64)
            start = 0
        } else if start > 32, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }
}
