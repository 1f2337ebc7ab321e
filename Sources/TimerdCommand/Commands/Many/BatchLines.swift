/// Cuts lines of JSON into parts that the server takes.
struct BatchLines: ~Copyable {
    /// The lines that are sent together.
    struct Part {
        /// The lines, each with its line end; blank ones are left out.
        var bytes: [UInt8] = []
        /// The numbers of the lines in the file, from 1.
        var numbers: [Int] = []
    }

    /// Most lines of a part.
    static let mostLines = 10_000
    /// Most bytes of a part.
    static let mostBytes = 16 << 20
    /// Most bytes read at once.
    private static let chunk = 256 * 1024

    private let input: InputFile
    /// The bytes that were read. Those before `taken` were returned as lines; from there to `scanned` there is no
    /// line end.
    private var rest: [UInt8] = []
    private var taken = 0
    private var scanned = 0
    private var isAtEnd = false
    private var number = 0
    /// A line that did not fit the last part.
    private var left: (line: [UInt8], number: Int)?

    /// Reads lines of `input`.
    init(_ input: consuming InputFile) { self.input = input }

    /// Returns the next part; nil at the end.
    ///
    /// - Throws: where the input can't be read, or a line is longer than a part may be.
    mutating func next() throws(Failure) -> Part? {
        var part = Part()
        while part.numbers.count < Self.mostLines, let line = try nextLine() {
            guard part.bytes.count + line.line.count <= Self.mostBytes else {
                left = line
                break
            }
            part.bytes += line.line
            part.numbers.append(line.number)
        }
        return part.numbers.isEmpty ? nil : part
    }

    /// Returns the next line that is not blank; nil at the end.
    private mutating func nextLine() throws(Failure) -> (line: [UInt8], number: Int)? {
        if let left {
            self.left = nil
            return left
        }
        while let line = try rawLine() {
            number += 1
            guard line.count <= Self.mostBytes else { throw tooLong }
            if line.contains(where: { $0 > 0x20 }) { return (line, number) }
        }
        return nil
    }

    private var tooLong: Failure { Failure(.usage, "\(input.name), line \(number): over \(Self.mostBytes) bytes") }

    /// Returns the next line with its line end, which is added to a last line without one; nil at the end.
    private mutating func rawLine() throws(Failure) -> [UInt8]? {
        while true {
            if let end = rest[scanned...].firstIndex(of: 0x0a) {
                defer {
                    taken = end + 1
                    scanned = taken
                }
                return Array(rest[taken...end])
            }
            if isAtEnd {
                defer { taken = rest.count }
                return taken < rest.count ? rest[taken...] + [0x0a] : nil
            }
            rest.removeFirst(taken)
            taken = 0
            scanned = rest.count
            guard rest.count <= Self.mostBytes else {
                number += 1
                throw tooLong
            }
            let bytes = try input.read(upTo: Self.chunk)
            isAtEnd = bytes.isEmpty
            rest += bytes
        }
    }
}
