/// The listening sockets that the service manager opened and passed on (socket activation): what `sd_listen_fds` reads.
enum PassedSockets {
    /// The first descriptor after the three standard ones.
    private static let first: Int32 = 3

    /// Returns the descriptors of the passed sockets; none where none were passed to this process.
    ///
    /// - Throws: `unusable` where their number is not valid, or is over the most listeners.
    static func descriptors(_ environment: Environment) throws(Failure) -> [Int32] {
        guard environment[Environment.passedTo] == "\(Environment.process)",
            let text = environment[Environment.passedCount]
        else { return [] }
        guard let count = Int32(text), 0...Int32(ServeConfiguration.maximumListeners) ~= count else {
            throw Failure(
                .unusable,
                "\(Environment.passedCount) \(text): expected a number from 0 to \(ServeConfiguration.maximumListeners)"
            )
        }
        return Array(first..<first + count)
    }
}
