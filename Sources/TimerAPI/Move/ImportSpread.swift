import TimerCore
import TimerLog
import WireJSON

/// Which partition each line of an import belongs to, as far as that can be seen without reading it as a whole: the owner that gets
/// a line that is none tells what is wrong with it.
struct ImportSpread {
    /// Of each line looked at, its partition; nil for a line that concerns all.
    private(set) var partitions: [Int?] = []
    private let request: ImportRequest
    private let layout: PartitionLayout
    private let siphash: SipHash
    private var document = JSONDocument()

    init(_ request: ImportRequest, _ layout: PartitionLayout, siphash: SipHash) {
        (self.request, self.layout, self.siphash) = (request, layout, siphash)
    }

    /// Whether every line was looked at.
    var isDone: Bool { partitions.count == request.lines.count }

    /// Looks at some lines.
    mutating func step() {
        let end = partitions.count + APILimits.appliedPerStep
        var bytes = 0
        while !isDone, partitions.count < end, bytes < APILimits.bytesPerStep {
            let line = request.lines[partitions.count].range
            partitions.append(partition(of: line))
            bytes += line.count
        }
    }

    private mutating func partition(of line: Range<Int>) -> Int? {
        guard (try? document.parse(request.body, line)) != nil, document.kind(document.root) == .object,
            let first = document.firstChild(document.root)
        else { return 0 }
        let id: JSONNode?
        switch String(decoding: document.keyBytes(first), as: UTF8.self) {
        case "export", "end": return nil
        case "timer": id = document.kind(first) == .object ? document.member(first, "id") : nil
        case "delivery":
            let event = document.member(document.root, "event")
            id = event.flatMap { document.kind($0) == .object ? document.member($0, "timer") : nil }
        default: return 0
        }
        guard let id, document.kind(id) == .string else { return 0 }
        let name = document.string(id)
        guard TimerID.isValid(name) else { return 0 }
        return layout.partition(ofHash: TimerKey(id: name.span, siphash: siphash).hash)
    }
}
