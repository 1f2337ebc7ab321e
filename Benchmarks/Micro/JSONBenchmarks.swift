import WireJSON

extension Benchmark {
    /// JSON, instants, durations and UUIDs as text.
    static let json = [
        Benchmark("json.parse-create") { count in
            var document = JSONDocument()
            var parsed = 0
            for _ in 0..<count where (try? document.parse(Sample.body)) != nil { parsed += 1 }
            require(parsed == count, "the body was refused")
            return parsed
        },
        Benchmark("json.parse-instant") { count in
            parse(count, "2026-11-21T10:00:00.5+01:00") { try? RFC3339.parse($0) }
        },
        Benchmark("json.write-instant") { count in
            write(count) { RFC3339.append(Sample.wall + Int64($0), to: &$1) }
        },
        Benchmark("json.parse-duration") { count in parse(count, "1h30m15s") { try? DurationText.parse($0) } },
        Benchmark("json.write-duration") { count in
            write(count) { DurationText.append(5_415_000 + Int64($0), to: &$1) }
        },
        Benchmark("json.write-uuid") { count in
            write(count) {
                UUIDv7.append(milliseconds: Sample.wall, random: (UInt64($0), 0x0123_4567_89AB_CDEF), to: &$1)
            }
        },
    ]

    private static func parse(_ count: Int, _ text: String, _ read: ([UInt8]) -> Int64?) -> Int {
        let bytes = Array(text.utf8)
        var sum: Int64 = 0
        for _ in 0..<count { sum += read(bytes) ?? 0 }
        require(sum > 0, "'\(text)' was refused")
        return Int(sum / 1_000_000)
    }

    private static func write(_ count: Int, _ append: (Int, inout [UInt8]) -> Void) -> Int {
        var text: [UInt8] = []
        var bytes = 0
        for index in 0..<count {
            text.removeAll(keepingCapacity: true)
            append(index, &text)
            bytes += text.count
        }
        return bytes
    }
}
