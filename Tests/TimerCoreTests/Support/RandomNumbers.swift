extension SeededGenerator {
    /// A number of `range`, each as likely.
    mutating func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self) }
}
