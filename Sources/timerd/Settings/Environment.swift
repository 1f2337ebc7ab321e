import Glibc

/// The environment, read once at start. The other modules never read it: they are passed what they need.
struct Environment {
    /// For development: where it is set, every hold of the engine's lock is measured.
    static let measureHolds = Setting.prefix + "MEASURE_HOLDS"
    /// For development: into how many partitions `--store memory` is divided, a power of two up to 1024.
    static let partitions = Setting.prefix + "PARTITIONS"

    private let variables: [String: String]

    /// The process's own.
    init() {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let line = unsafe String(cString: text)
            if let equals = line.firstIndex(of: "=") {
                variables[String(line[..<equals])] = String(line[line.index(after: equals)...])
            }
            unsafe entry += 1
        }
        self.variables = variables
    }

    /// The value of a variable; nil where it is not set.
    subscript(name: String) -> String? { variables[name] }

    /// Variables with the prefix that are no settings, sorted: probably misspelt.
    var unknown: [String] {
        let known = Set(Setting.all.map(\.variable) + [Self.measureHolds, Self.partitions])
        return variables.keys.filter { $0.hasPrefix(Setting.prefix) && !known.contains($0) }.sorted()
    }
}
