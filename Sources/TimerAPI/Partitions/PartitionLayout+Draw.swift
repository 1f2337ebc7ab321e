import TimerCore
import TimerLog

extension PartitionLayout {
    /// Draws an id of a timer in partition `number`.
    ///
    /// - Parameter makeID: draws an id of any partition.
    func draw(in number: Int, _ siphash: SipHash, makeID: () -> [UInt8]) -> [UInt8] {
        while true {
            let found = TimerKey.id(near: makeID(), siphash: siphash) { partition(ofHash: $0) == number }
            if let found { return found }
        }
    }
}
